"""Carries out what turns write, one after the other for each turn, and tries again until it stands."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.db import Error, InterfaceError, InternalError, OperationalError

from ... import store
from ...core.items import Item
from ...store import Claim, Fenced, Seen, in_thread, in_writer
from ...store.models import LIVE, Message
from ...store.rows import tell_of, with_owner
from .journal import Journal, Record, journals_in, left_behind, read_all, take_journal
from .writes import NOTED, Write, understood

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
# The database is locked, full, or away: that passes. Anything else comes again, however often it is tried.
PASSING = (OperationalError, InterfaceError, InternalError)
PAUSE, LONGEST_PAUSE = 0.05, 0.5
# Reading is not what a lock forbids: so long it may take.
READ_SECONDS = 0.1
OVERDUE_SECONDS = 15.0


class Keeper:
    """`folder`: where the journals of all processes lie that share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._journal: Journal | None = None
        # The newest write of each turn that has one under way, which those after it wait for.
        self._newest: dict[UUID, asyncio.Task[bool]] = {}
        self._ends: dict[UUID, Write] = {}
        # When each journal of others was last changed, of which nothing is left to do.
        self._settled: dict[Path, int] = {}
        self._settling = asyncio.Lock()
        self._telling: set[asyncio.Task[None]] = set()
        # What was tried last was refused, and since when.
        self._troubled_since: float | None = None
        self._wait_for_trouble: set[asyncio.Future[None]] = set()
        # The database has taken nothing for so long that whoever can go should go.
        self.overdue = asyncio.Event()
        self._warned = False
        self._take_journal()

    def patiently(self, work: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
        """The same, tried again while the database is in trouble."""

        async def tried(*args: P.args, **kwargs: P.kwargs) -> R:
            pause = PAUSE
            while True:
                try:
                    done = await work(*args, **kwargs)
                except PASSING as error:
                    self._note_trouble(error)
                else:
                    self._troubled_since = None
                    self.overdue.clear()
                    return done
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

        return tried

    @property
    def is_in_trouble(self) -> bool:
        """Whether the database took nothing when it was last tried."""
        return self._troubled_since is not None

    def begin(self, write: Write) -> asyncio.Task[bool]:
        """Done when it stands; Fenced where the turn has changed hands. Whoever waits for it leaves it under way."""
        message = write.claim.message
        record = self._note(write) if write.name in NOTED else None
        if write.is_end:
            self._ends[message] = write
        task = asyncio.create_task(self._until_it_stands(write, record, self._newest.get(message)))
        self._newest[message] = task
        task.add_done_callback(lambda done: self._forget(write, done))
        return task

    async def stop(self, message: UUID, seen: Seen | None, *, attempt: int, by: str) -> bool:
        """A fact when this returns: it is written, or the database is in trouble, and the journal has it. False where the turn
        had ended."""
        claim = Claim(message, attempt)
        task = self.begin(Write(name="stop", claim=claim, seen=seen, by=by))
        trouble = self._told_of_trouble()
        signs: set[asyncio.Future[Any]] = {task, trouble}
        await asyncio.wait(signs, return_when=asyncio.FIRST_COMPLETED)
        trouble.cancel()
        if task.done():
            return task.result()
        self._tell(message)
        return await _seems_to_be(claim)

    def is_ending(self, message: UUID) -> bool:
        """Whether it has ended, which no row says yet."""
        return message in self._ends

    def keeps(self, message: UUID) -> bool:
        """Whether something of this turn is still to be written by this process."""
        return message in self._newest

    def is_stopped(self, message: UUID) -> bool:
        """Whether that is how it ended."""
        end = self._ends.get(message)
        return end is not None and end.name == "stop"

    @property
    def stopped(self) -> set[UUID]:
        """The turns that were stopped, which no row says yet."""
        return set(filter(self.is_stopped, tuple(self._ends)))

    def known(self, row: Message, items: Sequence[Item]) -> tuple[Message, Sequence[Item]]:
        """The row and its items, with a stop that is not written yet."""
        end = self._ends.get(row.pk)
        if end is None or end.name != "stop" or row.status not in LIVE:
            return row, items
        return store.as_stopped(row, items, end.seen, end.by)

    async def stands(self, message: UUID, *, within: float) -> bool:
        """Whether everything of this turn is written, now or soon."""
        if message in self._newest:
            await asyncio.wait({self._newest[message]}, timeout=within)
        return message not in self._newest

    async def settle(self) -> None:
        """Writes what was left in the journals of processes that are gone."""
        async with self._settling:
            await self._settle_all()

    async def _settle_all(self) -> None:
        self._take_journal()
        if self._journal:
            await _settle(self._journal)
        own = self._journal and self._journal.path
        for path in journals_in(self._folder):
            if path != own:
                # It is held by a living process, or cannot be read.
                with suppress(OSError):
                    await self._settle_what_changed(path)

    async def _settle_what_changed(self, path: Path) -> None:
        if self._settled.get(path) != _changed_at(path):
            with left_behind(path) as journal:
                await _settle(journal)
                self._settled[path] = _changed_at(path)

    def noted(self) -> set[UUID]:
        """The turns of which any process of this folder has something to write: nobody takes them over before."""
        return {write.claim.message for write in understood(read_all(self._folder))}

    async def close(self) -> None:
        """What is not written stays in the journal; the next process writes it."""
        tasks = list(self._newest.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._journal:
            self._journal.close()
            self._journal = None

    async def _until_it_stands(
        self, write: Write, record: Record | None, before: asyncio.Task[bool] | None
    ) -> bool:
        if before:
            await asyncio.wait({before})
        try:
            stood = await self.patiently(in_writer(write.carry_out))()
        except Exception:
            # It was fenced, or can never be written.
            self._wipe(record)
            raise
        self._wipe(record)
        return stood

    def _note_trouble(self, error: Error) -> None:
        now = time.monotonic()
        if self._troubled_since is None:
            self._troubled_since = now
            log.info("the database takes nothing, and is tried again: %s", type(error).__name__)
            if self._journal:
                self._journal.sync()
        for waiting in tuple(self._wait_for_trouble):
            if not waiting.done():
                waiting.set_result(None)
        if now - self._troubled_since > OVERDUE_SECONDS and not self.overdue.is_set():
            self.overdue.set()
            log.warning(
                "the database has taken nothing for %.0f s: %s", OVERDUE_SECONDS, type(error).__name__
            )

    def _told_of_trouble(self) -> asyncio.Future[None]:
        """Done when the database is in trouble, now or later."""
        told = asyncio.get_running_loop().create_future()
        if self.is_in_trouble:
            told.set_result(None)
        else:
            self._wait_for_trouble.add(told)
            told.add_done_callback(self._wait_for_trouble.discard)
        return told

    def _tell(self, message: UUID) -> None:
        """No row is written yet, so nothing else tells those who watch."""
        task = asyncio.create_task(_after_the_end(message))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    def _note(self, write: Write) -> Record | None:
        if self._journal is None:
            return None
        record = self._journal.note(write.to_text())
        if record is None and write.bare:
            record = self._journal.note(write.bare.to_text())
        if record is None:
            log.warning("turn %s: %s could not be noted beforehand", write.claim.message, write.name)
        return record

    def _wipe(self, record: Record | None) -> None:
        if record and self._journal:
            self._journal.forget(record)

    def _forget(self, write: Write, task: asyncio.Task[bool]) -> None:
        message = write.claim.message
        if self._newest.get(message) is task:
            del self._newest[message]
        if self._ends.get(message) is write:
            del self._ends[message]
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, Fenced):
            log.error("turn %s: %s could not be written: %s", message, write.name, type(error).__name__)

    def _take_journal(self) -> None:
        if self._journal is None:
            try:
                self._journal = take_journal(self._folder)
            except OSError as error:
                if not self._warned:
                    log.warning("nothing can be noted in DATA_DIR/run beforehand: %s", error)
                self._warned = True


async def _seems_to_be(claim: Claim) -> bool:
    """Whether the stop of this attempt stands, or will. Where that cannot be read, it will."""
    with suppress(Error, TimeoutError):
        return await asyncio.wait_for(in_thread(_is_or_can_be_stopped)(claim), READ_SECONDS)
    return True


def _is_or_can_be_stopped(claim: Claim) -> bool:
    live = Message.objects.filter(pk=claim.message, status__in=LIVE)
    return live.exists() or store.has_been_stopped(claim)


async def _after_the_end(message: UUID) -> None:
    with suppress(Error, ObjectDoesNotExist):
        await in_thread(_tell_of_end)(message)


def _tell_of_end(message: UUID) -> None:
    tell_of(with_owner(Message.objects.all()).only("conversation_id").get(pk=message), "turn ended")


def _changed_at(path: Path) -> int:
    return path.stat().st_mtime_ns


async def _settle(journal: Journal) -> None:
    """In the order in which it was noted. What the database does not take now stays, and all that follows it."""
    for record in journal.left.copy():
        for write in understood([record.text]):
            try:
                await in_writer(write.carry_out)()
            except PASSING:
                raise
            except Fenced:
                log.info("turn %s attempt %s went on elsewhere", write.claim.message, write.claim.attempt)
            except Exception as error:
                # What can never be written must not keep the rest from being written.
                log.error("turn %s: %s is lost: %s", write.claim.message, write.name, type(error).__name__)
            else:
                log.info("turn %s: %s of a process that is gone is written", write.claim.message, write.name)
        journal.forget(record)
        journal.left.remove(record)
