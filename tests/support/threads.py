"""Work in threads of its own, which meets other work in the database."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Event, Thread
from typing import Any

from django.db import connection

from chatapp.store import Fenced, Refused

from .patience import PATIENCE


class InThread:
    """Runs a function in a thread of its own; optionally frozen at its first statement that begins with `at`."""

    def __init__(self, work: Callable[[], Any], *, at: str = "") -> None:
        self.frozen, self.thaw, self.problem = Event(), Event(), None
        self._work, self._at = work, at
        self._thread = Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            be_unhurried()
            with connection.execute_wrapper(self._freeze):
                self._work()
        except Exception as problem:
            self.problem = problem
        finally:
            connection.close()

    def _freeze(self, execute, sql, params, many, context):
        if self._at and sql.startswith(self._at) and not self.thaw.is_set():
            self.frozen.set()
            assert self.thaw.wait(PATIENCE)
        return execute(sql, params, many, context)

    def finished(self, within: float) -> bool:
        self._thread.join(within)
        return not self._thread.is_alive()


def be_unhurried() -> None:
    """Who meets others waits for them however busy the machine is; the product would say soon that it cannot. On PostgreSQL
    connections are few, and who has one in hand before the others do keeps them from theirs."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000}")


def race(*works: Callable[[], Any]) -> list[bool]:
    """All at once; which of them went through."""
    line, won = Barrier(len(works)), [False] * len(works)

    def run(n: int) -> None:
        line.wait(PATIENCE)
        won[n] = works[n]() is not False

    racers = [InThread(lambda n=n: run(n)) for n in range(len(works))]
    assert all(racer.finished(PATIENCE) for racer in racers)
    assert all(isinstance(racer.problem, Fenced | Refused | None) for racer in racers)
    return won
