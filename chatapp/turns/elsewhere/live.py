"""What runs here is read from memory. What runs elsewhere is mirrored here, once for all who watch it."""

from __future__ import annotations

import asyncio
import contextvars
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any
from uuid import UUID

from ...core.draft import Draft
from ...core.events import Event
from ...store import Seen
from ..live import Hear, Here, LiveEvent, MemoryLive, Running, Stream
from .entries import Entry
from .lags import LAGS

# The next reader of a page that is loaded again finds what the last one left.
LINGERS = 5.0


class MirroringLive(ABC):
    """How others are reached is said by whoever inherits this."""

    def __init__(self) -> None:
        self._here = MemoryLive()
        self._mirrors: dict[Stream, Mirror] = {}
        # The same by what they are of: others tell of many turns that nobody watches here.
        self._mirrored_of: dict[UUID, set[Mirror]] = defaultdict(set)
        # That of the mirrors, while there are any.
        self._loop: asyncio.AbstractEventLoop | None = None

    @abstractmethod
    async def follow(self, mirror: Mirror) -> None:
        """Gives the mirror all that is said at its attempt, until it is over. Lets those who read it rest when nothing comes for long."""

    @abstractmethod
    async def find(self, message: UUID) -> Mirror | None:
        """What others have of its newest attempt by now."""

    @abstractmethod
    def is_anybody_there(self) -> bool:
        """Whether any other process may run what does not run here."""

    @abstractmethod
    def clock(self) -> float | None:
        """Milliseconds, as all who tell each other of streams count them."""

    def open(self, stream: Stream, draft: Draft, elapsed: Callable[[], float]) -> None:
        self._here.open(stream, draft, elapsed)
        # Whoever looked for it elsewhere, between its claim and now, reads it here.
        mirror = self._mirrors.get(stream)
        if mirror:
            mirror.stop()
            self.forget(mirror)
            mirror.rest()

    def publish(self, stream: Stream, event: Event, at: float) -> None:
        self._here.publish(stream, event, at)

    def close(self, stream: Stream) -> None:
        self._here.close(stream)

    async def read(
        self, stream: Stream, after: int = 0, hear: Hear | None = None
    ) -> AsyncIterator[list[LiveEvent]]:
        here = self._here.running(stream)
        if here:
            async for news in here.read(after, hear):
                yield news
        elif stream[1] and self.is_anybody_there():
            with self._mirrored(stream) as mirror:
                async for news in mirror.read(after, hear):
                    yield news

    async def last_words(self, stream: Stream, after: int) -> list[LiveEvent]:
        mirror = self._mirrors.get(stream)
        return await (mirror.last_words(after) if mirror else self._here.last_words(stream, after))

    def now(self, stream: Stream) -> float | None:
        mirror = self._mirrors.get(stream)
        return mirror.now() if mirror else self._here.now(stream)

    def here(self) -> Sequence[tuple[Stream, Here]]:
        return self._here.here()

    async def opened(self, stream: Stream) -> None:
        """What is mirrored can be read on, unless it is over."""
        mirror = self._mirrors.get(stream)
        if mirror is None or mirror.over:
            await self._here.opened(stream)

    async def seen(self, message: UUID) -> Seen | None:
        here = await self._here.seen(message)
        if here:
            return here
        found = await self.find(message)
        return Seen(found.stream[1], found.draft(), found.now() or 0.0) if found and found.n else None

    def keep_all(self) -> None:
        self._here.keep_all()

    def look_up(self, message: UUID) -> None:
        """From any thread. Something was told of it: who watches it from here looks at the rows."""
        if self._loop and message in self._mirrored_of:
            self._loop.call_soon_threadsafe(self._rest, message)

    def _rest(self, message: UUID) -> None:
        for mirror in self._mirrored_of.get(message, ()):
            mirror.rest()

    async def end(self) -> None:
        for mirror in self._mirrors.values():
            mirror.stop()
        self._mirrors.clear()
        self._mirrored_of.clear()
        self._loop = None

    def mirror(self, stream: Stream) -> Mirror | None:
        """Where somebody reads it, or did a moment ago."""
        return self._mirrors.get(stream)

    def forget(self, mirror: Mirror) -> None:
        if self._mirrors.get(mirror.stream) is mirror:
            del self._mirrors[mirror.stream]
            mirrored = self._mirrored_of[mirror.stream[0]]
            mirrored.discard(mirror)
            if not mirrored:
                del self._mirrored_of[mirror.stream[0]]
        if not self._mirrors:
            self._loop = None

    def _mirrored(self, stream: Stream) -> Mirror:
        self._loop = asyncio.get_running_loop()
        if stream not in self._mirrors:
            self._mirrors[stream] = Mirror(stream, self)
            self._mirrored_of[stream[0]].add(self._mirrors[stream])
        return self._mirrors[stream]


class Mirror(Running):
    """An attempt of another process, as it is read here while anybody reads it."""

    def __init__(self, stream: Stream, live: MirroringLive) -> None:
        super().__init__()
        self.stream, self._live = stream, live
        self._origin: float | None = None
        self._least = 0.0
        self._facts: dict[str, Any] | None = None
        self._readers = 0
        self._following: asyncio.Task[None] | None = None
        self._leaving: asyncio.TimerHandle | None = None

    def __enter__(self) -> Mirror:
        self._readers += 1
        if self._leaving:
            self._leaving.cancel()
            self._leaving = None
        if self._following is None:
            self._following = beside(self._live.follow(self))
        return self

    def __exit__(self, *_: object) -> None:
        self._readers -= 1
        if not self._readers:
            self._leaving = asyncio.get_running_loop().call_later(LINGERS, self._leave)

    def stop(self) -> None:
        if self._leaving:
            self._leaving.cancel()
        if self._following:
            self._following.cancel()

    def now(self) -> float | None:
        """The turn's own time: never before what was said last, however the clocks were read."""
        clock, last = self._live.clock(), self._said[-1].at if self._said else 0.0
        return None if self._origin is None or clock is None else max(last, clock - self._origin)

    def draft(self) -> Draft:
        draft = Draft()
        for said in self.after(0):
            draft.apply(said.event, said.at)
        draft.n, draft.facts = self.n, self._facts
        return draft

    def take_entry(self, entry: Entry) -> bool:
        """False where something before it is missing. What is known is left out."""
        known = self.n
        if entry.after > known:
            return False
        self._origin = entry.origin
        if entry.facts is not None:
            self._facts = entry.facts or None
        for said in entry.said:
            if said.n > known:
                self.take(said.after(known))
        return True

    def note_lag(self, entry: Entry) -> None:
        """How long ago its first word was said. Two processes know the time that they tell each other to a few milliseconds: nothing
        comes before it was said."""
        clock = self._live.clock()
        if entry.said and clock is not None:
            ms = clock - entry.origin - entry.said[0].at
            self._least = min(self._least, ms)
            LAGS.note(ms - self._least)

    def _leave(self) -> None:
        self.stop()
        self._live.forget(self)


def beside(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Whoever asks for it first may be a request; it outlives that."""
    return asyncio.create_task(work, context=contextvars.Context())
