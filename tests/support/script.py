"""Scripts of models: what comes, in the order in which it comes, with ticks of a clock between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from chatapp.core.events import Event, Finish, ItemDelta, ItemDone, ItemStarted, ResponseEnded, Usage
from chatapp.core.items import Item, KeyMaker, Kind
from chatapp.providers.base import Ask, ProviderError

from .stage import Script


class Ticks:
    """A clock that moves when the script says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def thought(words: str = "Hm.", *, key: str | None = None, lasts: float = 0.0, **wire: Any) -> dict[str, Any]:
    return {"kind": Kind.REASONING, "id": key, "text": words, "lasts": lasts, "wire": wire}


def text(words: str = "Because.", *, key: str | None = None) -> dict[str, Any]:
    return {"kind": Kind.ASSISTANT_MESSAGE, "id": key, "text": words}


def call(name: str = "clock", arguments: str = "{}", *, call_id: str = "call_1") -> dict[str, Any]:
    return {
        "kind": Kind.TOOL_CALL,
        "id": f"fc_{call_id}",
        "text": arguments,
        "name": name,
        "call_id": call_id,
    }


def response(
    *pieces: dict[str, Any] | ProviderError, ticks: Ticks | None = None, finish: Finish | None = None
) -> Script:
    """One response of these pieces; a ProviderError among them ends it there."""

    async def script(ask: Ask, keys: KeyMaker) -> AsyncIterator[Event]:
        for piece in pieces:
            if isinstance(piece, ProviderError):
                raise piece
            for event in _events(ask, keys, piece, ticks):
                yield event
        calls = any(isinstance(piece, dict) and piece["kind"] is Kind.TOOL_CALL for piece in pieces)
        yield Usage(input=10, output=5)
        yield ResponseEnded(finish or (Finish.TOOL_CALLS if calls else Finish.STOP))

    return script


def _events(ask: Ask, keys: KeyMaker, piece: dict[str, Any], ticks: Ticks | None) -> Iterator[Event]:
    key = keys.take(piece["id"])
    names = {name: piece[name] for name in ("name", "call_id") if name in piece}
    wire = {"id": key, "encrypted_content": "sealed", "summary": [], "type": piece["kind"]} | piece.get(
        "wire", {}
    )
    item = Item(
        key=key,
        kind=piece["kind"],
        text=piece["text"],
        wire=wire,
        provider=ask.model.provider,
        dialect=ask.model.dialect,
        model=ask.model.name,
        round=ask.round,
        **names,
    )
    yield ItemStarted(key, piece["kind"], **names)
    if piece["text"]:
        yield ItemDelta(key, piece["text"])
    if ticks:
        ticks.seconds += piece.get("lasts", 0.0)
    yield ItemDone(item)


def held(*pieces: dict[str, Any], reached: asyncio.Event) -> Script:
    """Says these pieces, then nothing more: until somebody ends it."""

    async def script(ask: Ask, keys: KeyMaker) -> AsyncIterator[Event]:
        for piece in pieces[:-1]:
            for event in _events(ask, keys, piece, None):
                yield event
        for event in list(_events(ask, keys, pieces[-1], None))[:-1]:
            yield event
        reached.set()
        await asyncio.Event().wait()

    return script
