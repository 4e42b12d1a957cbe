"""What others say, as Redis tells it to this process: over one connection, however much is watched here."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.client import PubSub

from ..elsewhere.live import beside
from .redis import ANSWER_SECONDS, AWAY, LONGEST_PAUSE, PAUSE

# Nothing is ever said here: the line has to be at something, and whoever asks for it again hears whether Redis is still there.
KNOCK = "turn:"
# False where something before it is missing.
Hear = Callable[[str], bool]


class _Listener:
    """`torn`: something may have been said that it did not hear."""

    def __init__(self, hear: Hear) -> None:
        self.hear, self.torn = hear, asyncio.Event()


class Ear:
    def __init__(self, redis: Callable[[], Redis]) -> None:
        self._redis = redis
        self._listeners: dict[str, _Listener] = {}
        # What Redis has been asked to tell over the line that there is.
        self._asked: set[str] = set()
        self._changed = asyncio.Event()
        # By the monotonic clock.
        self._heard_at = 0.0
        self._hearing: asyncio.Task[None] | None = None

    @contextmanager
    def listening(self, name: str, hear: Hear) -> Iterator[asyncio.Event]:
        """What is said at `name` is heard while the block lasts. The event that this gives is set as soon as that is so, and again
        whenever it may not have been so for a while."""
        listener = self._listeners[name] = _Listener(hear)
        if name in self._asked:
            listener.torn.set()
        self._changed.set()
        if self._hearing is None:
            self._hearing = beside(self._keep_hearing())
        try:
            yield listener.torn
        finally:
            # Another may have come in its place.
            if self._listeners.get(name) is listener:
                del self._listeners[name]
            self._changed.set()

    def end(self) -> None:
        if self._hearing:
            self._hearing.cancel()

    async def _keep_hearing(self) -> None:
        pause = PAUSE
        while True:
            began = time.monotonic()
            try:
                await self._hear()
            except* AWAY:
                # Those who listen read what there is meanwhile, as soon as they can.
                pass
            pause = PAUSE if self._heard_at > began else min(2 * pause, LONGEST_PAUSE)
            await asyncio.sleep(pause)

    async def _hear(self) -> None:
        """Until Redis goes away."""
        self._asked = set()
        async with self._redis().pubsub() as line:
            await line.subscribe(KNOCK)
            async with asyncio.TaskGroup() as together:
                together.create_task(self._keep_asking(line))
                together.create_task(self._keep_knocking(line))
                async for told in line.listen():
                    self._take(told)

    async def _keep_asking(self, line: PubSub) -> None:
        while True:
            self._changed.clear()
            wanted = set(self._listeners)
            more, gone = wanted - self._asked, self._asked - wanted
            self._asked = wanted
            if more:
                await line.subscribe(*more)
            if gone:
                await line.unsubscribe(*gone)
            await self._changed.wait()

    async def _keep_knocking(self, line: PubSub) -> None:
        """A line that was cut somewhere in the middle looks like one on which nobody speaks."""
        while True:
            knocked = time.monotonic()
            await line.subscribe(KNOCK)
            await asyncio.sleep(ANSWER_SECONDS)
            if self._heard_at < knocked:
                raise TimeoutError

    def _take(self, told: dict[str, Any]) -> None:
        self._heard_at = time.monotonic()
        listener = self._listeners.get(told["channel"])
        if listener is None:
            return
        if told["type"] == "subscribe" or (told["type"] == "message" and not listener.hear(told["data"])):
            listener.torn.set()
