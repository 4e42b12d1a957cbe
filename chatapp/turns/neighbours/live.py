"""Live events between processes of one folder: whoever watches asks whoever runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Any
from uuid import UUID

from ...core.draft import Draft
from ..elsewhere.entries import Entry
from ..elsewhere.live import Mirror, MirroringLive
from ..live import SOON, Here, Stream
from .line import NeighbourLine, Words

# Between two looks for whoever runs it.
PAUSE, LONGEST_PAUSE = 0.05, 1.0
OVER = "over\n"


class NeighbourLive(MirroringLive):
    def __init__(self, line: NeighbourLine) -> None:
        super().__init__()
        self._line = line
        line.answers |= {"follow": self._tell, "find": self._tell_newest}

    def open(self, stream: Stream, draft: Draft, elapsed: Callable[[], float]) -> None:
        super().open(stream, draft, elapsed)
        self._line.begin()

    def is_anybody_there(self) -> bool:
        return bool(self._line.neighbours())

    def clock(self) -> float:
        """All of them run on one machine."""
        return time.monotonic() * 1000

    async def follow(self, mirror: Mirror) -> None:
        pause = PAUSE
        while not mirror.over:
            before = mirror.n
            for name in self._line.neighbours():
                await self._hear_of(mirror, name)
            pause = PAUSE if mirror.n > before else min(2 * pause, LONGEST_PAUSE)
            mirror.rest()
            await asyncio.sleep(pause)

    async def find(self, message: UUID) -> Mirror | None:
        for name in self._line.neighbours():
            try:
                async with asyncio.timeout(SOON):
                    found = await self._found(message, name)
            except TimeoutError:
                continue
            if found:
                return found
        return None

    async def _tell(self, words: Words, writer: asyncio.StreamWriter) -> None:
        """What is said at an attempt, from a number on, until it is over."""
        message, attempt, after = words
        running = self._here.running((UUID(message), attempt))
        if running:
            await _tell_all(running, after, writer)

    async def _tell_newest(self, words: Words, writer: asyncio.StreamWriter) -> None:
        """The newest attempt as it stands."""
        stream = self._here.newest(UUID(words[0]))
        running = self._here.running(stream) if stream else None
        if stream and running:
            writer.write(f"{stream[1]}\n".encode() + _line(running, 0, running.draft.facts))
            await writer.drain()

    async def _hear_of(self, mirror: Mirror, name: str) -> None:
        message, attempt = mirror.stream
        async with aclosing(self._line.ask(name, ["follow", message.hex, attempt, mirror.n])) as lines:
            async for line in lines:
                if line == OVER:
                    mirror.end()
                    return
                mirror.take_entry(Entry.of_text(line))

    async def _found(self, message: UUID, name: str) -> Mirror | None:
        mirror = None
        async with aclosing(self._line.ask(name, ["find", message.hex])) as lines:
            async for line in lines:
                if mirror is None:
                    mirror = Mirror((message, int(line)), self)
                else:
                    mirror.take_entry(Entry.of_text(line))
        return mirror


async def _tell_all(running: Here, after: int, writer: asyncio.StreamWriter) -> None:
    facts: dict[str, Any] | None = None
    async with aclosing(running.read(after, None)) as news:
        async for _ in news:
            known, facts = facts, running.draft.facts
            writer.write(_line(running, after, facts if facts is not known else None))
            after = running.n
            await writer.drain()
    writer.write(OVER.encode())
    await writer.drain()


def _line(running: Here, after: int, facts: dict[str, Any] | None) -> bytes:
    origin = time.monotonic() * 1000 - running.elapsed()
    return Entry(after, origin, running.after(after), facts).to_text().encode() + b"\n"
