"""The network below httpx: asyncio's own sockets, without the layers that cost half of every small read, and the one place
where an address that may not be connected to is refused."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpcore
import httpx

from ..core.addresses import is_public

READ_AHEAD = 256 * 1024
KEPT_OPEN = 30.0
# After this long the host's next address is tried too.
NEXT_ADDRESS = 0.25
MOST_TRIED = 4


class NotSecure(httpcore.ConnectError):
    """Somebody is there, but not provably who was asked for."""


class NotAllowed(httpcore.ConnectError):
    """The name leads where this provider may not be."""


async def resolved(host: str, port: int) -> Sequence[str]:
    rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(row[4][0]) for row in rows))


@dataclass(frozen=True, slots=True)
class Guard:
    """Where a name leads, asked for once, and whether one may go there."""

    resolve: Callable[[str, int], Awaitable[Sequence[str]]] = resolved
    allows: Callable[[str], bool] = is_public

    async def addresses(self, host: str, port: int) -> Sequence[str]:
        """One that is not allowed makes the others suspicious too."""
        found = await self.resolve(host, port)
        if not found:
            raise OSError("not found")
        if not all(map(self.allows, found)):
            raise NotAllowed("not in the public web")
        return found[:MOST_TRIED]


PUBLIC = Guard()


class Transport(httpx.AsyncBaseTransport):
    """As many connections as there are streams; no proxy, no retries, HTTP/1.1. With a guard only to addresses that it allows."""

    def __init__(self, context: ssl.SSLContext, *, guard: Guard | None = None) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=None,
            max_keepalive_connections=100,
            keepalive_expiry=KEPT_OPEN,
            network_backend=_Network(guard),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        content, extensions = request.stream, request.extensions
        asked = httpcore.Request(
            request.method, target, headers=request.headers.raw, content=content, extensions=extensions
        )
        answer = await self._pool.handle_async_request(asked)
        body = _Body(answer.stream)
        return httpx.Response(
            answer.status, headers=answer.headers, stream=body, extensions=answer.extensions
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[bytes]:
        stream: AsyncIterator[bytes] = aiter(self._stream)
        return stream

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Network(httpcore.AsyncNetworkBackend):
    def __init__(self, guard: Guard | None) -> None:
        self._guard = guard

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        async with _connecting(timeout):
            addresses = await self._guard.addresses(host, port) if self._guard else [host]
            share = timeout and timeout / len(addresses)
            for address in addresses[:-1]:
                with suppress(OSError):
                    return await _reached(address, port, share)
            return await _reached(addresses[-1], port, share)


async def _reached(host: str, port: int, timeout: float | None) -> httpcore.AsyncNetworkStream:
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(timeout):
        _, inbox = await loop.create_connection(_Inbox, host, port, happy_eyeballs_delay=NEXT_ADDRESS)
    return _Stream(inbox)


@asynccontextmanager
async def _connecting(timeout: float | None) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(timeout):
            yield
    except TimeoutError:
        raise httpcore.ConnectTimeout("no connection in time") from None
    except ssl.SSLError as error:
        raise NotSecure(str(error)) from None
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError(str(error)) from None


class _Inbox(asyncio.Protocol):
    """What has arrived and was not read yet."""

    def __init__(self) -> None:
        self.held = bytearray()
        self.ended = False
        self.error: Exception | None = None
        self._paused = False
        self._arrival: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.use(transport)

    def use(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.held += data
        if len(self.held) > READ_AHEAD and not self._paused:
            self._paused = True
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self.ended = True
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        self.ended, self.error = True, error
        self._wake()

    def _wake(self) -> None:
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)

    async def arrival(self, timeout: float | None) -> None:
        """Until there is something to read, or nothing more to come."""
        loop = asyncio.get_running_loop()
        self._arrival = loop.create_future()
        # asyncio.timeout costs several microseconds more, and this happens for every word.
        timer = loop.call_later(timeout, self._give_up) if timeout is not None else None
        try:
            await self._arrival
        finally:
            self._arrival = None
            if timer is not None:
                timer.cancel()

    def _give_up(self) -> None:
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_exception(httpcore.ReadTimeout("nothing arrived in time"))

    def take(self, most: int) -> bytes:
        data = bytes(self.held[:most])
        del self.held[:most]
        if self._paused and not self.held:
            self._paused = False
            self.transport.resume_reading()
        return data


class _Stream(httpcore.AsyncNetworkStream):
    def __init__(self, inbox: _Inbox) -> None:
        self._inbox = inbox

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        inbox = self._inbox
        if not inbox.held and not inbox.ended:
            await inbox.arrival(timeout)
        if not inbox.held and inbox.error is not None:
            raise httpcore.ReadError(str(inbox.error))
        return inbox.take(max_bytes)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if self._inbox.transport.is_closing():
            raise httpcore.WriteError("closed by the other side")
        self._inbox.transport.write(buffer)

    async def aclose(self) -> None:
        self._inbox.transport.abort()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        inbox, loop = self._inbox, asyncio.get_running_loop()
        async with _connecting(timeout):
            secured = await loop.start_tls(
                inbox.transport, inbox, ssl_context, server_hostname=server_hostname
            )
            assert secured is not None
        inbox.use(secured)
        return self

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            return self._inbox.ended or bool(self._inbox.held)
        return self._inbox.transport.get_extra_info(info)
