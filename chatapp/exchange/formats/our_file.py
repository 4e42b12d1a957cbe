"""Reads our own format, an item at a time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from ...core.items import Item, Kind, Outcome
from ...core.plural import many
from ...core.values import count_in, fields, word
from ...store.models import Role
from .json_reader import JsonReader
from .ours import FORMAT, MOMENTS_OF_CONVERSATION, VERSION
from .shape import FileFormat, Remark, Told, ToldConversation, ToldMessage, moment

MOST_ROUNDS, MOST_ITEMS = 100_000, 10_000


def _read(json: JsonReader) -> Told:
    for name in json.members():
        if name == "version" and (version := json.value()) != VERSION:
            json.broken(f"it is of version {str(version)[:20]}, and this server knows {VERSION}")
        elif name == "conversations":
            for _ in json.elements():
                told = ToldConversation()
                yield told, _conversation(json, told)


def _conversation(json: JsonReader, told: ToldConversation) -> Iterator[ToldMessage]:
    for name in json.members():
        match name:
            case "messages":
                for _ in json.elements():
                    if message := _message(json, told):
                        yield message
            case "title" | "titled_by" | "instructions" | "program":
                setattr(told, name, word(json.value()))
            case "tools":
                tools = json.value()
                told.tools = tools if isinstance(tools, list) else []
            case "head":
                told.head = _number(json.value())
            case "forks":
                forks = ((parent, _number(child)) for parent, child in fields(json.value()).items())
                told.forks = {parent: child for parent, child in forks if child}
            case "origin" | "source":
                told.came_from[name] = fields(json.value())
            case _ if name in MOMENTS_OF_CONVERSATION:
                if at := _moment(json.value(), told):
                    told.moments[name] = at
            case _:
                pass


def _moment(value: Any, told: ToldConversation) -> datetime | None:
    found = moment(value) if isinstance(value, str) else None
    told.note(Remark.TIME, found is None)
    return found


def _number(value: Any) -> str | None:
    number = count_in(value)
    return str(number) if number else None


def _message(json: JsonReader, of: ToldConversation) -> ToldMessage | None:
    """None for what is no message of anybody's."""
    told = ToldMessage(id="", parent=None, role="", author=None)
    for name in json.members():
        match name:
            case "items":
                told.items = list(_items(json, of))
            case "id":
                told.id = _number(json.value()) or ""
            case "parent" | "sent_from":
                setattr(told, name, _number(json.value()))
            case "role" | "author" | "model" | "effort" | "status":
                setattr(told, name, word(json.value()))
            case "created_at":
                told.at = _moment(json.value(), of)
            case "recorded":
                told.recorded = fields(json.value())
            case _:
                pass
    return as_message(told, of)


def _items(json: JsonReader, of: ToldConversation) -> Iterator[Item]:
    for n in json.elements():
        if n == MOST_ITEMS:
            json.broken(f"one message has more than {many(MOST_ITEMS, 'item')}")
        if item := _item(json.value(), of):
            yield item


def as_message(told: ToldMessage, of: ToldConversation) -> ToldMessage | None:
    if told.id and told.role in Role.values:
        told.author = told.author or ""
        return told
    of.note(Remark.UNKNOWN)
    return None


def items_of(told: Any, of: ToldConversation) -> list[Item]:
    """Of a message that was read whole."""
    found = told if isinstance(told, list) else []
    return [item for each in found if (item := _item(each, of))]


def _item(value: Any, of: ToldConversation) -> Item | None:
    told = fields(value)
    kind, outcome = word(told.get("kind")), word(told.get("outcome"))
    if kind not in list(Kind):
        of.note(Remark.UNKNOWN)
        return None
    return Item(
        key=word(told.get("key")),
        kind=Kind(kind),
        text=word(told.get("text")),
        wire=told.get("wire"),
        provider=word(told.get("provider"))[:64],
        dialect=word(told.get("dialect"))[:32],
        model=word(told.get("model"))[:300],
        round=count_in(told.get("round"), MOST_ROUNDS) or 0,
        cut=told.get("cut") is True,
        call_id=word(told.get("call_id")),
        name=word(told.get("name")),
        outcome=outcome if outcome in list(Outcome) else "",
    )


FILE_FORMAT = FileFormat(
    name=FORMAT,
    label="Thoughtline",
    fits=lambda keys, is_list: "conversations" in keys and not is_list,
    read=_read,
    wires=True,
)
