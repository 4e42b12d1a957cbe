"""Conversations in our own format: nothing of what was said and measured is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from uuid import UUID

from ...branches.models import Origin
from ...core import verbatim
from ...core.items import Item, Kind
from ...store import load_items_of
from ...store.models import Conversation, Message, Status
from ..formats.imported import original
from ..formats.ours import (
    FORMAT,
    MOMENTS_OF_CONVERSATION,
    OF_CONVERSATION,
    OF_ITEM,
    OF_MESSAGE,
    RECORDED,
    VERSION,
)
from .chosen import Chosen

# Messages that are read together.
BATCH = 50
# The names of people stay as words; what they were called here by number goes nowhere.
_OF_PERSONS = "by"


def as_json(chosen: Iterable[Chosen], made: Mapping[str, Any]) -> Iterator[bytes]:
    """`made`: what the file says of itself."""
    yield _line({"format": FORMAT, "version": VERSION, "made": made}, closed=False) + b',"conversations":[\n'
    for n, each in enumerate(chosen):
        yield b",\n" if n else b""
        yield from _conversation(each)
    yield b"\n]}\n"


def _conversation(chosen: Chosen) -> Iterator[bytes]:
    numbers = {pk: number for number, pk in enumerate(chosen.messages, 1)}
    yield _line(_head(chosen, numbers), closed=False) + b',"messages":[\n'
    for n, message in enumerate(_messages(chosen, numbers)):
        yield (b",\n" if n else b"") + _line(message)
    yield b"\n]}"


def _line(value: Mapping[str, Any], *, closed: bool = True) -> bytes:
    line = verbatim.encode(value)
    return line if closed else line.removesuffix(b"}")


def _head(chosen: Chosen, numbers: Mapping[UUID, int]) -> dict[str, Any]:
    row = chosen.conversation
    told = {name: getattr(row, name) for name in OF_CONVERSATION}
    told |= {name: _moment(getattr(row, name)) for name in MOMENTS_OF_CONVERSATION}
    told["head"] = numbers.get(chosen.leaf) if chosen.leaf else None
    told["forks"] = {
        str(numbers[parent]) if parent else "": numbers[child] for parent, child in chosen.forks.items()
    }
    # What stands in a file without a title is no conversation to anybody.
    return {"title": row.title} | _said(told | _came_from(row))


def _came_from(row: Conversation) -> dict[str, Any]:
    """What a file told of it stays; a fork came from what it was taken from."""
    imported = getattr(row, "imported", None)
    origin = Origin.objects.filter(pk=row.pk).first()
    told = (
        {"title": origin.title, "owner": origin.owner_name, "at": _moment(origin.made_at)} if origin else {}
    )
    return {"origin": told} | (imported.came_from if imported else {})


def _messages(chosen: Chosen, numbers: Mapping[UUID, int]) -> Iterator[dict[str, Any]]:
    wanted = iter(chosen.messages)
    while some := list(islice(wanted, BATCH)):
        rows = Message.objects.select_related("author").in_bulk(some)
        items = load_items_of(some)
        for pk in some:
            # What was removed meanwhile was removed with all below it.
            if pk in rows:
                yield _message(rows[pk], items[pk], numbers, chosen.parents[pk])


def _message(
    row: Message, items: Iterable[Item], numbers: Mapping[UUID, int], parent: UUID | None
) -> dict[str, Any]:
    place = {"id": numbers[row.pk], "parent": numbers[parent] if parent else None}
    sent_from = numbers.get(row.sent_from_id) if row.sent_from_id else None
    return place | _said({"sent_from": sent_from}) | as_told(row, items)


def as_told(row: Message, items: Iterable[Item]) -> dict[str, Any]:
    """A message without its place in the tree."""
    told = {name: getattr(row, name) for name in OF_MESSAGE}
    told["status"] = "" if row.status == Status.COMPLETE else row.status
    told["author"] = row.metadata.get("author") or (row.author.get_username() if row.author else "")
    told["created_at"] = _moment(row.created_at)
    told["recorded"] = _recorded(row.metadata)
    return _said(told) | {"items": [_item(item) for item in items]}


def _recorded(metadata: Mapping[str, Any]) -> dict[str, Any]:
    facts = {name: metadata[name] for name in RECORDED if name in metadata}
    if isinstance(facts.get("ended"), dict):
        facts["ended"] = {name: value for name, value in facts["ended"].items() if name != _OF_PERSONS}
    return facts


def _item(item: Item) -> dict[str, Any]:
    item = original(item)
    told = _said({name: getattr(item, name) for name in OF_ITEM})
    if item.wire is None:
        return told
    wire = item.wire
    if item.kind is Kind.PERMISSION_DECISION and isinstance(wire, dict):
        wire = wire | {_OF_PERSONS: ""}
    return told | {"wire": wire}


def _said(told: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in told.items()
        if value not in (None, "", 0, False) and value != {} and value != []
    }


def _moment(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat() if moment else None
