"""Turns as jobs: whoever asks only queues them, workers claim them, and who stops one is heard by whoever runs it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import UUID

from django.db import Error

from ...store import Branch, Claim, LiveTurn, in_thread
from ...store.changes import What, changed
from ...store.models import Message, Status
from ..heartbeat import HeartbeatThread
from ..locks import ProcessLock
from ..loop import World
from ..runner import EmbeddedRunner
from .jobs import enqueue
from .live import RedisLive
from .notices import tell_of_stop

log = logging.getLogger(__name__)

# What a worker has under way at a time.
PLACES = 500
AGAIN_SECONDS = 10.0
# So long a stop may take to stand.
STOP_SECONDS = 2.0


class JobRunner(EmbeddedRunner):
    """In a process that serves pages only what programs ask runs here; in one that works, `take` brings the rest."""

    def __init__(self, world: World, lock: ProcessLock, heartbeat: HeartbeatThread, live: RedisLive) -> None:
        super().__init__(world, lock, heartbeat)
        self._live = live
        self._places = asyncio.Semaphore(PLACES)
        self._taken: set[UUID] = set()
        # Which attempts this process queued anew, and when.
        self._queued_at: dict[tuple[UUID, int], float] = {}
        changed.connect(self._on_change)

    @property
    def queues_for(self) -> str:
        return ""

    async def begin(self, claim: Claim, *, branch: Branch | None = None) -> None:
        """Its job was made with it."""

    async def start(self, message: UUID, *, seen: int | None = None) -> None:
        """So was that of one that goes on."""

    @asynccontextmanager
    async def stopping(self, message: UUID) -> AsyncIterator[int | None]:
        """Whoever works on it elsewhere is asked to be silent first, so that all they said is known."""
        async with super().stopping(message) as attempt:
            yield attempt or await self._silenced(message)

    async def _silenced(self, message: UUID) -> int | None:
        attempt = await in_thread(_tell_to_be_silent)(message)
        if attempt:
            await self._live.until_over((message, attempt))
        return attempt

    def hear_stop(self, message: UUID, attempt: int) -> None:
        """Somebody elsewhere is about to stop it."""
        if self._attempts.get(message) == attempt:
            self._look_beside(self._be_silent(message))

    async def _be_silent(self, message: UUID) -> None:
        """Until the stop stands; should whoever stops it die before that, it goes on."""
        async with super().stopping(message):
            await asyncio.sleep(STOP_SECONDS)

    async def take(self, message: UUID, seen: int) -> None:
        """Works on the turn from now on; returns when there is a place for it."""
        await self._places.acquire()
        self._work(message, self._placed(message, seen))

    async def _placed(self, message: UUID, seen: int) -> None:
        self._taken.add(message)
        try:
            await self._run(message, seen)
        finally:
            self._taken.discard(message)
            self._places.release()

    @property
    def at_work(self) -> int:
        return len(self._tasks)

    async def drain(self) -> None:
        """Until nothing runs here any more."""
        while self._tasks:
            await asyncio.wait([task for tasks in self._tasks.values() for task in tasks])

    async def close(self) -> None:
        """What still runs goes on elsewhere at once."""
        changed.disconnect(self._on_change)
        left = [(message, self._attempts[message]) for message in self._taken if message in self._attempts]
        await super().close()
        for message, attempt in left:
            with suppress(Error):
                # Where this cannot be said, others hear it from the silence.
                await in_thread(enqueue)(message, attempt)

    def _on_change(self, what: What, message: UUID | None, **_: Any) -> None:
        """In the transaction that queues a turn."""
        if what == "turn queued" and message is not None:
            seen = _queued(message)
            if seen is not None:
                enqueue(message, seen)

    async def _go_on(self, turn: LiveTurn) -> None:
        """Where it waits in a long queue, it is not asked each second whether it does."""
        now, which = time.monotonic(), (turn.id, turn.attempt)
        self._queued_at = {each: at for each, at in self._queued_at.items() if now - at < AGAIN_SECONDS}
        if which not in self._queued_at:
            self._queued_at[which] = now
            await in_thread(enqueue)(turn.id, turn.attempt)


def _queued(message: UUID) -> int | None:
    return Message.objects.filter(pk=message, status=Status.QUEUED).values_list("attempt", flat=True).first()


def _tell_to_be_silent(message: UUID) -> int | None:
    """Where anybody is at work on it. At which attempt it stands."""
    row = Message.objects.filter(pk=message).values_list("attempt", "status").first()
    if row and row[1] == Status.RUNNING:
        tell_of_stop(message, row[0])
    return row and row[0]
