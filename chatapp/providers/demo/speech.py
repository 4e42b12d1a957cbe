"""Says pieces at the pace of a model: the events of one response, word by word."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import replace

from ...core.events import Event, Finish, ItemDelta, ItemDone, ItemStarted, ResponseEnded
from ...core.items import Item, KeyMaker, Kind
from ..base import Ask, ProviderError

# Where an error is to be said, the response breaks off. Items get their keys and makers when they are said.
Piece = Item | ProviderError
Pause = Callable[[float], Awaitable[None]]

# Seconds before anything comes, and for each word of a thought, of the answer, and of a call.
BEFORE = 0.3
# With the blanks around it.
_WORD = re.compile(r"\s*+\S++\s*+|\s++")
PACE = {Kind.REASONING: 0.05, Kind.ASSISTANT_MESSAGE: 0.02, Kind.TOOL_CALL: 0.05}


async def speak(
    pieces: Iterable[Piece], ask: Ask, keys: KeyMaker, pause: Pause
) -> AsyncGenerator[Event, None]:
    await pause(BEFORE)
    finish = Finish.STOP
    for piece in pieces:
        if isinstance(piece, ProviderError):
            raise piece
        if piece.kind is Kind.TOOL_CALL:
            finish = Finish.TOOL_CALLS
        item = _made(piece, ask, keys.take())
        yield ItemStarted(item.key, item.kind, item.name, item.call_id)
        for word in _WORD.findall(item.text):
            await pause(PACE[item.kind])
            yield ItemDelta(item.key, word)
        yield ItemDone(item)
    yield ResponseEnded(finish)


def _made(piece: Item, ask: Ask, key: str) -> Item:
    model = ask.model
    return replace(
        piece,
        key=key,
        wire={"type": piece.kind.value, "text": piece.text, "name": piece.name},
        provider=model.provider,
        dialect=model.dialect,
        model=model.name,
        round=ask.round,
        call_id=f"demo-{ask.round}-{key}" if piece.kind is Kind.TOOL_CALL else "",
    )
