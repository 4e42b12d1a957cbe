"""The running turn's events, from number n on: how those who watch see what is not a row yet."""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from itertools import accumulate, groupby
from typing import NamedTuple, Protocol
from uuid import UUID

from ..core.draft import Draft
from ..core.events import Event, ItemDelta
from ..store import Seen

# So many of the newest events stay as they came; of older ones, letters of one item are joined.
NEWEST = 64
# One attempt at one turn: a zombie's stream has another name.
Stream = tuple[UUID, int]


class LiveEvent(NamedTuple):
    """Event number `n` of an attempt, `at` milliseconds from the start of the turn. Where it is several that were joined,
    `n` is the last one's, and `ends` says where in the letters each one ends."""

    n: int
    at: float
    event: Event
    ends: array[int] | None = None

    def after(self, n: int) -> LiveEvent:
        """Without those up to number n."""
        gone = n - self.n + len(self.ends) if self.ends else 0
        if gone <= 0 or not self.ends or not isinstance(self.event, ItemDelta):
            return self
        return LiveEvent(self.n, self.at, ItemDelta(self.event.key, self.event.text[self.ends[gone - 1] :]))


# Told of an event in the moment in which it is published, by whoever publishes it; True where nothing is left to do with it.
Hear = Callable[[LiveEvent], bool]


class Live(Protocol):
    """Publishing never waits. Reading from n gives everything after it, then waits for more until the turn ends. Who has read
    everything may `hear` what comes next at once; what it takes there is not given again."""

    def open(self, stream: Stream, draft: Draft, elapsed: Callable[[], float]) -> None: ...

    def publish(self, stream: Stream, event: Event, at: float) -> None: ...

    def close(self, stream: Stream) -> None: ...

    def read(
        self, stream: Stream, after: int = 0, hear: Hear | None = None
    ) -> AsyncIterator[list[LiveEvent]]: ...

    def now(self, stream: Stream) -> float | None:
        """The turn's own time, in milliseconds, while this attempt runs here."""

    async def opened(self, stream: Stream) -> None:
        """Returns when this attempt can be read here: never, where another process keeps it to itself."""

    async def seen(self, message: UUID) -> Seen | None:
        """The draft of the message's newest attempt that can be reached, as of now."""


class MemoryLive:
    """One process: a list for each attempt, and its readers."""

    def __init__(self) -> None:
        self._running: dict[Stream, _Running] = {}
        self._one_more = asyncio.Event()

    def open(self, stream: Stream, draft: Draft, elapsed: Callable[[], float]) -> None:
        self._running[stream] = _Running(draft, elapsed)
        self._one_more.set()
        self._one_more = asyncio.Event()

    def publish(self, stream: Stream, event: Event, at: float) -> None:
        running = self._running.get(stream)
        if running:
            running.add(at, event)

    def close(self, stream: Stream) -> None:
        """Nothing more comes. Those who read have it all; those who come later find rows."""
        running = self._running.pop(stream, None)
        if running:
            running.end()

    async def read(
        self, stream: Stream, after: int = 0, hear: Hear | None = None
    ) -> AsyncIterator[list[LiveEvent]]:
        running = self._running.get(stream)
        while running:
            news = running.after(after)
            if news:
                after = news[-1].n
                yield news
            elif running.over:
                return
            else:
                after = await running.more(after, hear)

    def now(self, stream: Stream) -> float | None:
        running = self._running.get(stream)
        return running.elapsed() if running else None

    async def opened(self, stream: Stream) -> None:
        while stream not in self._running:
            await self._one_more.wait()

    async def seen(self, message: UUID) -> Seen | None:
        attempts = [stream for stream in self._running if stream[0] == message]
        if not attempts:
            return None
        newest = max(attempts, key=lambda stream: stream[1])
        running = self._running[newest]
        at = running.elapsed()
        # A copy, since the loop goes on writing while a thread of the database reads.
        return Seen(newest[1], Draft.from_json(running.draft.to_json(at)), at)


class _Running:
    def __init__(self, draft: Draft, elapsed: Callable[[], float]) -> None:
        self.draft, self.elapsed = draft, elapsed
        self._said: list[LiveEvent] = []
        # How many of them, at the end, are as they came.
        self._plain = 0
        self._listening: list[_Listening] = []
        self.over = False

    def add(self, at: float, event: Event) -> None:
        n = self._said[-1].n + 1 if self._said else 1
        said = LiveEvent(n, at, event)
        self._said.append(said)
        self._plain += 1
        if self._plain == 2 * NEWEST:
            older = self._said[-2 * NEWEST : -NEWEST]
            self._said[-2 * NEWEST : -NEWEST] = _with_letters_joined(older)
            self._plain = NEWEST
        for listening in self._listening:
            listening.tell(said)

    def end(self) -> None:
        self.over = True
        for listening in self._listening:
            listening.wake()

    def after(self, n: int) -> list[LiveEvent]:
        """The events above number n."""
        missing = self._said[-1].n - n if self._said else 0
        if missing <= self._plain:
            return self._said[-missing:] if missing > 0 else []
        place = bisect_right(self._said, n, key=lambda said: said.n)
        return [self._said[place].after(n), *self._said[place + 1 :]]

    async def more(self, after: int, hear: Hear | None) -> int:
        """Waits, having read up to number `after`, for what is not heard at once or for the end. How far it is then."""
        listening = _Listening(after, hear)
        self._listening.append(listening)
        try:
            await listening.woken
        finally:
            self._listening.remove(listening)
        return listening.after


class _Listening:
    """A reader who has read everything up to number `after`, until it is `woken`."""

    def __init__(self, after: int, hear: Hear | None) -> None:
        self.after, self._hear = after, hear
        self.woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def tell(self, said: LiveEvent) -> None:
        if self.woken.done():
            return
        try:
            if self._hear and self._hear(said):
                self.after = said.n
            else:
                self.wake()
        except Exception as error:
            # It is the reader that broke, not the turn.
            self.woken.set_exception(error)

    def wake(self) -> None:
        if not self.woken.done():
            self.woken.set_result(None)


def _with_letters_joined(events: Iterable[LiveEvent]) -> Iterator[LiveEvent]:
    """Letters of an item that came one after the other become one event: an object for every few letters would outweigh them."""
    for key, group in groupby(events, key=_letters_of):
        together = list(group)
        if key is None:
            yield from together
            continue
        letters = [said.event.text for said in together if isinstance(said.event, ItemDelta)]
        last = together[-1]
        ends = array("L", accumulate(map(len, letters)))
        yield LiveEvent(last.n, last.at, ItemDelta(key, "".join(letters)), ends)


def _letters_of(said: LiveEvent) -> str | None:
    return said.event.key if isinstance(said.event, ItemDelta) else None
