"""Between httpx and the network: each request goes to a connection of its own, or to one that was kept."""

from __future__ import annotations

import ssl
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from functools import partial

import httpx

from ..net.bodies import Hear
from ..net.dial import ANYWHERE, Guard
from ..net.guarded_network import Network
from .connection import ProviderConnection, connected

# So many connections are kept that nobody uses, and for so many seconds.
KEPT, KEPT_OPEN = 100, 30.0
Origin = tuple[bytes, bytes, int | None]


class Transport(httpx.AsyncBaseTransport):
    """As many connections as there are streams; no proxy, no retries, HTTP/1.1. Only to addresses that the guard allows."""

    def __init__(self, trust: ssl.SSLContext, *, guard: Guard = ANYWHERE) -> None:
        trust.set_alpn_protocols(["http/1.1"])
        self._trust, self.network = trust, Network(guard)
        self._open: set[ProviderConnection] = set()
        # Those that nobody uses; the one that was used last is used next.
        self._kept: dict[Origin, list[ProviderConnection]] = defaultdict(list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        seconds, url = request.extensions.get("timeout", {}), request.url
        origin = url.raw_scheme, url.raw_host, url.port
        connection = self._again(origin)
        if connection is None:
            connection = await connected(self.network, url, self._trust, seconds.get("connect"))
            self._open.add(connection)
        try:
            head = await connection.ask(request)
        except BaseException:
            self._close(connection)
            raise
        body = AnswerBody(connection, seconds.get("read"), partial(self._let_go, origin, connection))
        return httpx.Response(
            head.status_code, headers=head.headers.raw_items(), stream=body, extensions={"body": body}
        )

    def _again(self, origin: Origin) -> ProviderConnection | None:
        while kept := self._kept.get(origin):
            connection = kept.pop()
            if connection.is_quiet:
                return connection
            self._close(connection)
        return None

    def _let_go(self, origin: Origin, connection: ProviderConnection) -> None:
        """Its answer is read, or nobody wants the rest of it."""
        if connection.may_be_asked_again() and sum(map(len, self._kept.values())) < KEPT:
            self._kept[origin].append(connection)
            connection.close_after(KEPT_OPEN, partial(self._forget, origin, connection))
        else:
            self._close(connection)

    def _forget(self, origin: Origin, connection: ProviderConnection) -> None:
        self._kept[origin].remove(connection)
        self._close(connection)

    def _close(self, connection: ProviderConnection) -> None:
        self._open.discard(connection)
        connection.close()

    async def aclose(self) -> None:
        self._kept.clear()
        for connection in list(self._open):
            self._close(connection)


class AnswerBody(httpx.AsyncByteStream):
    """`let_go`: called once, when no more of it is read."""

    def __init__(
        self, connection: ProviderConnection, seconds: float | None, let_go: Callable[[], None]
    ) -> None:
        self._connection, self._seconds = connection, seconds
        self._let_go: Callable[[], None] | None = let_go

    @property
    def ends_with_connection(self) -> bool:
        """Then nobody can use that again, however far this is read."""
        return self._connection.ends_with_answer

    async def more(self, hear: Hear | None = None) -> bytes | None:
        """The next of it, and nothing at its end. While this waits, `hear` may take what comes; None when it wants to be looked at."""
        return await self._connection.more(self._seconds, hear)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while data := await self.more():
            yield data

    async def aclose(self) -> None:
        let_go, self._let_go = self._let_go, None
        if let_go:
            let_go()
