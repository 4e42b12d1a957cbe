"""Database work from coroutines: one function is one transaction, on a few threads of our own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import close_old_connections, connections

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 4
# Django's own async calls share a single thread, where a quick query waits behind a slow one.
_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="database")


def in_thread(work: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """The same function, to be awaited."""

    def fresh(*args: P.args, **kwargs: P.kwargs) -> R:
        close_old_connections()
        try:
            return work(*args, **kwargs)
        finally:
            _keep_files_open()
            close_old_connections()

    return sync_to_async(fresh, thread_sensitive=False, executor=_pool)


def _keep_files_open() -> None:
    """A connection to SQLite costs more to make than most calls, and nobody else waits for it."""
    for connection in connections.all(initialized_only=True):
        if connection.vendor == "sqlite":
            connection.close_at = None


def close_threads() -> None:
    """Ends the threads with their connections; the next call begins anew."""
    global _pool
    together = Barrier(THREADS)

    def close() -> None:
        together.wait()
        connections.close_all()

    for _ in range(THREADS):
        _pool.submit(close)
    _pool.shutdown(wait=True)
    _pool = ThreadPoolExecutor(THREADS, thread_name_prefix="database")
