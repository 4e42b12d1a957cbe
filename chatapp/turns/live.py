"""The running turn's events, from number n on: how those who watch see what is not a row yet."""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_right
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, groupby
from typing import NamedTuple, Protocol
from uuid import UUID

from ..core.draft import Draft
from ..core.events import Event, ItemDelta
from ..store import Seen

# So long who looks at a turn waits for what others have to say of it.
SOON = 0.25
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
        start = self.ends[gone - 1]
        ends = array("L", (end - start for end in self.ends[gone:]))
        return LiveEvent(self.n, self.at, ItemDelta(self.event.key, self.event.text[start:]), ends)


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

    async def last_words(self, stream: Stream, after: int) -> list[LiveEvent]:
        """Of an attempt that has ended, as its row says: what is still on its way."""

    def now(self, stream: Stream) -> float | None:
        """The turn's own time, in milliseconds, while this attempt runs."""

    async def opened(self, stream: Stream) -> None:
        """Returns when this attempt can be read here: never, where another process keeps it to itself."""

    async def seen(self, message: UUID) -> Seen | None:
        """The draft of the message's newest attempt that can be reached, as of now."""

    def here(self) -> Sequence[tuple[Stream, Here]]:
        """The attempts that run in this process, for whoever asks, from any thread."""

    def look_up(self, message: UUID) -> None:
        """From any thread: something was told of it, so who watches it looks at the rows, where that is not certain anyway."""

    def keep_all(self) -> None:
        """From now on what is over can still be read here: for a process that asks one question, and ends."""

    async def end(self) -> None:
        """Of this process: nothing more is published or read."""


class MemoryLive:
    """One process: a list for each attempt, and its readers."""

    def __init__(self) -> None:
        self._running: dict[Stream, Here] = {}
        self._keeps_all = False
        self._one_more = asyncio.Event()

    def open(self, stream: Stream, draft: Draft, elapsed: Callable[[], float]) -> None:
        self._running[stream] = Here(draft, elapsed)
        self._one_more.set()
        self._one_more = asyncio.Event()

    def publish(self, stream: Stream, event: Event, at: float) -> None:
        running = self._running.get(stream)
        if running:
            running.add(at, event)

    def close(self, stream: Stream) -> None:
        """Nothing more comes. Those who read have it all; those who come later find rows."""
        running = self._running.get(stream)
        if running:
            running.end()
            if not self._keeps_all:
                del self._running[stream]

    async def read(
        self, stream: Stream, after: int = 0, hear: Hear | None = None
    ) -> AsyncIterator[list[LiveEvent]]:
        running = self._running.get(stream)
        if running:
            async for news in running.read(after, hear):
                yield news

    async def last_words(self, stream: Stream, after: int) -> list[LiveEvent]:
        running = self._running.get(stream)
        return await running.last_words(after) if running else []

    def now(self, stream: Stream) -> float | None:
        running = self._running.get(stream)
        return running.elapsed() if running else None

    def running(self, stream: Stream) -> Here | None:
        return self._running.get(stream)

    def here(self) -> Sequence[tuple[Stream, Here]]:
        return tuple(self._running.items())

    def newest(self, message: UUID) -> Stream | None:
        attempts = [stream for stream in self._running if stream[0] == message]
        return max(attempts, key=lambda stream: stream[1], default=None)

    async def opened(self, stream: Stream) -> None:
        while stream not in self._running:
            await self._one_more.wait()

    async def seen(self, message: UUID) -> Seen | None:
        newest = self.newest(message)
        if newest is None:
            return None
        running = self._running[newest]
        at = running.elapsed()
        # A copy, since the loop goes on writing while a thread of the database reads.
        return Seen(newest[1], Draft.from_json(running.draft.to_json(at)), at)

    def look_up(self, message: UUID) -> None:
        pass

    def keep_all(self) -> None:
        self._keeps_all = True

    async def end(self) -> None:
        pass


class Running:
    """What was said at one attempt, and those who read it."""

    def __init__(self) -> None:
        self._said: list[LiveEvent] = []
        # How many of them, at the end, are as they came.
        self._plain = 0
        self._listening: list[_Listening] = []
        self.over = False

    @property
    def n(self) -> int:
        """The number of the newest."""
        return self._said[-1].n if self._said else 0

    def add(self, at: float, event: Event) -> None:
        self.take(LiveEvent(self.n + 1, at, event))

    def take(self, said: LiveEvent) -> None:
        self._said.append(said)
        self._plain = self._plain + 1 if said.ends is None else 0
        if self._plain == 2 * NEWEST:
            older = self._said[-2 * NEWEST : -NEWEST]
            self._said[-2 * NEWEST : -NEWEST] = _with_letters_joined(older)
            self._plain = NEWEST
        for listening in self._listening:
            listening.tell(said)

    def end(self) -> None:
        self.over = True
        self.rest()

    def rest(self) -> None:
        """Those who read look at the rows before they read on."""
        for listening in self._listening:
            listening.wake()

    async def read(self, after: int, hear: Hear | None) -> AsyncGenerator[list[LiveEvent], None]:
        rests = False
        while True:
            news = self.after(after)
            if news:
                after, rests = news[-1].n, False
                yield news
            elif self.over or rests:
                return
            else:
                after, rests = await self.more(after, hear), True

    async def last_words(self, after: int) -> list[LiveEvent]:
        """They come a moment after the rows, or never, where whoever runs it is dead."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SOON):
                while not self.over:
                    await self.more(self.n, None)
        return self.after(after)

    def after(self, n: int) -> list[LiveEvent]:
        """The events above number n."""
        missing = self.n - n
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


class Here(Running):
    """An attempt of this process."""

    def __init__(self, draft: Draft, elapsed: Callable[[], float]) -> None:
        super().__init__()
        self.draft, self.elapsed = draft, elapsed


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
