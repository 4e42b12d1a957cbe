"""Plays faults in two lanes at once: what disturbs those who work, and everything else. Between stretches it is quiet, and all is
looked at."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from random import Random
from typing import Any
from uuid import UUID

import psycopg

from bench.faults.busyness import Busyness
from bench.faults.crowd import Crowd
from bench.faults.house import WEBS, House, OurProcess
from bench.faults.journal import Figures
from bench.faults.witness import RowWitness, RunningTurn
from bench.faults.words import PLAIN
from chatapp.pages.signed_in import ASK_AGAIN_SECONDS, UNANSWERED_SECONDS

QUIET_SECONDS = 240.0
LOOK_SECONDS = 0.1
# A turn whose process is gone goes on by then, or it is stuck; and so soon it should.
TAKEN_WITHIN, TAKEN_SOON = 60.0, 15.0
FLOWS_WITHIN = 20.0
# What was closed a moment after a trouble was closed by it.
AFTERWARDS = 8.0
BUSY = ", on a busy machine"


class Director:
    """`troubles`: whose sockets may be closed, since when and until when."""

    def __init__(self, house: House, crowd: Crowd, witness: RowWitness) -> None:
        self.house, self.crowd, self._witness = house, crowd, witness
        self.figures = Figures()
        self.random = Random(0)
        self._troubles: list[tuple[str, float, float]] = []
        self._disturbed: set[str] = set()
        # Those that hear nothing of Redis.
        self._deaf: set[str] = set()

    async def play(
        self, lanes: Sequence[Sequence[Callable[[Director], Awaitable[None]]]], names: Sequence[str]
    ) -> Figures:
        """One stretch: each lane plays its faults one after the other."""
        self.figures = Figures(faults=list(names))
        self.crowd.may_ask.set()
        await self._until_all_are_answered()
        await asyncio.gather(*(self._play_lane(lane) for lane in lanes))
        await asyncio.to_thread(self.house.heal)
        self.crowd.may_ask.clear()
        await self._end_stretch()
        return self.figures

    async def _play_lane(self, lane: Sequence[Callable[[Director], Awaitable[None]]]) -> None:
        for fault in lane:
            try:
                await fault(self)
            except Exception as error:
                self.breach(f"the bench itself broke: {error!r}")
            await asyncio.sleep(self.random.uniform(0.2, 1.2))

    async def _until_all_are_answered(self) -> None:
        most = 0.9 * self.crowd.size
        await self.crowd.until(lambda: len(self.crowd.reading) >= most, 20)
        await asyncio.sleep(3)

    async def _end_stretch(self) -> None:
        if not await self.crowd.is_quiet(QUIET_SECONDS):
            self.breach(
                f"{len(self.crowd.reading)} people still read {QUIET_SECONDS:.0f} s after the last fault"
            )
        found = await asyncio.to_thread(self._witness.breaches, self.crowd.continued)
        lost = [f"the bench itself lost somebody: {why}" for why in self.crowd.lost()]
        self.figures.breaches += [*self.crowd.breaches, *self._unasked_closings(), *found, *lost]
        self.figures.sights = dict(self.crowd.sights)
        self.crowd.breaches.clear()
        self.crowd.sights.clear()
        self._troubles.clear()

    def breach(self, words: str) -> None:
        self.figures.breaches.append(f"{time.strftime('%H:%M:%S')} {words}")

    def skip(self, words: str) -> None:
        self.figures.skipped.append(words)

    # Whose sockets may be closed

    @asynccontextmanager
    async def trouble(self, machine: str) -> AsyncIterator[None]:
        """There its sockets may be closed, and its turns may stand still."""
        began = time.monotonic()
        self._disturbed.add(machine)
        try:
            yield
        finally:
            self._disturbed.discard(machine)
            self._troubles.append((machine, began, time.monotonic()))

    async def away(self, doing: Awaitable[object]) -> None:
        """PostgreSQL, meanwhile: a process that cannot ask for so long who is still signed in closes its sockets."""
        began = time.monotonic()
        await doing
        ended = time.monotonic()
        if ended - began > UNANSWERED_SECONDS - ASK_AGAIN_SECONDS:
            self._troubles += [(machine, began, ended) for machine in WEBS]
            self.skip(
                f"PostgreSQL was away for {ended - began:.0f} s, so sockets that were closed then are not told"
            )

    @contextmanager
    def deaf(self, machine: str) -> Iterator[None]:
        """No words go out or come in there, and nothing else is wrong."""
        self._deaf.add(machine)
        try:
            yield
        finally:
            self._deaf.discard(machine)

    def _unasked_closings(self) -> list[str]:
        """Sockets that were closed although nothing was done to whoever served them."""
        wrong = [
            f"{_o_clock(at)} a socket of {machine} was closed with {code}, and nothing was done to {machine}"
            for at, machine, code in self.crowd.closings
            if not any(
                who == machine and began - 1 <= at <= ended + AFTERWARDS
                for who, began, ended in self._troubles
            )
        ]
        self.crowd.sights["sockets closed"] += len(self.crowd.closings)
        self.crowd.closings.clear()
        return wrong

    # What is measured

    async def turns_of(self, process: OurProcess) -> list[RunningTurn]:
        rows = await self._rows("status = 'running' AND runner = %s", process.runner)
        return rows

    async def await_take_over(self, kind: str, turns: Sequence[RunningTurn], began: float) -> None:
        """Of turns whose process is gone since `began`."""
        busyness, left = Busyness(), {turn.id: turn for turn in turns}
        taken: list[float] = []
        while left and time.monotonic() < began + TAKEN_WITHIN:
            await asyncio.sleep(LOOK_SECONDS)
            rows = await self._rows("id = ANY(%s)", list(left))
            at = time.monotonic()
            for row in rows:
                if row.attempt > left[row.id].attempt or row.status not in ("running", "queued"):
                    # What ended by its own last word was not taken over.
                    if row.attempt > left[row.id].attempt:
                        taken.append(at - began)
                    del left[row.id]
        # A machine that has no time tells nothing of those that wait for it.
        busy = BUSY if busyness.is_much else ""
        self.figures.note(self.figures.taken, kind + busy, taken)
        late = [each for each in taken if each > TAKEN_SOON]
        if late and not busy:
            self.breach(
                f"{kind}: {len(late)} of {len(taken)} turns were taken over late, the last after {max(late):.1f} s"
            )
        for turn in left.values():
            self.breach(
                f"{kind}: turn {turn.id} at attempt {turn.attempt} was not taken over within {TAKEN_WITHIN:.0f} s"
            )

    async def taken_of(self, turns: Sequence[RunningTurn]) -> int:
        """How many of these somebody has taken over."""
        before = {turn.id: turn.attempt for turn in turns}
        return sum(row.attempt > before[row.id] for row in await self._rows("id = ANY(%s)", list(before)))

    async def await_words(self, kind: str, began: float, *, of: str = "") -> None:
        """On pages of answers that do nothing but speak, of processes that nothing was done to. `of`: that run or are read there."""
        busyness, wrong = Busyness(), self._disturbed | self._deaf
        healthy = {worker.runner for name, worker in self.house.workers.items() if name not in wrong}
        running = [row for row in await self._rows("status = 'running'") if row.runner in healthy]
        speaking = {str(row.id): self.house.runners[row.runner] for row in running}
        pages = [
            person.page
            for person in self.crowd.reading
            if person.model == PLAIN and not person.is_slow and not person.leaves
            if person.page and person.page.screen and person.page.is_listening and person.page.told.words_at
            if person.page.at not in wrong and person.page.screen.leaf in speaking
            if of in ("", person.page.at, speaking[person.page.screen.leaf])
        ]
        told = [page.told for page in pages]
        over = time.monotonic() + FLOWS_WITHIN
        disturbed = set(wrong)
        while time.monotonic() < over and any(each.words_at < began for each in told):
            await asyncio.sleep(0.05)
            disturbed |= self._disturbed | self._deaf
        if disturbed == wrong:
            busy = BUSY if busyness.is_much else ""
            waited = [max(0.0, each.words_at - began) for each in told]
            self.figures.note(self.figures.flows, kind + busy, waited)
            silent = sum(each.words_at < began for each in told)
            if silent:
                self.breach(
                    f"{kind}: {silent} of {len(told)} pages were told no word within {FLOWS_WITHIN:.0f} s"
                )

    async def _rows(self, where: str, *values: Any) -> list[RunningTurn]:
        return await asyncio.to_thread(self._read, where, values)

    def _read(self, where: str, values: Sequence[Any]) -> list[RunningTurn]:
        """However often the database goes away meanwhile."""
        query = (
            f"SELECT id, attempt, runner, status FROM chatapp_message WHERE role = 'assistant' AND {where}"
        )
        while True:
            with suppress(psycopg.Error), self.house.postgres.connect() as connected:
                rows = connected.execute(query, values).fetchall()
                return [RunningTurn(UUID(str(row[0])), *row[1:]) for row in rows]
            time.sleep(LOOK_SECONDS)

    async def start(self, process: OurProcess) -> None:
        await asyncio.to_thread(self.house.start, process)

    async def pause(self, least: float, most: float) -> None:
        await asyncio.sleep(self.random.uniform(least, most))


def _o_clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(time.time() - time.monotonic() + at))
