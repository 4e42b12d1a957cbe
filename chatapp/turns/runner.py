"""Starts and stops turns. Embedded: each is a task of this process, and what dead processes left is taken over."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import Protocol
from uuid import UUID

from django.db import Error
from django.utils import timezone

from .. import store
from ..models import Message, Status
from ..store import Fenced, in_thread
from .locks import ProcessLock
from .loop import World, run_turn

log = logging.getLogger(__name__)

TRIES = 3
TOO_OLD = timedelta(minutes=15)
LOOK_SECONDS = 5.0


class Runner(Protocol):
    """`name` is written on the turns that this process will run, in the transaction that makes them."""

    @property
    def name(self) -> str: ...

    async def start(self, message: UUID) -> None:
        """The queued turn begins."""

    def stopping(self, message: UUID) -> AbstractAsyncContextManager[None]:
        """Ends the work on the turn; inside the block it is being stopped in the rows."""


class EmbeddedRunner:
    def __init__(self, world: World, lock: ProcessLock) -> None:
        self._world, self._lock = world, lock
        self._tasks: dict[UUID, set[asyncio.Task[None]]] = {}
        self._stopping: Counter[UUID] = Counter()

    @property
    def name(self) -> str:
        return self._lock.name

    async def start(self, message: UUID, *, seen: int | None = None) -> None:
        attempt = seen if seen is not None else await in_thread(_queued_attempt)(message)
        if attempt is None:
            return
        # A turn outlives the request that asked for it, so it must not inherit the request's context.
        task = asyncio.create_task(self._run(message, attempt), context=contextvars.Context())
        self._tasks.setdefault(message, set()).add(task)
        task.add_done_callback(lambda done: self._forget(message, done))

    @asynccontextmanager
    async def stopping(self, message: UUID) -> AsyncIterator[None]:
        """No more is said, and until the block ends nobody here takes the turn for abandoned."""
        self._stopping[message] += 1
        for task in self._tasks.get(message, ()):
            task.cancel()
        try:
            yield
        finally:
            self._stopping[message] -= 1
            if not self._stopping[message]:
                del self._stopping[message]

    async def wait(self, message: UUID) -> None:
        """Until the turn's work here has ended, however it ended."""
        tasks = self._tasks.get(message)
        if tasks:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        """Cancels what runs; the rows stay as they are, and the next process goes on from them."""
        tasks = [task for group in self._tasks.values() for task in group]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._lock.release()

    async def recover(self) -> None:
        """Takes over the turns that nobody works on any more."""
        for row in await in_thread(store.load_live_turns)():
            if self._is_abandoned(row):
                try:
                    await self._take_over(row)
                except Exception as error:
                    # One damaged row must not keep the others from going on.
                    log.error("turn %s could not be taken over: %s", row.id, type(error).__name__)

    async def keep_recovering(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.recover()
            except Error as error:
                log.warning("abandoned turns were not looked for: %s", type(error).__name__)

    async def _run(self, message: UUID, seen: int) -> None:
        try:
            claim = await in_thread(store.claim)(message, runner=self.name, seen=seen)
        except Fenced:
            return
        await run_turn(claim, self._world)

    def _forget(self, message: UUID, task: asyncio.Task[None]) -> None:
        self._tasks[message].discard(task)
        if not self._tasks[message]:
            del self._tasks[message]
        if not task.cancelled() and (error := task.exception()):
            log.error("turn %s was left unfinished: %s", message, type(error).__name__)

    def _is_abandoned(self, row: Message) -> bool:
        if row.runner == self.name:
            return row.id not in self._tasks and row.id not in self._stopping
        return self._lock.is_free(row.runner, touched_at=row.touched_at)

    async def _take_over(self, row: Message) -> None:
        if row.tries >= TRIES or row.touched_at is None or timezone.now() - row.touched_at > TOO_OLD:
            await in_thread(store.interrupt)(row.id, attempt=row.attempt)
            log.warning("turn %s is interrupted after %s tries", row.id, row.tries)
        else:
            log.info("turn %s attempt %s is taken over", row.id, row.attempt)
            await self.start(row.id, seen=row.attempt)


def _queued_attempt(message: UUID) -> int | None:
    """None when it was found and claimed, or stopped, before its start."""
    return Message.objects.filter(status=Status.QUEUED, pk=message).values_list("attempt", flat=True).first()
