"""Starts and stops turns. Embedded: each is a task of this process, and what dead processes left is taken over."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from datetime import timedelta
from typing import Any, Protocol
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.db import Error

from .. import store
from ..store import Branch, Claim, Fenced, LiveTurn, in_thread, in_writer
from ..store.changes import turn_lost
from ..store.models import Message, Status
from .heartbeat import HeartbeatThread
from .keep.keeper import PASSING, Keeper
from .locks import ProcessLock
from .loop import World, run_turn
from .notices import Notice

log = logging.getLogger(__name__)

TRIES = 3
TOO_OLD = timedelta(minutes=15)
# So long it may take until a program's request, whose row says already that it runs, is at work. Nobody could take it over.
JUST_MADE = timedelta(seconds=10)
LOOK_SECONDS = 1.0


class Runner(Protocol):
    """`name` is written on the turns that this process will run, in the transaction that makes them."""

    @property
    def name(self) -> str: ...

    @property
    def queues_for(self) -> str:
        """The name that turns bear which are made here; none where whoever comes to them first may claim them."""

    async def begin(self, claim: Claim, *, branch: Branch | None = None) -> None:
        """The turn begins that was claimed for this process when it was made. `branch`: what it follows, where that is read."""

    async def start(self, message: UUID, *, seen: int | None = None) -> None:
        """The queued turn begins. `seen`: the attempt that it stands at, where that is known."""

    def accompany(self, claim: Claim, task: asyncio.Task[None]) -> None:
        """The turn is at work in this task, and ends with it: a request of a program, which nobody else can answer."""

    def expecting(self) -> AbstractContextManager[None]:
        """From any thread: inside the block a turn is written that begins here before the block ends."""

    def stopping(self, message: UUID) -> AbstractAsyncContextManager[int | None]:
        """Ends the work on the turn; inside the block it is being stopped in the rows. Gives the attempt that was at work here."""


class EmbeddedRunner:
    def __init__(self, world: World, lock: ProcessLock, heartbeat: HeartbeatThread) -> None:
        self._world, self._lock, self._heartbeat = world, lock, heartbeat
        self._tasks: dict[UUID, set[asyncio.Task[None]]] = {}
        # The newest attempt at each turn that this process has claimed, or is about to.
        self._attempts: dict[UUID, int] = {}
        # Since when turns are being written that are about to begin here, by the monotonic clock.
        self._coming: dict[object, float] = {}
        self._stopping: Counter[UUID] = Counter()
        self._looking: set[asyncio.Task[None]] = set()

    @property
    def name(self) -> str:
        return self._lock.name

    @property
    def queues_for(self) -> str:
        return self.name

    def is_gone(self, runner: str) -> bool:
        """Whether that was a process of this folder. Of those elsewhere this knows nothing."""
        return self._lock.is_free(runner)

    @property
    def _keeper(self) -> Keeper:
        return self._world.keeper

    async def begin(self, claim: Claim, *, branch: Branch | None = None) -> None:
        if self._attempts.get(claim.message, 0) <= claim.attempt:
            self._attempts[claim.message] = claim.attempt
            self._work(claim.message, run_turn(claim, self._world, is_new=True, branch=branch))

    @contextmanager
    def expecting(self) -> Iterator[None]:
        one = object()
        self._coming[one] = time.monotonic()
        try:
            yield
        finally:
            del self._coming[one]

    async def start(self, message: UUID, *, seen: int | None = None) -> None:
        self._work(message, self._run(message, seen))

    def accompany(self, claim: Claim, task: asyncio.Task[None]) -> None:
        self._attempts[claim.message] = claim.attempt
        self._note(claim.message, task)

    def _work(self, message: UUID, turn: Coroutine[Any, Any, None]) -> None:
        # A turn outlives the request that asked for it, so it must not inherit the request's context.
        self._note(message, asyncio.create_task(turn, context=contextvars.Context()))

    def _note(self, message: UUID, task: asyncio.Task[None]) -> None:
        self._heartbeat.begin()
        self._tasks.setdefault(message, set()).add(task)
        task.add_done_callback(lambda done: self._forget(message, done))

    @asynccontextmanager
    async def stopping(self, message: UUID) -> AsyncIterator[int | None]:
        """No more is said, and until the block ends nobody here takes the turn for abandoned."""
        self._stopping[message] += 1
        attempt = self._attempts.get(message)
        for task in self._tasks.get(message, ()):
            task.cancel()
        try:
            yield attempt
        finally:
            self._stopping[message] -= 1
            if not self._stopping[message]:
                del self._stopping[message]

    def hear(self, notice: Notice) -> None:
        """Somebody elsewhere ended a turn that runs here, or took it over, it seems."""
        if notice.what in ("turn began", "turn ended") and notice.message in self._tasks:
            self._look_beside(self._fall_silent(notice.message))

    def _look_beside(self, work: Coroutine[Any, Any, None]) -> None:
        looking = asyncio.create_task(work, context=contextvars.Context())
        self._looking.add(looking)
        looking.add_done_callback(self._looking.discard)

    async def _fall_silent(self, message: UUID) -> None:
        try:
            attempt = await in_thread(store.attempt_at)(message)
        except Error:
            # The next write finds out.
            return
        if attempt is None or attempt > self._attempts.get(message, attempt):
            for task in self._tasks.get(message, ()):
                task.cancel()

    async def wait(self, message: UUID) -> None:
        """Until the turn's work here has ended, however it ended."""
        tasks = self._tasks.get(message)
        if tasks:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        """Cancels what runs; the rows stay as they are, and the next process goes on from them."""
        tasks = [*self._looking, *(task for group in self._tasks.values() for task in group)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(self._heartbeat.end)
        self._lock.release()

    async def recover(self) -> None:
        """Writes what dead processes had still to write, then takes over the turns that nobody works on any more."""
        await self._keeper.settle()
        turns = await in_thread(store.load_live_turns)()
        if turns:
            self._heartbeat.begin()
        for turn in self._abandoned(turns):
            try:
                await self._take_over(turn)
            except Exception as error:
                # One damaged row must not keep the others from going on. What passes is tried again at the next look.
                level = logging.WARNING if isinstance(error, PASSING) else logging.ERROR
                log.log(level, "turn %s could not be taken over: %s", turn.id, type(error).__name__)

    async def keep_recovering(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.recover()
            except Error as error:
                log.warning("abandoned turns were not looked for: %s", type(error).__name__)

    async def _run(self, message: UUID, seen: int | None) -> None:
        if seen is None:
            seen = await self._keeper.patiently(in_thread(_queued_attempt))(message)
        if seen is None or self._attempts.get(message, 0) > seen:
            return
        self._attempts[message] = seen + 1
        try:
            claiming = self._keeper.patiently(in_writer(_claim))
            claim, branch = await claiming(message, runner=self.name, seen=seen)
        except Fenced:
            return
        await run_turn(claim, self._world, branch=branch)

    def _forget(self, message: UUID, task: asyncio.Task[None]) -> None:
        self._tasks[message].discard(task)
        if not self._tasks[message]:
            del self._tasks[message]
            self._attempts.pop(message, None)
        if not task.cancelled() and (error := task.exception()):
            log.error("turn %s was left unfinished: %s", message, type(error).__name__)

    def _abandoned(self, turns: Sequence[LiveTurn]) -> list[LiveTurn]:
        silent = self._heartbeat.silent(turn for turn in turns if turn.runner != self.name)
        found = [turn for turn in turns if self._is_abandoned(turn, silent)]
        noted = self._keeper.noted() if found else set()
        return [turn for turn in found if turn.id not in noted]

    def _is_abandoned(self, turn: LiveTurn, silent: set[UUID]) -> bool:
        if turn.runner == self.name:
            here = turn.id in self._tasks or turn.id in self._stopping or self._is_just_made(turn)
            return not here and not self._keeper.keeps(turn.id)
        return self._lock.is_free(turn.runner) or turn.id in silent

    def _is_just_made(self, turn: LiveTurn) -> bool:
        """It must not be given up in the moment between its row and its task. Of a program's request nobody says when that is."""
        if turn.untouched is None:
            return False
        coming = max((time.monotonic() - since for since in tuple(self._coming.values())), default=0.0)
        return turn.untouched < (JUST_MADE if turn.tries >= TRIES else timedelta(seconds=coming))

    async def _take_over(self, turn: LiveTurn) -> None:
        goes_on = turn.tries < TRIES and turn.untouched is not None and turn.untouched <= TOO_OLD
        if goes_on and not turn.runner:
            # Nobody had begun it: only what was to wake somebody may be lost.
            await self._go_on(turn)
            return
        await in_thread(turn_lost.send_robust)(sender=None, turn=turn, goes_on=goes_on)
        if not goes_on:
            await in_writer(store.interrupt)(turn.id, attempt=turn.attempt)
            log.warning("turn %s is interrupted after %s tries", turn.id, turn.tries)
        else:
            log.info("turn %s attempt %s is taken over", turn.id, turn.attempt)
            await self._go_on(turn)

    async def _go_on(self, turn: LiveTurn) -> None:
        await self.start(turn.id, seen=turn.attempt)


def _claim(message: UUID, *, runner: str, seen: int) -> tuple[Claim, Branch | None]:
    """With what is sent of it, where that can be read. Whoever lost the connection meanwhile finds it written: only one task of a process
    tries this for an attempt."""
    try:
        claim = store.claim_turn(message, runner=runner, seen=seen)
    except Fenced:
        if not store.has_claimed(message, runner=runner, attempt=seen + 1):
            raise
        claim = Claim(message, seen + 1)
    # Of damaged rows the turn itself says what there is to say.
    with suppress(ValueError, TypeError, KeyError, ObjectDoesNotExist):
        return claim, store.load_branch(message)
    return claim, None


def _queued_attempt(message: UUID) -> int | None:
    """None when it was found and claimed, or stopped, before its start."""
    return Message.objects.filter(status=Status.QUEUED, pk=message).values_list("attempt", flat=True).first()
