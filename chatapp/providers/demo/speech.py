"""Says pieces at the pace of a model: the events of one response, word by word."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass

from ...core.events import Event, Finish, ItemDelta, ItemDone, ItemStarted, ResponseEnded
from ...core.items import Item, KeyMaker, Kind
from ..base import Ask, ProviderError, Trouble
from .pieces import Call, Failure, Piece, Said, Thought, Words, as_wire

Sleep = Callable[[float], Awaitable[None]]

# Seconds before anything comes, and for each word of a thought, of the answer, and of a call.
BEFORE = 0.3
# With the blanks around it.
_WORD = re.compile(r"\s*+\S++\s*+|\s++")
PACE = {Kind.REASONING: 0.05, Kind.ASSISTANT_MESSAGE: 0.02, Kind.TOOL_CALL: 0.05}


@dataclass(frozen=True, slots=True)
class Speech:
    ask: Ask
    keys: KeyMaker
    sleep: Sleep
    speed: float

    async def say(self, pieces: Iterable[Piece]) -> AsyncGenerator[Event, None]:
        await self._pause(BEFORE)
        calls = 0
        for piece in pieces:
            if isinstance(piece, Failure):
                raise ProviderError(Trouble.BROKEN, piece.sentence, piece.raw)
            call_id = f"demo-{self.ask.round}-{calls}" if isinstance(piece, Call) else ""
            calls += isinstance(piece, Call)
            item = self._item(piece, call_id)
            yield ItemStarted(item.key, item.kind, item.name, item.call_id)
            for word in _WORD.findall(item.text):
                await self._pause(PACE[item.kind])
                yield ItemDelta(item.key, word)
            yield ItemDone(item)
        yield ResponseEnded(Finish.TOOL_CALLS if calls else Finish.STOP)

    async def _pause(self, seconds: float) -> None:
        await self.sleep(seconds / self.speed)

    def _item(self, piece: Said, call_id: str) -> Item:
        return Item(
            key=self.keys.take(),
            kind=_kind(piece),
            text=_text(piece),
            wire=as_wire(piece, call_id),
            provider=self.ask.model.provider,
            dialect=self.ask.model.dialect,
            model=self.ask.model.name,
            round=self.ask.round,
            call_id=call_id,
            name=piece.name if isinstance(piece, Call) else "",
        )


def _kind(piece: Said) -> Kind:
    match piece:
        case Thought():
            return Kind.REASONING
        case Words():
            return Kind.ASSISTANT_MESSAGE
        case Call():
            return Kind.TOOL_CALL


def _text(piece: Said) -> str:
    return json.dumps({piece.argument: piece.value}) if isinstance(piece, Call) else piece.text
