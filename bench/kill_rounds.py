"""The rounds of the kill bench: start, kill, check, start again; at the end leave it alone, and check once more."""

from __future__ import annotations

import asyncio
import math
import multiprocessing
import os
import signal
import textwrap
import time
from collections import Counter
from itertools import cycle, product
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from random import Random
from typing import Any

from django.core.management import call_command
from django.db import OperationalError, connection

from chatapp import store
from chatapp.store.models import Message, Status
from chatapp.turns.keep.keeper import Keeper

from . import kill_child
from .checker import Checker
from .kill_child import AFTER_A_CALL, SIDES, WRITES, Orders
from .shut import Lock
from .successor import Takeover, be_impatient, take_over
from .witness import read

FINISH_WITHIN = 90.0
FUSE_WITHIN = 2.5
WOKEN_WITHIN = 1.5


def run(
    folder: Path, random: Random, rounds: int, *, minutes: float, shut: tuple[float, float], **whole: bool
) -> list[str]:
    """At most so many rounds, and none begins after so many minutes."""
    # One connection, so that any other is a process's under test.
    connection.settings_dict["OPTIONS"].pop("pool", None)
    call_command("migrate", verbosity=0)
    be_impatient()
    bench = Bench(folder, random, shut=shut, **whole)
    began, done = time.monotonic(), 0
    while done < rounds and time.monotonic() < began + minutes * 60 and not bench.is_caught:
        bench.round(done)
        done += 1
    if not bench.is_caught:
        bench.finish(done)
    bench.report(time.monotonic() - began)
    connection.close()
    return bench.breaches


class Bench:
    """`shut`: for how long at least and at most the database takes nothing, when it does."""

    def __init__(
        self,
        folder: Path,
        random: Random,
        *,
        shut: tuple[float, float],
        fenced: bool = True,
        begun: bool = True,
        noted: bool = True,
    ) -> None:
        self.folder, self.random, self.shut = folder, random, shut
        self.fenced, self.begun, self.noted = fenced, begun, noted
        self.checker, self.breaches = Checker(), list[str]()
        self._lock, self._died = Lock(), math.inf
        self.ways: Counter[str] = Counter()
        self.phases: Counter[str] = Counter()
        self.fuses_burnt: Counter[tuple[str, str]] = Counter()
        self.seen: Counter[str] = Counter()
        points = list(product(WRITES, SIDES)) if begun else [AFTER_A_CALL]
        random.shuffle(points)
        self._points = cycle(points)
        self._way = cycle(self._ways())
        # Processes are forked from one that has imported everything and opened nothing.
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["bench.ready", kill_child.__name__])

    def _ways(self) -> list[str]:
        """A broken build is killed where it is broken."""
        if not self.fenced:
            return ["freeze"]
        if not self.begun:
            return ["fuse"]
        return ["moment", "fuse", "freeze", "fuse", "shut"] if self.noted else ["shut"]

    @property
    def is_caught(self) -> bool:
        """A broken build has shown it."""
        return bool(self.breaches) and not (self.fenced and self.begun and self.noted)

    def round(self, number: int) -> None:
        way = next(self._way)
        fuse = self._fuse() if way == "fuse" else None
        child = self._start(number, fuse=fuse)
        match way:
            case "fuse":
                child.join(FUSE_WITHIN)
            case "freeze":
                self._freeze(number, child)
            case "shut":
                self._shut(child)
            case _:
                time.sleep(self.random.uniform(0.02, 0.8))
        alive = child.is_alive()
        self._kill(child)
        self.ways["at a write" if fuse and not alive else "at a moment"] += 1
        self._lock.open()
        self._check(number)

    def finish(self, number: int) -> None:
        child = self._start(number, finishing=True)
        child.join(FINISH_WITHIN)
        if child.exitcode != 0:
            self._say([f"Left alone, it did not finish: exit code {child.exitcode}."])
        self._kill(child)
        self._check(number)
        self._say(self.checker.end())

    def _start(
        self, number: int, *, fuse: tuple[str, str] | None = None, finishing: bool = False
    ) -> ForkServerProcess:
        orders = Orders(
            folder=self.folder,
            witness=self._witness(number),
            seed=self.random.randrange(10**9),
            fuse=fuse,
            fenced=self.fenced,
            begun=self.begun,
            noted=self.noted,
            finishing=finishing,
        )
        child = self._context.Process(target=kill_child.serve, args=(orders,), daemon=True)
        child.start()
        return child

    def _witness(self, number: int) -> Path:
        return self.folder / f"witness-{number}.jsonl"

    def _fuse(self) -> tuple[str, str]:
        """The next point; interruptions are rare, so they are taken when one is due."""
        due = Message.objects.filter(status__in=(Status.QUEUED, Status.RUNNING), tries__gte=3).exists()
        missing = [side for side in SIDES if not self.fuses_burnt["interrupt", side]]
        return ("interrupt", missing[0]) if due and missing else next(self._points)

    def _kill(self, child: ForkServerProcess) -> None:
        if child.is_alive():
            os.kill(child.pid or 0, signal.SIGKILL)
        self._died = time.monotonic()
        child.join()
        if child.exitcode not in (0, -signal.SIGKILL):
            self._say([f"The process ended by itself with code {child.exitcode}."])

    def _check(self, number: int) -> None:
        _wait_for_the_servers_side()
        lines = read(self._witness(number))
        self._count(lines)
        # What the dead process had noted is written by whoever comes next, before anything else.
        asyncio.run(_settle(self.folder))
        self._say(self.checker.look(lines, died=self._died), f"round {number}: ")

    def _say(self, found: list[str], place: str = "") -> None:
        """Each breach once, although it is found again in each round to come."""
        new = [breach for breach in found if breach not in self.breaches]
        for breach in new:
            print(place + textwrap.shorten(breach, 400), flush=True)
        self.breaches += new

    def _count(self, lines: list[dict[str, Any]]) -> None:
        """Where the death found the turns and the writes of this process."""
        turns = {line["message"]: line["phase"] for line in lines if line["what"] == "phase"}
        self.phases.update(phase for phase in turns.values() if phase)
        inside: Counter[str] = Counter()
        for line in lines:
            if line["what"] in ("enters", "leaves"):
                inside[line["write"]] += 1 if line["what"] == "enters" else -1
        self.phases.update(f"in the transaction of {name}" for name in inside.elements())
        self.fuses_burnt.update((line["write"], line["side"]) for line in lines if line["what"] == "fuse")
        self.seen.update(line["what"] for line in lines)
        if not any(line["what"] == "up" for line in lines):
            self.phases["at its start"] += 1

    def _freeze(self, number: int, child: ForkServerProcess) -> None:
        """Stops the process in the middle; another takes one of its turns over and ends it, before or after it wakes."""
        time.sleep(self.random.uniform(0.15, 0.6))
        taken = self._take_over(child)
        early = self.random.random() < 0.5
        if taken and early:
            try:
                taken.finish()
                self.checker.remember(taken.claim.message)
            except OperationalError:
                # Somebody was stopping the turn there, and holds its row until the process wakes.
                early, taken = False, taken.seen_again()
        os.kill(child.pid or 0, signal.SIGCONT)
        if taken:
            self._let_it_try(number, str(taken.claim.message))
        if taken and not early:
            self._say([late] if (late := taken.late_words()) else [])
            _finish(taken)

    def _shut(self, child: ForkServerProcess) -> None:
        """The database takes nothing for a while; the process may die before it does again."""
        time.sleep(self.random.uniform(0.3, 0.8))
        self._lock.shut(but=_own_process())
        time.sleep(self.random.uniform(*self.shut))
        if not self.noted or self.random.random() < 0.5:
            self.ways["while the database was shut"] += 1
            return
        self._lock.open()
        time.sleep(self.random.uniform(0, 0.6))
        self.ways["after the database was shut"] += 1

    def _let_it_try(self, number: int, message: str) -> None:
        """Until the process that has woken up has tried to write to its former turn, and some time more."""
        woken = time.monotonic()
        while time.monotonic() < woken + WOKEN_WITHIN:
            time.sleep(0.02)
            tries = (
                line
                for line in read(self._witness(number))
                if line["what"] == "leaves" and line["at"] > woken
            )
            if any(line["message"] == message for line in tries):
                self.ways["woken and tried to write"] += 1
                break
        time.sleep(self.random.uniform(0.1, 0.3))

    def _take_over(self, child: ForkServerProcess) -> Takeover | None:
        for _ in range(40):
            os.kill(child.pid or 0, signal.SIGSTOP)
            taken = take_over(self.random)
            if taken:
                self.ways["frozen and taken over before"] += 1
                return taken
            os.kill(child.pid or 0, signal.SIGCONT)
            time.sleep(0.02)
        return None

    def report(self, seconds: float) -> None:
        turns = Message.objects.filter(role="assistant")
        attempts = sum(turns.values_list("attempt", flat=True))
        broken = "" if self.fenced else ", WITHOUT THE FENCE"
        broken += "" if self.begun else ", WITHOUT A WORD BEFORE CALLS"
        broken += "" if self.noted else ", WITHOUT A JOURNAL"
        print(f"{connection.display_name}{broken}: {seconds:.0f} s")
        print("kills:", ", ".join(f"{count} {way}" for way, count in self.ways.items()))
        print(f"turns: {turns.count()} in {attempts} attempts")
        print(
            f"stops {self.seen['stopped']}, went on {self.seen['goes on']}, decisions {self.seen['decided']}"
        )
        print(f"items: {self.seen['stored']} times stored before witnesses; tool runs {self.seen['effect']}")
        print(
            f"fault points: {len(self.fuses_burnt)} of {len(WRITES) * len(SIDES)} hit, {self.fuses_burnt.total()} times"
        )
        for phase, count in sorted(self.phases.items(), key=lambda row: -row[1]):
            print(f"  {count:5} {phase}")
        print(f"breaches: {len(self.breaches)}", flush=True)


def _finish(taken: Takeover) -> None:
    """As soon as it can: somebody who stops the turn may hold its row."""
    while True:
        try:
            return taken.finish()
        except OperationalError:
            taken = taken.seen_again()


async def _settle(folder: Path) -> None:
    keeper = Keeper(folder / "run")
    try:
        await keeper.settle()
    finally:
        await keeper.close()
    store.close_threads()


def _own_process() -> int:
    """Of the connection that goes on looking while everybody else is shut out."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def _wait_for_the_servers_side() -> None:
    """What a dead process had sent is still carried out; PostgreSQL tells when it is through."""
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    while connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(others)
            if cursor.fetchone() == (0,):
                return
        time.sleep(0.005)
