"""Between httpx and the network: each request goes to a connection of the pool as it is."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from typing import Any

import httpcore
import httpx

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
