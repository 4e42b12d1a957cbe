"""A response as a model says it, in few words."""

from __future__ import annotations

from itertools import chain
from typing import Any

from chatapp.core.events import Event, Finish, ItemDelta, ItemDone, ItemStarted, Usage
from chatapp.core.items import Item, Kind
from chatapp.gateway.doors.door import Door, DoorWriter, Frame, HowEnded
from chatapp.gateway.doors.handed import Handed

from .bodies import asking
from .said import AT

SECRET = "0" * 26


def thought(key: str, *pieces: str, wire: Any = None, dialect: str = "chat") -> list[Event]:
    return item(key, Kind.REASONING, pieces, wire=wire, dialect=dialect)


def words(key: str, *pieces: str, dialect: str = "chat") -> list[Event]:
    return item(key, Kind.ASSISTANT_MESSAGE, pieces, dialect=dialect)


def refusal(key: str, *pieces: str) -> list[Event]:
    said = "".join(pieces)
    done = Item(key=key, kind=Kind.ASSISTANT_MESSAGE, text=said, dialect="chat", wire={"refusal": said})
    deltas = [ItemDelta(key, piece, refuses=True) for piece in pieces]
    return [ItemStarted(key, Kind.ASSISTANT_MESSAGE), *deltas, ItemDone(done)]


def call(key: str, name: str, *pieces: str, wire: Any = None, dialect: str = "chat") -> list[Event]:
    return item(key, Kind.TOOL_CALL, pieces, wire=wire, dialect=dialect, name=name)


def item(key: str, kind: Kind, pieces: tuple[str, ...], *, name: str = "", **of: Any) -> list[Event]:
    done = Item(key=key, kind=kind, text="".join(pieces), name=name, **of)
    return [ItemStarted(key, kind, name), *(ItemDelta(key, piece) for piece in pieces), ItemDone(done)]


def ended(finish: Finish = Finish.STOP, **counts: int) -> HowEnded:
    return HowEnded(finish=finish, usage=Usage(**counts), at=AT)


def sealed(n: int, real: str = "") -> str:
    """What is handed out for what the provider of item n sealed."""
    return f"tl1.{SECRET}{n:02}..{real}"


def writer(door: Door, **more: Any) -> DoorWriter:
    return door.writer(door.read(asking(**more), {}), "m", Handed(secret=SECRET), AT)


def frames(writer: DoorWriter, *said: list[Event], end: HowEnded | None = None) -> list[Frame]:
    """All of a stream."""
    told = writer.begin()
    for event in chain.from_iterable(said):
        told += writer.hear(event)
    return told + writer.end(end or ended())


def whole(door: Door, *said: list[Event], end: HowEnded | None = None, **more: Any) -> dict[str, Any]:
    heard = writer(door, **more)
    frames(heard, *said, end=end)
    return heard.whole()
