"""Events as plain values and back, for those who hear of them in another process. What providers sent stays behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from .events import (
    NAMES,
    Event,
    Finish,
    ItemAmended,
    ItemDelta,
    ItemDone,
    ItemsStored,
    ItemStarted,
    ResponseEnded,
    Retrying,
)
from .items import Item, Kind

_ITEM = tuple(field.name for field in fields(Item) if field.name != "wire")
_FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in NAMES}
_KINDS = {name: kind for kind, name in NAMES.items()}


def values_of(event: Event) -> list[Any]:
    """Its name, and what it says."""
    if isinstance(event, ItemDone | ItemAmended):
        return [NAMES[type(event)], {name: getattr(event.item, name) for name in _ITEM}]
    kind = type(event)
    return [NAMES[kind], *(getattr(event, name) for name in _FIELDS[kind])]


def event_of(values: list[Any]) -> Event:
    name, *said = values
    if name == "item_delta":
        return ItemDelta(*said)
    made = _MADE.get(name)
    event: Event = made(*said) if made else _KINDS[name](*said)
    return event


def _item(said: dict[str, Any]) -> Item:
    return Item(**said | {"kind": Kind(said["kind"])})


_MADE: dict[str, Callable[..., Event]] = {
    NAMES[ItemDone]: lambda item: ItemDone(_item(item)),
    NAMES[ItemAmended]: lambda item: ItemAmended(_item(item)),
    NAMES[ItemStarted]: lambda key, kind, *more: ItemStarted(key, Kind(kind), *more),
    NAMES[ResponseEnded]: lambda finish: ResponseEnded(Finish(finish)),
    NAMES[Retrying]: lambda seconds, sentence, lost: Retrying(seconds, sentence, tuple(lost)),
    NAMES[ItemsStored]: lambda keys: ItemsStored(tuple(keys)),
}
