"""The items of `input`: what the program said, what tools gave, and what a model said before."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from ....core.values import rows
from ....providers.openai.namespaces import one_name
from ..asked import Said, SaidBy, Told, ToldAnswer, ToldCall, ToldOther, ToldResult, ToldThought, ToldWords
from ..door import Wrong, invalid
from ..given import Given
from ..refusing import REFUSAL
from .compacted import summary_in
from .parts import parts_in, words_in

INPUT = "input"
REFERENCE = "item_reference"
ASSISTANT = "assistant"
BETWEEN_PARTS = "\n\n"
# Kinds of items that no model writes.
OUTPUT = "_output"
PROGRAMS = frozenset(
    {"mcp_approval_response", "additional_tools", "compaction_trigger", "configuration_update"}
)
FromModel = ToldThought | ToldWords | ToldCall | ToldOther
Entry = Said | ToldResult | FromModel


def entries_in(body: Given) -> list[Entry]:
    said = body.at(INPUT)
    match said and said.value:
        case None:
            return []
        case str(words):
            return [entry(Given(as_item(words)))]
        case list():
            return [entry(item) for item in body.must(INPUT).objects()]
        case _:
            raise body.must(INPUT).wrong("must be a string or a list of items", "invalid_type")


def as_item(words: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]}


def kind_of(item: Given) -> str:
    """The easy form of a message has no type, and a reference may have none."""
    kind = item.says("type")
    if kind or (item.at("role") is None and item.at("id") is None):
        return kind or item.must("type").name()
    return REFERENCE if item.at("role") is None else "message"


def as_came(item: Given) -> dict[str, Any]:
    """With its type, and without what clients write down as null where they were told nothing: providers refuse some of that."""
    said = {name: value for name, value in item.fields().items() if value is not None}
    return {**said, "type": kind_of(item)}


def entry(item: Given) -> Entry:
    item.says("id")
    match kind_of(item):
        case "message":
            return _message(item)
        case "reasoning":
            return _thought(item)
        case "function_call":
            return _call(item)
        case "function_call_output":
            return _result(item)
        case "compaction" | "compaction_summary":
            return _compaction(item)
        case "item_reference":
            return ToldOther(wire=as_came(item), id=item.must("id").name())
        case _:
            return _other(item)


def told(entries: Iterable[Entry]) -> tuple[Told, ...]:
    """What a model said stands together until the program says something, or a result comes."""
    return tuple(each for side, group in groupby(entries, _side) for each in _told(side, list(group)))


def _side(said: Entry) -> type[Said] | type[ToldAnswer] | type[ToldOther]:
    if isinstance(said, Said | ToldResult):
        return Said
    return ToldOther if isinstance(said, ToldOther) and _is_of_the_program(said) else ToldAnswer


def _is_of_the_program(other: ToldOther) -> bool:
    kind = other.wire["type"]
    return kind in PROGRAMS or kind.endswith(OUTPUT)


def _told(side: Any, entries: list[Any]) -> list[Told]:
    """What the program says of a kind that is not known here is no part of what a model said in one response."""
    return entries if side is Said else [ToldAnswer(parts=tuple(entries))]


def _message(item: Given) -> Said | ToldWords:
    role, content = item.must("role").one_of((*SaidBy, ASSISTANT)), item.must("content")
    if role == ASSISTANT:
        wire = as_came(item) if _are_more_than_words(item) else None
        return ToldWords(text="".join(words_in(content)), id=item.says("id"), wire=wire)
    return Said(role=SaidBy(role), parts=parts_in(content), wire=as_came(item))


def _are_more_than_words(message: Given) -> bool:
    parts = rows(message.must("content").value)
    return bool(message.says("phase")) or any(part.get("type") == REFUSAL for part in parts)


def _thought(item: Given) -> ToldThought:
    said = [item.take(name, words_in) or () for name in ("summary", "content")]
    text = next((BETWEEN_PARTS.join(words) for words in said if any(words)), "")
    return ToldThought(text=text, id=item.says("id"), seal=item.says("encrypted_content"), wire=as_came(item))


def _call(item: Given) -> ToldCall:
    return ToldCall(
        id=item.must("call_id").name(),
        name=one_name(item.says("namespace"), item.must("name").text()),
        arguments=item.must("arguments").text(),
        item_id=item.says("id"),
        wire=as_came(item),
    )


def _result(item: Given) -> ToldResult:
    call_id = item.must("call_id").name()
    return ToldResult(call_id=call_id, parts=parts_in(item.must("output")), wire=as_came(item))


def _compaction(item: Given) -> Said | ToldOther:
    """A summary of ours is words again; a provider's is for that provider."""
    summary = summary_in(item)
    if summary is None:
        return _other(item)
    return Said(role=SaidBy.USER, parts=(summary,), wire=as_item(summary))


def _other(item: Given) -> ToldOther:
    return ToldOther(wire=as_came(item), id=item.says("id"))


def without_its_call(entries: Iterable[Entry], known: Iterable[str]) -> Wrong | None:
    """A result whose call nobody made. `known`: calls that are found elsewhere."""
    calls = set(known)
    for n, each in enumerate(entries):
        if isinstance(each, ToldCall):
            calls.add(each.id)
        if isinstance(each, ToldResult) and each.call_id not in calls:
            sentence = f"No tool call found for function call output with call_id {each.call_id}."
            return invalid(sentence, f"{INPUT}[{n}].call_id")
    return None
