"""Live events through Redis: a stream for each attempt, written by whoever runs it, and read once by each process that watches."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID

from redis.asyncio import Redis

from ...core.draft import Draft
from ...core.events import Event
from ...store import attempt_at, in_thread
from ..elsewhere.entries import MOST, Entry, Unreadable
from ..elsewhere.live import Mirror, MirroringLive, beside
from ..live import SOON, Here, Stream
from .redis import AWAY, BLOCK_SECONDS, FIRST, BusClock, Command, Fields, connected, entries_after

log = logging.getLogger(__name__)

# A turn is over long before; and those who watch its end have read it soon.
KEPT_SECONDS, KEPT_AFTER_END = 3600, 60
# Between two tries while Redis is away.
PAUSE, LONGEST_PAUSE = 0.1, 1.0
# So long a stop waits for the last word of whoever is stopped.
LAST_WORD = 0.15
SAID, OVER = "e", "x"


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
        self._outgoing: dict[Stream, _Outgoing] = {}
        # What is still to be said, and what is under way; since when, by the monotonic clock.
        self._owed: dict[Stream, float] = {}
        self._under_way: dict[Stream, float] = {}
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
            except AWAY as error:
                self._note_away(error)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    async def _send(self) -> None:
        """Everything that waits, at once. What comes meanwhile goes together after it."""
        await self._clock.keep_right(self.redis)
        self._under_way, self._owed = self._owed, {}
        speaking = map(self._outgoing.get, self._under_way)
        told = [(each, each.tell(self._clock)) for each in speaking if each]
        pipeline = self.redis.pipeline(transaction=False)
        for _, commands in told:
            for command in commands:
                pipeline.execute_command(*command)
        answers = iter(await pipeline.execute())
        self._under_way = {}
        for each, commands in told:
            if None in [next(answers) for _ in commands]:
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
        pause, rested = PAUSE, time.monotonic()
        while not mirror.over:
            try:
                found = await self._more_of(mirror, f"{mirror.n}-0")
                pause = PAUSE
            except (*AWAY, Unreadable):
                await asyncio.sleep(pause)
                found, pause = False, min(2 * pause, LONGEST_PAUSE)
            if found:
                rested = time.monotonic()
            elif time.monotonic() - rested > BLOCK_SECONDS / 2:
                rested = time.monotonic()
                mirror.rest()

    async def _more_of(self, mirror: Mirror, number: str) -> bool:
        await self._clock.keep_right(self.redis)
        found = await entries_after(self.redis, key_of(mirror.stream), number, wait=BLOCK_SECONDS)
        for fields in found:
            if not _took(mirror, fields, is_news=number != FIRST):
                # Something is missing: all of it is read again, and what is known left out.
                return number != FIRST and await self._more_of(mirror, FIRST)
        return bool(found)

    async def _now_of(self, stream: Stream) -> Mirror:
        mirror = self.mirror(stream)
        if mirror is None or not mirror.n:
            await self._clock.keep_right(self.redis)
            mirror = Mirror(stream, self)
            for fields in await entries_after(self.redis, key_of(stream)):
                _took(mirror, fields)
        return mirror


def _took(mirror: Mirror, fields: Fields, *, is_news: bool = False) -> bool:
    """`is_news`: it was waited for."""
    if OVER in fields:
        mirror.end()
        return True
    entry = Entry.of_text(fields[SAID])
    if is_news:
        mirror.note_lag(entry)
    return mirror.take_entry(entry)


class _Outgoing:
    """What of an attempt of this process Redis has."""

    def __init__(self, stream: Stream, running: Here) -> None:
        self.stream, self._running = stream, running
        self._sent, self._is_new = 0, True
        self._facts: dict[str, Any] | None = None
        self.has_said_over = False

    @property
    def is_over(self) -> bool:
        return self._running.over

    def begin_anew(self) -> None:
        self._sent, self._facts, self._is_new, self.has_said_over = 0, None, True, False

    def tell(self, clock: BusClock) -> list[Command]:
        """The commands for what is still to be said. All but the first of a stream are refused where the stream is gone."""
        key = key_of(self.stream)
        commands: list[Command] = []
        if self._is_new:
            commands = [("DEL", key)]
        for entry in self._entries(clock):
            only = () if self._is_new else ("NOMKSTREAM",)
            commands.append(("XADD", key, *only, f"{entry.n}-0", SAID, entry.to_text()))
            if self._is_new:
                commands.append(("EXPIRE", key, KEPT_SECONDS))
            self._sent, self._is_new = entry.n, False
        if self._running.over:
            only = () if self._is_new else ("NOMKSTREAM",)
            commands.append(("XADD", key, *only, f"{self._sent}-1", OVER, ""))
            commands.append(("EXPIRE", key, KEPT_AFTER_END))
            self.has_said_over = True
        return commands

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
