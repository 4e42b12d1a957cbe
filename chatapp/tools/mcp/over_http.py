"""A server at an address: each connection goes to an address that was looked up once and checked, never to another."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, cast

import httpcore2
import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from ...net.dial import ANYWHERE, PUBLIC, NotAllowed, NotFound
from ...net.guarded_network import Network
from .server_place import FORGOTTEN, FRAME, PIECES, TOO_LONG, TOO_MANY, Problem, ServerAddress, pieces

CONNECT = 5.0
# Longer than any call waits: what has not come by then, nobody reads.
ANSWER = 75.0
GOODBYE = 2.0
# Between two times that the server ends the stream of its news and is asked for another.
BETWEEN = 1.0
# A request that is meant to stay open.
_LISTENS = "subscriptions/listen"


@asynccontextmanager
async def reached(address: ServerAddress) -> AsyncIterator[TransportStreams]:
    headers = {"accept-encoding": "identity", "user-agent": "thoughtline"}
    if address.key:
        headers["authorization"] = f"Bearer {address.key}"
    transport = _Transport(await asyncio.to_thread(_tls), private=address.private)
    timeout = httpx2.Timeout(None, connect=CONNECT, write=CONNECT)
    async with (
        httpx2.AsyncClient(
            transport=transport, headers=headers, timeout=timeout, trust_env=False, follow_redirects=False
        ) as client,
        streamable_http_client(address.url, http_client=client, max_sse_event_size=FRAME) as streams,
    ):
        yield streams


@cache
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)


class _Transport(httpx2.AsyncBaseTransport):
    """No proxy, no cookies of ours, nothing followed, nothing unpacked, nothing endless."""

    def __init__(self, context: ssl.SSLContext, *, private: bool) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=context,
            max_connections=50,
            max_keepalive_connections=4,
            network_backend=cast(
                httpcore2.AsyncNetworkBackend, Network(ANYWHERE if private else PUBLIC, httpcore2)
            ),
        )
        self._listened = 0.0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            await self._calmly()
        until = _deadline(request)
        try:
            async with asyncio.timeout_at(until):
                answer = await self._pool.handle_async_request(_as_core(request))
        except TimeoutError:
            return httpx2.Response(504)
        except NotFound:
            raise Problem("Its name was not found.") from None
        except NotAllowed:
            raise Problem("Its address is in a private network, which is not allowed for it.") from None
        body = _Body(answer.stream, until)
        response = httpx2.Response(
            answer.status, headers=answer.headers, stream=body, extensions=answer.extensions
        )
        if response.status_code == 404 and "mcp-session-id" in request.headers:
            await response.aclose()
            return _forgotten()
        if sentence := _why_not_used(response):
            await response.aclose()
            raise Problem(sentence)
        body.endless = response.headers.get("content-type", "").startswith("text/event-stream")
        return response

    async def _calmly(self) -> None:
        loop = asyncio.get_running_loop()
        wait = self._listened + BETWEEN - loop.time()
        self._listened = loop.time() + max(wait, 0)
        if wait > 0:
            await asyncio.sleep(wait)

    async def aclose(self) -> None:
        await self._pool.aclose()


def _deadline(request: httpx2.Request) -> float | None:
    now = asyncio.get_running_loop().time()
    if request.method == "GET" or request.headers.get("mcp-method") == _LISTENS:
        return None
    return now + (GOODBYE if request.method == "DELETE" else ANSWER)


def _as_core(request: httpx2.Request) -> httpcore2.Request:
    url = request.url
    return httpcore2.Request(
        request.method,
        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=request.stream,
        extensions=request.extensions,
    )


def _forgotten() -> httpx2.Response:
    """In our own words, so that nobody else can say it: only then is a call made again."""
    error = {"code": -32600, "message": FORGOTTEN}
    return httpx2.Response(404, json={"jsonrpc": "2.0", "id": None, "error": error})


def _why_not_used(response: httpx2.Response) -> str:
    if response.status_code in (401, 403):
        return f"It refuses us ({response.status_code}): its key is missing or wrong."
    if 300 <= response.status_code < 400:
        return f"It answers with a redirect ({response.status_code}), which is not followed."
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        return "It sends packed answers, which were not asked for."
    return ""


class _Late(httpx2.StreamError):
    """Answered to a call that nobody waits for any more."""


class _Body(httpx2.AsyncByteStream):
    """`endless`: the limit is one of each event, and the official package keeps it."""

    def __init__(self, stream: Any, until: float | None) -> None:
        self._stream, self._until = stream, until
        self._size = self._pieces = 0
        self.endless = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        rest = aiter(self._stream)
        while True:
            try:
                async with asyncio.timeout_at(self._until):
                    data = await anext(rest)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise _Late("too late") from None
            self._count(data)
            yield data

    def _count(self, data: bytes) -> None:
        if self.endless and (b"\n\n" in data or b"\r\n\r\n" in data):
            self._size = self._pieces = 0
        self._size += len(data)
        self._pieces += pieces(data)
        if self._size > FRAME:
            raise Problem(TOO_LONG)
        if self._pieces > PIECES:
            raise Problem(TOO_MANY)

    async def aclose(self) -> None:
        await self._stream.aclose()
