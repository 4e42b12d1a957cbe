"""Names of tools abroad: no wire takes a dot, so `server.tool` travels as `server__tool`. A server's name holds no underscore."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..core import events
from ..core.history import Logged
from ..core.items import Item


def abroad(name: str) -> str:
    server, dot, tool = name.partition(".")
    return f"{server}__{tool}" if dot else name


def at_home(name: str) -> str:
    server, line, tool = name.partition("__")
    return f"{server}.{tool}" if line and server and "_" not in server else name


def log_abroad(log: Sequence[Logged]) -> list[Logged]:
    return [replace(message, items=[_abroad(item) for item in message.items]) for message in log]


def event_at_home(event: events.Event) -> events.Event:
    match event:
        # The case of nearly all events stands first.
        case events.ItemDelta():
            return event
        case events.ItemStarted():
            return replace(event, name=at_home(event.name)) if event.name else event
        case events.ItemDone(item=item):
            return events.ItemDone(replace(item, name=at_home(item.name))) if item.name else event
        case (
            events.Asked()
            | events.ItemAmended()
            | events.Usage()
            | events.Skipped()
            | events.Withheld()
            | events.Saving()
            | events.ResponseEnded()
            | events.Retrying()
            | events.Repaired()
            | events.ItemsStored()
            | events.TurnEnded()
        ):
            return event


def _abroad(item: Item) -> Item:
    return replace(item, name=abroad(item.name)) if "." in item.name else item
