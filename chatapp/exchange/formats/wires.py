"""What can come out of a model, by dialect: thoughts, texts and calls of functions, and what each of these says. A file may say
anything; only a wire that fits, and that says what its item shows, may go back to a provider."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...core import verbatim
from ...core.attached import PARTS, ROLE
from ...core.contracts import CONTRACTS
from ...core.items import ITEM_CAP, Item, Kind, clean

Fits = Callable[[Any], bool]
BETWEEN_PARTS = "\n\n"
# Between which thoughts come in texts.
_TAGS = tuple(tag for row in CONTRACTS for pair in row.tags for tag in pair if tag)
_LONGEST_TAGS = 200


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _word(*words: str) -> Fits:
    return lambda value: value in words if isinstance(value, str) else False


def _whole(value: Any) -> bool:
    return isinstance(value, int)


def _nothing(value: Any) -> bool:
    return value is None or value in ([], {}, "")


def _or_nothing(fits: Fits) -> Fits:
    return lambda value: value is None or fits(value)


def _list(fits: Fits) -> Fits:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _object(_needs: str = "", /, **members: Fits) -> Fits:
    """No other members than these, and those that it needs."""
    needs = set(_needs.split())

    def fits(value: Any) -> bool:
        known = isinstance(value, dict) and needs <= value.keys() <= members.keys()
        return known and all(members[name](each) for name, each in value.items())

    return fits


def _any(*ways: Fits) -> Fits:
    return lambda value: any(fits(value) for fits in ways)


def _of_type(name: str, needs: str = "", /, **members: Fits) -> Fits:
    return _object(f"type {needs}", type=_word(name), **members)


_STATUS = _or_nothing(_word("in_progress", "completed", "incomplete"))
_WIRES: Mapping[str, Mapping[Kind, Fits]] = {
    "responses": {
        Kind.REASONING: _of_type(
            "reasoning",
            id=_text,
            status=_STATUS,
            summary=_list(_of_type("summary_text", "text", text=_text)),
            content=_or_nothing(_list(_of_type("reasoning_text", "text", text=_text))),
            encrypted_content=_or_nothing(_text),
        ),
        Kind.ASSISTANT_MESSAGE: _of_type(
            "message",
            "role content",
            id=_text,
            status=_STATUS,
            role=_word("assistant"),
            phase=_or_nothing(_word("commentary", "final_answer")),
            content=_list(
                _any(
                    _of_type("output_text", "text", text=_text, annotations=_nothing, logprobs=_nothing),
                    _of_type("refusal", "refusal", refusal=_text),
                )
            ),
        ),
        Kind.TOOL_CALL: _of_type(
            "function_call",
            "call_id name arguments",
            id=_text,
            status=_STATUS,
            call_id=_text,
            name=_text,
            arguments=_text,
        ),
    },
    "messages": {
        Kind.REASONING: _any(
            _of_type("thinking", "thinking", thinking=_text, signature=_text),
            _of_type("redacted_thinking", "data", data=_text),
        ),
        Kind.ASSISTANT_MESSAGE: _of_type("text", "text", text=_text, citations=_nothing),
        Kind.TOOL_CALL: _of_type(
            "tool_use",
            "id name input",
            id=_text,
            name=_text,
            input=lambda value: isinstance(value, dict),
            caller=_of_type("direct"),
        ),
    },
    "chat": {
        Kind.REASONING: _object(
            reasoning_content=_text,
            reasoning=_text,
            content=_any(
                _text,
                _list(
                    _of_type(
                        "thinking",
                        "thinking",
                        thinking=_list(_of_type("text", "text", text=_text)),
                        closed=lambda value: isinstance(value, bool),
                        signature=_or_nothing(_text),
                    )
                ),
            ),
            reasoning_details=_list(
                _object(
                    "type",
                    type=_word("reasoning.text", "reasoning.summary", "reasoning.encrypted"),
                    id=_or_nothing(_text),
                    index=_or_nothing(_whole),
                    format=_or_nothing(_text),
                    text=_or_nothing(_text),
                    summary=_or_nothing(_text),
                    data=_or_nothing(_text),
                    signature=_or_nothing(_text),
                )
            ),
        ),
        Kind.ASSISTANT_MESSAGE: _object(
            content=_any(_text, _list(_of_type("text", "text", text=_text))), refusal=_or_nothing(_text)
        ),
        Kind.TOOL_CALL: _object(
            "function",
            id=_text,
            type=_word("function"),
            function=_object("arguments", name=_text, arguments=_text),
            extra_content=_object(google=_object(thought_signature=_text)),
        ),
    },
    "demo": {
        kind: _of_type(kind.value, text=_text, name=_text)
        for kind in (Kind.REASONING, Kind.ASSISTANT_MESSAGE, Kind.TOOL_CALL)
    },
}


def may_go_back(item: Item) -> bool:
    """Whether what the file says of its provider can have come from there."""
    if item.wire is None:
        return True
    match item.kind:
        case Kind.REASONING | Kind.ASSISTANT_MESSAGE | Kind.TOOL_CALL:
            fits = _WIRES.get(item.dialect, {}).get(item.kind)
            return bool(fits and fits(item.wire)) and _says_what_it_shows(item)
        case Kind.USER_MESSAGE | Kind.TOOL_RESULT:
            return _is_words_alone(item.wire)
        case Kind.PERMISSION_DECISION:
            return True


def is_small(item: Item) -> bool:
    return max(len(item.text.encode(errors="replace")), len(verbatim.encode(item.wire))) <= ITEM_CAP


def _is_words_alone(wire: Any) -> bool:
    """Of a user, and nothing beside them that stands elsewhere."""
    known = isinstance(wire, dict) and wire.keys() <= {ROLE, PARTS} and wire.get(ROLE, "user") == "user"
    return known and _list(_text)(wire.get(PARTS, []))


def _says_what_it_shows(item: Item) -> bool:
    """Nobody can look into what is sealed, but what is told in words must be what the reader sees."""
    if item.kind is Kind.TOOL_CALL:
        return _calls_what_it_shows(item)
    shown = item.text.strip()
    if item.kind is Kind.REASONING:
        return all(_without_tags(clean(said), shown) for said in _thought_in(item))
    return clean(_text_in(item)).strip() == shown


def _calls_what_it_shows(item: Item) -> bool:
    wire, same = item.wire, True
    match item.dialect:
        case "responses":
            said = wire["name"], wire["call_id"], clean(wire["arguments"])
        case "messages":
            said, same = (wire["name"], wire["id"], item.text), _same_value(item.text, wire["input"])
        case "chat":
            function = wire["function"]
            name, call_id = function.get("name", item.name), wire.get("id") or item.call_id
            said = name, call_id, clean(function["arguments"])
        case _:
            said = wire.get("name", ""), item.call_id, wire.get("text", "")
    return same and said == (item.name, item.call_id, item.text)


def _thought_in(item: Item) -> list[str]:
    """All that is told of it in words."""
    wire = item.wire
    match item.dialect:
        case "responses":
            return [
                _joined(wire.get("summary"), BETWEEN_PARTS) or _joined(wire.get("content"), BETWEEN_PARTS)
            ]
        case "messages":
            return [wire.get("thinking", "")]
        case "chat":
            content, details = wire.get("content", ""), wire.get("reasoning_details", ())
            inside = (
                content
                if isinstance(content, str)
                else "".join(_joined(part["thinking"], "") for part in content)
            )
            told = [word for each in details for word in (each.get("text"), each.get("summary"))]
            return list(filter(None, (wire.get("reasoning_content"), wire.get("reasoning"), inside, *told)))
        case _:
            return [wire.get("text", "")]


def _without_tags(said: str, shown: str) -> bool:
    """What came between tags is shown without them."""
    if said.strip() in shown:
        return True
    rest = said.replace(shown, "", 1)
    for tag in _TAGS if len(rest) <= _LONGEST_TAGS else ():
        rest = rest.replace(tag, "")
    return not rest.strip()


def _text_in(item: Item) -> str:
    said = (item.wire.get(name) for name in ("content", "text", "refusal"))
    content = next(filter(None, said), "")
    return content if isinstance(content, str) else _joined(content, "")


def _joined(parts: Any, between: str) -> str:
    words = (part.get("text") or part.get("refusal") or "" for part in parts or ())
    return between.join(filter(None, words))


def _same_value(text: str, value: Any) -> bool:
    try:
        said = verbatim.loads(text or "{}")
    except ValueError:
        said = {}
    return bool((said if isinstance(said, dict) else {}) == value)
