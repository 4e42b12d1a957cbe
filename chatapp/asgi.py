"""HTTP and sockets joined. The start of the server, or else the first scope of any kind, sets the engine to work."""

from __future__ import annotations

import logging
import os
from asyncio import Lock, Semaphore, timeout
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatapp.settings")

import django
from channels.routing import ProtocolTypeRouter
from django.db import Error

from .config.logs import kind
from .config.patience import Queue, patience
from .pages.door.at_once import AtOnce

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[Any]]

log = logging.getLogger(__name__)

# Of the pages made at a time, those that may write: where each waits for a database that is locked, with a connection of the pool that all
# share, the others still read.
WRITERS = 6
# So many are made side by side, unless one is kept waiting for so many seconds: letters share the interpreter with each of them.
SIDE_BY_SIDE, KEPT_WAITING = 2, 0.05
_READS = ("GET", "HEAD", "OPTIONS")


class AwakeAtFirstScope:
    """Servers other than ours tell nobody that they start, so there the first scope wakes the engine."""

    def __init__(self, application: Application, start: Callable[[], Awaitable[None]]) -> None:
        self._application, self._start = application, start
        self._one_at_a_time, self._awake = Lock(), False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._awake:
            await self.wake()
        await self._application(scope, receive, send)

    async def wake(self) -> None:
        """Once, however often and from wherever it is called; what a dead process left goes on."""
        async with self._one_at_a_time:
            if self._awake:
                return
            try:
                await self._start()
                self._awake = True
            except Error as error:
                # The page that tells of a lost database must come all the same; the next scope tries again.
                log.error("The engine could not start: %s", kind(error))


async def start_engine() -> None:
    # Its rows cannot be imported before Django is set up.
    from .turns.engine import engine

    await engine().start()


class AtMost:
    """Serves so many requests at a time, and not all of them to writers; each takes a thread and what its page needs. The others
    wait their turn."""

    def __init__(self, application: Application, most: int, writers: int) -> None:
        self._application, self._places, self._to_write = application, AtOnce(most), AtOnce(writers)
        self._side_by_side = AtOnce(SIDE_BY_SIDE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if rest := await self._answered(scope, receive, send):
            await rest

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None] | None:
        """With what is still to be sent, for which nobody needs a place."""
        with patience():
            async with AsyncExitStack() as held:
                queue = Queue()
                if scope["method"] not in _READS:
                    await held.enter_async_context(self._to_write())
                await held.enter_async_context(self._places())
                await held.enter_async_context(_place_soon(self._side_by_side()))
                queue.leave()
                rest: Awaitable[None] | None = await self._application(scope, receive, send)
                return rest


@asynccontextmanager
async def _place_soon(places: Semaphore) -> AsyncIterator[None]:
    """One of these, or none where none is free in time: whoever has one may be waiting for the database."""
    has_place = True
    try:
        async with timeout(KEPT_WAITING):
            await places.acquire()
    except TimeoutError:
        has_place = False
    try:
        yield
    finally:
        if has_place:
            places.release()


django.setup()
# Their rows cannot be imported before Django is set up either.
from .gateway.served.routes import programs, responding_socket  # noqa: E402
from .live.urls import sockets  # noqa: E402
from .pages.door import daphne as daphne_door  # noqa: E402
from .pages.door.capped import Capped  # noqa: E402
from .pages.door.handler import PageHandler  # noqa: E402
from .store.database.threads import PAGES  # noqa: E402

# Whoever runs Daphne has imported this before it listens.
daphne_door.install()
pages = AtMost(PageHandler(), PAGES, WRITERS)


async def http_application(scope: Scope, receive: Receive, send: Send) -> None:
    """Programs are answered for minutes, and take no page's place."""
    await (programs if scope["path"].startswith("/v1/") else pages)(scope, receive, send)


async def socket_application(scope: Scope, receive: Receive, send: Send) -> None:
    await (responding_socket if scope["path"] == "/v1/responses" else sockets)(scope, receive, send)


http = Capped(http_application)

application = AwakeAtFirstScope(
    ProtocolTypeRouter({"http": http, "websocket": socket_application}), start_engine
)
