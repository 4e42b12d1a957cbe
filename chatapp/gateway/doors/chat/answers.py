"""What an assistant message says: thoughts in whatever fields their program keeps them, words, calls."""

from __future__ import annotations

from collections.abc import Iterator

from ....core.values import Json
from ....core.verbatim import encode
from ..asked import ToldAnswer, ToldCall, ToldThought, ToldWords
from ..given import Given

THOUGHTS = ("reasoning_content", "reasoning")
DETAILS = "reasoning_details"
SEALS = ("signature", "data")
# Of a call, what has a place of its own in `Call`.
_PLACED = frozenset({"id", "type", "index", "function"})

Part = ToldThought | ToldWords | ToldCall


def answer_of(message: Given, legacy_id: str) -> ToldAnswer:
    """`legacy_id`: of a call in the old form, which has none."""
    parts = (*_thoughts(message), *_words(message), *_calls(message), *_legacy_call(message, legacy_id))
    return ToldAnswer(parts=parts)


def of_one_response(before: ToldAnswer, after: ToldAnswer) -> bool:
    """Two messages that both speak are two responses, unless the first still waits for results: all else was split by its program."""
    return has_calls(before) or not (_speaks(before) and _speaks(after))


def has_calls(answer: ToldAnswer) -> bool:
    return any(isinstance(part, ToldCall) for part in answer.parts)


def _speaks(answer: ToldAnswer) -> bool:
    return any(isinstance(part, ToldWords) for part in answer.parts)


def _thoughts(message: Given) -> Iterator[ToldThought]:
    """One: the fields say the same, or seal what another says."""
    said = [message.says(name) for name in THOUGHTS]
    details = message.take(DETAILS, Given.objects) or []
    wire = {name: message.value[name] for name in (*THOUGHTS, DETAILS) if message.value.get(name)}
    if wire:
        text = next(filter(None, said), "") or "".join(map(_words_in, details))
        yield ToldThought(text=text, id=_first(details, "id"), seal=_first(details, *SEALS), wire=wire)


def _words_in(detail: Given) -> str:
    return detail.says("text") or detail.says("summary")


def _first(details: list[Given], *names: str) -> str:
    return next((said for detail in details for name in names if (said := detail.says(name))), "")


def _words(message: Given) -> Iterator[ToldThought | ToldWords]:
    content = message.at("content")
    if content is not None and not isinstance(content.value, str):
        for row in content.rows():
            yield from _part(row)
    elif content is not None and content.value:
        yield ToldWords(text=content.text())
    if refusal := message.says("refusal"):
        yield ToldWords(text=refusal)


def _part(row: Given) -> Iterator[ToldThought | ToldWords]:
    kind = row.must("type")
    match kind.value:
        case "text" | "refusal" as name:
            said = row.must(name).text()
            yield from [ToldWords(text=said)] if said else []
        case "thinking":
            yield ToldThought(text=_thinking(row.must("thinking")), wire={"content": [row.value]})
        case _:
            raise kind.wrong("is none of: text, refusal, thinking", "invalid_value")


def _thinking(thinking: Given) -> str:
    """As Mistral has it."""
    if isinstance(thinking.value, str):
        return thinking.text()
    return "".join(row.says("text") for row in thinking.rows())


def _calls(message: Given) -> list[ToldCall]:
    return [_call(row) for row in message.take("tool_calls", Given.objects) or []]


def _call(row: Given) -> ToldCall:
    call_id = row.must("id").name()
    if row.says("type") == "custom":
        custom = row.must("custom")
        arguments = encode({"input": custom.says("input")}).decode()
        return ToldCall(id=call_id, name=custom.must("name").text(), arguments=arguments, wire=row.value)
    function = row.must("function")
    name, arguments = function.must("name").text(), _arguments(function)
    return ToldCall(id=call_id, name=name, arguments=arguments, wire=_wire(row.value, arguments))


def _wire(call: Json, arguments: str) -> Json | None:
    """Where more came with it, as a thought signature does."""
    if call.keys() <= _PLACED:
        return None
    function = call["function"] | {"arguments": arguments}
    return {name: value for name, value in call.items() if name != "index"} | {"function": function}


def _arguments(function: Given) -> str:
    """JSON in a string; some programs send it as it is."""
    arguments = function.at("arguments")
    if arguments is None:
        return ""
    if isinstance(arguments.value, dict):
        return encode(arguments.value).decode()
    return arguments.text()


def _legacy_call(message: Given, call_id: str) -> Iterator[ToldCall]:
    if call := message.at("function_call"):
        yield ToldCall(id=call_id, name=call.must("name").text(), arguments=_arguments(call))
