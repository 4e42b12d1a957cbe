"""Database work from coroutines: one function is one transaction, on a few threads of our own."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from math import inf
from threading import Barrier
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import async_to_sync, sync_to_async
from django.db import Error, close_old_connections, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from ...config.patience import Queue, is_counted, left, patience, stop_waiting, waiting
from .trouble import Waited, trouble_in

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 4
# So many pages are made at a time.
PAGES = 16
# Seconds that need not be told to the database anew.
NEARLY = 0.05
# So long waits what can be left out, and what tries again by itself.
SOON = 0.1


class _Threads:
    """A few threads of our own: Django's async calls share a single one, where a quick query waits behind a slow one.
    `seconds`: how long each of their calls waits for the database, where that is not what its caller has left."""

    def __init__(self, name: str, seconds: float | None = None, *, count: int = THREADS) -> None:
        self._name, self._seconds, self._count = name, seconds, count
        self.pool = self._fresh()

    def _fresh(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._count, thread_name_prefix=self._name)

    def awaited(self, work: Callable[P, R]) -> Callable[P, asyncio.Future[R]]:
        """Begins when it is called."""

        def awaited(*args: P.args, **kwargs: P.kwargs) -> asyncio.Future[R]:
            queue = Queue()

            def fresh() -> R:
                with self._patience(queue):
                    return _fresh(work, *args, **kwargs)

            # As asgiref would, without what only a caller of coroutines needs: none of these calls one.
            loop, context = asyncio.get_running_loop(), contextvars.copy_context()
            return loop.run_in_executor(self.pool, context.run, fresh)

        return awaited

    def _patience(self, queue: Queue) -> AbstractContextManager[None]:
        if self._seconds is not None:
            return patience(self._seconds, anew=True)
        queue.leave()
        refuse_late()
        return nullcontext()

    def exchange(self) -> Callable[[], None]:
        """From here on other threads do the work. What this gives ends those before, with their connections, when they have done theirs."""
        before, self.pool = self.pool, self._fresh()
        together = Barrier(self._count)

        def close() -> None:
            together.wait()
            connections.close_all()

        def end() -> None:
            for _ in range(self._count):
                before.submit(close)
            before.shutdown(wait=True)

        return end


_readers = _Threads("database")
# While the database takes nothing, whoever only reads must not wait behind those who write; these try again by themselves.
_writers = _Threads("writing", SOON)
_pages = _Threads("page", count=PAGES)
_page_made: float | None = None
# Which loop waits for this page.
_waits: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar("waits", default=None)


def in_thread(work: Callable[P, R]) -> Callable[P, asyncio.Future[R]]:
    """The same function, to be awaited."""
    return _readers.awaited(work)


def in_writer(work: Callable[P, R]) -> Callable[P, asyncio.Future[R]]:
    """The same for what a turn writes."""
    return _writers.awaited(work)


def in_page_thread(work: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """The same for a whole page, which waits for those above, and whose own wait was counted before it came here."""

    async def awaited(*args: P.args, **kwargs: P.kwargs) -> R:
        global _page_made
        _page_made = time.monotonic()
        _waits.set(asyncio.get_running_loop())
        return await sync_to_async(_fresh, thread_sensitive=False, executor=_pages.pool)(
            work, *args, **kwargs
        )

    return awaited


def refuse_late() -> None:
    """Whoever has waited for as long as may be, before it came to a thread, is not asked to wait for the database as well."""
    if is_counted() and not left():
        raise Waited("every thread waits for the database")


def on_its_loop(work: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs) -> None:
    """Does it on the loop that waits for the page that this thread makes, soon, and nobody waits for it."""

    async def done() -> None:
        await work(*args, **kwargs)

    if loop := _waits.get():
        loop.call_soon_threadsafe(loop.create_task, done())
    else:
        async_to_sync(done)()


def since_last_page() -> float | None:
    """Seconds; None where these threads have made none."""
    return None if _page_made is None else time.monotonic() - _page_made


def _fresh(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What a call leaves of its connection is what the next one finds."""
    try:
        return work(*args, **kwargs)
    except Error as error:
        if trouble_in(error):
            stop_waiting()
        raise
    finally:
        close_old_connections()


def if_possible(write: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
    """For a write that may be left out where whoever came only reads: None where it cannot be made now."""
    try:
        with patience(SOON), _hurrying():
            return write(*args, **kwargs)
    except Error as error:
        if trouble_in(error) is None:
            raise
        return None


@contextmanager
def _hurrying() -> Iterator[None]:
    """SQLite is told before each write; PostgreSQL for one transaction."""
    if connection.vendor != "postgresql":
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = {SOON * 1000:.0f}")
        yield


def close_threads() -> None:
    """Ends the threads with their connections; the next call begins anew."""
    exchange_threads()()


def exchange_threads() -> Callable[[], None]:
    """Called by the event loop, it holds up nobody; what it gives, which ends those before, waits."""
    global _page_made
    _page_made = None
    ends = [threads.exchange() for threads in (_readers, _writers, _pages)]

    def end() -> None:
        for each in ends:
            each()

    return end


class _Patient:
    """On a connection to SQLite: who waits for the lock waits no longer than is left."""

    def __init__(self) -> None:
        self._told = inf

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        connection = context["connection"]
        # Inside a transaction the lock is held, and whoever only reads needs none.
        if connection.in_atomic_block or sql.startswith("SELECT"):
            return execute(sql, params, many, context)
        self._tell(connection, left())
        with waiting():
            return execute(sql, params, many, context)

    def _tell(self, connection: BaseDatabaseWrapper, seconds: float) -> None:
        if abs(seconds - self._told) > NEARLY:
            connection.connection.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")
            self._told = seconds


def make_patient(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Called for each new connection."""
    if connection.vendor == "sqlite":
        before = [wrap for wrap in connection.execute_wrappers if not isinstance(wrap, _Patient)]
        connection.execute_wrappers[:] = [_Patient(), *before]
