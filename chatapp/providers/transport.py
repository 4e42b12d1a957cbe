"""Between httpx and the network: each request goes to a connection of the pool as it is."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from typing import Any

import httpcore
import httpx

from ..net.bodies import Hear, Line, taking
from ..net.dial import ANYWHERE, Guard
from ..net.guarded_network import Network

KEPT_OPEN = 30.0


class Transport(httpx.AsyncBaseTransport):
    """As many connections as there are streams; no proxy, no retries, HTTP/1.1. Only to addresses that the guard allows."""

    def __init__(self, context: ssl.SSLContext, *, guard: Guard = ANYWHERE) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=None,
            max_keepalive_connections=100,
            keepalive_expiry=KEPT_OPEN,
            network_backend=Network(guard),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        content, extensions = request.stream, request.extensions
        asked = httpcore.Request(
            request.method, target, headers=request.headers.raw, content=content, extensions=extensions
        )
        answer = await self._pool.handle_async_request(asked)
        body = AnswerBody(asked, answer)
        return httpx.Response(
            answer.status,
            headers=answer.headers,
            stream=body,
            extensions={**answer.extensions, "body": body},
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class AnswerBody(httpx.AsyncByteStream):
    """Past httpcore and h11 as far as its frame is plain: they would look at each word. The rest is read by them."""

    def __init__(self, asked: httpcore.Request, answer: httpcore.Response) -> None:
        self._line: Line = answer.extensions["network_stream"]
        self._taking = None if asked.method == b"HEAD" else taking(answer.status, answer.headers)
        self._timeout = asked.extensions.get("timeout", {}).get("read")
        self._stream: Any = answer.stream
        self._rest = _read_by_httpcore(self._stream)

    async def more(self, hear: Hear | None = None) -> bytes | None:
        """The next of it, and nothing at its end. While this waits, `hear` may take what comes; None when it wants to be looked at."""
        if self._taking:
            data = await self._line.more(self._taking, self._timeout, hear)
            if data != b"":
                return data
            self._taking = None
        return await anext(self._rest, b"")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while data := await self.more():
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _read_by_httpcore(stream: Any) -> AsyncIterator[bytes]:
    async for data in stream:
        yield data
