"""Live events through Redis: a stream for each attempt, written by whoever runs it. Each process that watches is told what is said, and
reads in the stream what was said before it came."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import UUID

from redis.asyncio import Redis

from ...core.draft import Draft
from ...core.events import Event
from ...store import attempt_at, in_thread
from ..elsewhere.entries import MOST, Entry, Unreadable
from ..elsewhere.live import Mirror, MirroringLive, beside
from ..live import SOON, Here, Stream
from .hearing import Ear
from .redis import AWAY, FIRST, LONGEST_PAUSE, PAUSE, READERS, BusClock, Fields, connected, entries_after
from .saying import OVER, SAID, Utterance, say

log = logging.getLogger(__name__)

# A turn is over long before; and those who watch its end have read it soon.
KEPT_SECONDS, KEPT_AFTER_END = 3600, 60
# A process speaks so often, and what is said meanwhile, at whatever turn, goes together; but after a silence a few words may follow
# each other at once.
TOGETHER, AT_ONCE = 0.01, 4
# Where nothing is heard for so long, it is looked for.
SILENCE = 2.0
# So long a stop waits for the last word of whoever is stopped.
LAST_WORD = 0.15


def key_of(stream: Stream) -> str:
    message, attempt = stream
    return f"turn:{message}:{attempt}"


class RedisLive(MirroringLive):
    """Memory keeps all that was said at what runs here, so that Redis may lose what it likes."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self._redis: Redis | None = None
        self._clock = BusClock()
        self._ear = Ear(lambda: self.redis)
        self._reading = asyncio.Semaphore(READERS)
        self._outgoing: dict[Stream, _Outgoing] = {}
        # What is still to be said, and what is under way; since when, by the monotonic clock.
        self._owed: dict[Stream, float] = {}
        self._under_way: dict[Stream, float] = {}
        # When it would speak next if it had always kept its distance.
        self._due = 0.0
        self._something, self._all_said = asyncio.Event(), asyncio.Event()
        self._sending: asyncio.Task[None] | None = None
        # Since when Redis takes nothing, by the monotonic clock.
        self.away_since: float | None = None

    @property
    def redis(self) -> Redis:
        if self._redis is None:
            self._redis = connected(self._url)
        return self._redis

    def is_anybody_there(self) -> bool:
        return True

    def clock(self) -> float | None:
        return self._clock.now() if self._clock.is_known else None

    def open(self, stream: Stream, draft: Draft, elapsed: Callable[[], float]) -> None:
        super().open(stream, draft, elapsed)
        running = self._here.running(stream)
        assert running is not None
        self._outgoing[stream] = _Outgoing(stream, running)
        if self._sending is None:
            self._sending = beside(self._keep_sending())

    def publish(self, stream: Stream, event: Event, at: float) -> None:
        super().publish(stream, event, at)
        self._owe(stream)

    def close(self, stream: Stream) -> None:
        super().close(stream)
        self._owe(stream)

    async def find(self, message: UUID) -> Mirror | None:
        with suppress(*AWAY, Unreadable):
            async with asyncio.timeout(SOON):
                attempt = await in_thread(attempt_at)(message)
                return await self._now_of((message, attempt)) if attempt else None
        return None

    async def until_over(self, stream: Stream) -> None:
        """Until whoever works on it has said its last word; not for long, since they may be dead."""
        with suppress(TimeoutError), self._mirrored(stream) as mirror:
            async with asyncio.timeout(LAST_WORD):
                await mirror.last_words(mirror.n)

    def waiting(self) -> float:
        """For how many seconds the oldest event waits that Redis has not taken yet."""
        now = time.monotonic()
        since = min([*self._owed.values(), *self._under_way.values()], default=now)
        return now - (since if self.away_since is None else self.away_since)

    async def end(self) -> None:
        """What ended a moment ago is still said."""
        if self._sending:
            with suppress(TimeoutError):
                async with asyncio.timeout(SOON):
                    await self._all_said.wait()
            self._sending.cancel()
        await super().end()
        self._ear.end()
        if self._redis:
            with suppress(*AWAY):
                await self._redis.aclose()

    # What is said here, to others

    def _owe(self, stream: Stream) -> None:
        if stream in self._outgoing:
            self._owed.setdefault(stream, time.monotonic())
            self._something.set()

    async def _keep_sending(self) -> None:
        pause = PAUSE
        while True:
            if not self._outgoing:
                self._all_said.set()
            await self._something.wait()
            self._something.clear()
            self._all_said.clear()
            try:
                while self._owed:
                    await self._send()
                    pause, self.away_since = PAUSE, None
                    await self._keep_distance()
            except AWAY as error:
                self._note_away(error)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    async def _keep_distance(self) -> None:
        now = time.monotonic()
        self._due = max(self._due, now) + TOGETHER
        if (soon := self._due - now - AT_ONCE * TOGETHER) > 0:
            await asyncio.sleep(soon)

    async def _send(self) -> None:
        """Everything that waits, at once. What comes meanwhile goes together after it."""
        await self._clock.keep_right(self.redis)
        self._under_way, self._owed = self._owed, {}
        speaking = map(self._outgoing.get, self._under_way)
        told = {each: each.tell(self._clock) for each in speaking if each}
        lost = await say(self.redis, [each for spoken in told.values() for each in spoken])
        self._under_way = {}
        for each in told:
            if each.key in lost:
                # Redis has lost its memory.
                each.begin_anew()
                self._owe(each.stream)
            elif each.has_said_over:
                del self._outgoing[each.stream]

    def _note_away(self, error: Exception) -> None:
        now, self._under_way = time.monotonic(), {}
        if self.away_since is None:
            self.away_since = now
            log.warning("Redis takes nothing, and is tried again: %s", type(error).__name__)
        for stream, each in tuple(self._outgoing.items()):
            each.begin_anew()
            self._owe(stream)
            if each.is_over and now - self.away_since > KEPT_AFTER_END:
                # Nobody waits for its last words by now.
                del self._outgoing[stream], self._owed[stream]

    # What is said elsewhere

    async def follow(self, mirror: Mirror) -> None:
        """As it is told; what may have been missed is read in the stream."""
        with self._ear.listening(key_of(mirror.stream), partial(_hear, mirror)) as torn:
            pause, known, moved = PAUSE, mirror.n, time.monotonic()
            while not mirror.over:
                with suppress(TimeoutError):
                    async with asyncio.timeout(SILENCE):
                        await torn.wait()
                if torn.is_set() or mirror.n == known:
                    torn.clear()
                    try:
                        await self._read_on(mirror)
                        pause = PAUSE
                    except (*AWAY, Unreadable):
                        await asyncio.sleep(pause)
                        pause = min(2 * pause, LONGEST_PAUSE)
                        torn.set()
                if mirror.n > known:
                    known, moved = mirror.n, time.monotonic()
                elif time.monotonic() - moved > SILENCE / 2:
                    moved = time.monotonic()
                    mirror.rest()

    async def _read_on(self, mirror: Mirror) -> None:
        if not await self._took_all(mirror, f"{mirror.n}-0"):
            # Something is missing: all of it is read again, and what is known left out.
            await self._took_all(mirror, FIRST)

    async def _took_all(self, mirror: Mirror, number: str) -> bool:
        async with self._reading:
            await self._clock.keep_right(self.redis)
            found = await entries_after(self.redis, key_of(mirror.stream), number)
        return all(_took(mirror, fields) for fields in found)

    async def _now_of(self, stream: Stream) -> Mirror:
        mirror = self.mirror(stream)
        if mirror is None or not mirror.n:
            mirror = Mirror(stream, self)
            await self._took_all(mirror, FIRST)
        return mirror


def _hear(mirror: Mirror, text: str) -> bool:
    """False where something before it is missing, or is not understood."""
    with suppress(Unreadable):
        if text == str(mirror.n):
            mirror.end()
            return True
        entry = Entry.of_text(text)
        if entry.after == mirror.n:
            mirror.note_lag(entry)
        return mirror.take_entry(entry)
    return False


def _took(mirror: Mirror, fields: Fields) -> bool:
    if OVER in fields:
        mirror.end()
        return True
    return mirror.take_entry(Entry.of_text(fields[SAID]))


class _Outgoing:
    """What of an attempt of this process Redis has."""

    def __init__(self, stream: Stream, running: Here) -> None:
        self.stream, self.key, self._running = stream, key_of(stream), running
        self._sent, self._is_new = 0, True
        self._facts: dict[str, Any] | None = None
        self.has_said_over = False

    @property
    def is_over(self) -> bool:
        return self._running.over

    def begin_anew(self) -> None:
        self._sent, self._facts, self._is_new, self.has_said_over = 0, None, True, False

    def tell(self, clock: BusClock) -> list[Utterance]:
        """What is still to be said. All but the first of a stream is refused where the stream is gone."""
        spoken = [self._spoken(entry.n, SAID, entry.to_text()) for entry in self._entries(clock)]
        if self._running.over:
            spoken.append(self._spoken(self._sent, OVER, str(self._sent)))
            self.has_said_over = True
        return spoken

    def _spoken(self, n: int, name: str, text: str) -> Utterance:
        begins, self._is_new = self._is_new, False
        self._sent = n
        if name == OVER:
            return Utterance(self.key, f"{n}-1", name, text, KEPT_AFTER_END, begins)
        return Utterance(self.key, f"{n}-0", name, text, KEPT_SECONDS if begins else 0, begins)

    def _entries(self, clock: BusClock) -> Iterator[Entry]:
        said = self._running.after(self._sent)
        origin = round(clock.now() - self._running.elapsed(), 3)
        for start in range(0, len(said), MOST):
            yield Entry(self._sent, origin, said[start : start + MOST], self._new_facts())

    def _new_facts(self) -> dict[str, Any] | None:
        facts = self._running.draft.facts
        if facts is self._facts:
            return None
        self._facts = facts
        return facts or {}
