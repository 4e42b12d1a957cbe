"""Database work from coroutines: one function is one transaction, on a few threads of our own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import close_old_connections, connection, connections

THREADS = 4
P = ParamSpec("P")
R = TypeVar("R")


class _Threads:
    """A few threads of our own: Django's async calls share a single one, where a quick query waits behind a slow one.
    `patience`: how long they wait for a locked SQLite, where that is not what others do."""

    def __init__(self, name: str, patience: float | None = None) -> None:
        self._name, self._patience = name, patience
        self._pool = self._fresh()

    def _fresh(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(THREADS, thread_name_prefix=self._name)

    def awaited(self, work: Callable[P, R]) -> Callable[P, Awaitable[R]]:
        def fresh(*args: P.args, **kwargs: P.kwargs) -> R:
            close_old_connections()
            try:
                self._be_as_patient()
                return work(*args, **kwargs)
            finally:
                _keep_files_open()
                close_old_connections()

        return sync_to_async(fresh, thread_sensitive=False, executor=self._pool)

    def _be_as_patient(self) -> None:
        if self._patience is not None and connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                cursor.execute(f"PRAGMA busy_timeout = {self._patience * 1000:.0f}")

    def close(self) -> None:
        together = Barrier(THREADS)

        def close() -> None:
            together.wait()
            connections.close_all()

        for _ in range(THREADS):
            self._pool.submit(close)
        self._pool.shutdown(wait=True)
        self._pool = self._fresh()


_readers = _Threads("database")
# While the database takes nothing, whoever only reads must not wait behind those who write; these try again by themselves.
_writers = _Threads("writing", patience=0.1)


def in_thread(work: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """The same function, to be awaited."""
    return _readers.awaited(work)


def in_writer(work: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """The same for what a turn writes."""
    return _writers.awaited(work)


def _keep_files_open() -> None:
    """A connection to SQLite costs more to make than most calls, and nobody else waits for it."""
    for each in connections.all(initialized_only=True):
        if each.vendor == "sqlite":
            each.close_at = None


def close_threads() -> None:
    """Ends the threads with their connections; the next call begins anew."""
    _readers.close()
    _writers.close()
