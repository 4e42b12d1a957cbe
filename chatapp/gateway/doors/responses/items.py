"""The items of `input`: what the program said, what tools gave, and what a model said before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ....core.items import clean
from ..asked import Answer, Call, Other, Result, Role, Said, Thought, Told, Words
from ..door import Wrong, invalid
from .compacted import summary_in
from .fields import Fields, rows
from .names import one_name
from .parts import parts_in, words_in

INPUT = "input"
REFERENCE = "item_reference"
ASSISTANT = "assistant"
BETWEEN_PARTS = "\n\n"
FromModel = Thought | Words | Call | Other
Entry = Said | Result | FromModel


def entries_in(body: Fields) -> list[Entry]:
    value = body.values.get(INPUT)
    match value:
        case None:
            return []
        case str():
            return [Said(role=Role.USER, parts=(clean(value),), wire=as_item(value))]
        case list():
            return [entry(item) for item in rows(value, INPUT)]
        case _:
            raise body.mistyped(INPUT, "a string or a list of items")


def as_item(words: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]}


def kind_of(item: Fields) -> str:
    """The easy form of a message has no type, and a reference may have none."""
    kind = item.word("type")
    if kind or not (item.has("role") or item.has("id")):
        return kind or item.needed("type")
    return "message" if item.has("role") else REFERENCE


def entry(item: Fields) -> Entry:
    match kind_of(item):
        case "message":
            return _message(item)
        case "reasoning":
            return _thought(item)
        case "function_call":
            return _call(item)
        case "function_call_output":
            return Result(call_id=item.name("call_id"), parts=parts_in(item, "output"), wire=item.values)
        case "compaction" | "compaction_summary":
            return _compaction(item)
        case _:
            return _other(item)


def told(entries: Iterable[Entry]) -> tuple[Told, ...]:
    """What a model said stands together until the program says something, or a result comes."""
    return tuple(_told(entries))


def _told(entries: Iterable[Entry]) -> Iterator[Told]:
    parts: list[FromModel] = []
    for each in entries:
        if not isinstance(each, Said | Result):
            parts.append(each)
            continue
        if parts:
            yield Answer(parts=tuple(parts))
            parts = []
        yield each
    if parts:
        yield Answer(parts=tuple(parts))


def _message(item: Fields) -> Said | Words:
    role = item.name("role")
    if role == ASSISTANT:
        return Words(text="".join(words_in(item, "content")), id=item.word("id"), wire=item.values)
    return Said(role=_role(item, role), parts=parts_in(item, "content"), wire=item.values)


def _role(item: Fields, role: str) -> Role:
    item.one_of("role", (*Role, ASSISTANT))
    return Role(role)


def _thought(item: Fields) -> Thought:
    said = [words_in(item, name) for name in ("summary", "content") if item.has(name)]
    text = next((BETWEEN_PARTS.join(words) for words in said if any(words)), "")
    return Thought(text=text, id=item.word("id"), seal=item.word("encrypted_content"), wire=item.values)


def _call(item: Fields) -> Call:
    return Call(
        id=item.name("call_id"),
        name=one_name(item.word("namespace"), item.needed("name")),
        arguments=item.needed("arguments"),
        item_id=item.word("id"),
        wire=item.values,
    )


def _compaction(item: Fields) -> Said | Other:
    """A summary of ours is words again; a provider's is for that provider."""
    summary = summary_in(item)
    if summary is None:
        return _other(item)
    return Said(role=Role.USER, parts=(summary,), wire=as_item(summary))


def _other(item: Fields) -> Other:
    return Other(wire={"type": kind_of(item), **item.values}, id=item.word("id"))


def without_its_call(entries: Iterable[Entry], known: Iterable[str]) -> Wrong | None:
    """A result whose call nobody made. `known`: calls that are found elsewhere."""
    calls = set(known)
    for n, each in enumerate(entries):
        if isinstance(each, Call):
            calls.add(each.id)
        if isinstance(each, Result) and each.call_id not in calls:
            sentence = f"No tool call found for function call output with call_id {each.call_id}."
            return invalid(sentence, f"{INPUT}[{n}].call_id")
    return None
