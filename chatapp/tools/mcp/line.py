"""What a server sends, message by message, on its way to the official package: no faster than a person could mean it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.shared._stream_protocols import ReadStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from .offered import LeftOut, plain_entries

# The sender waits meanwhile: a flood fills its own pipe and nobody's memory.
MOST_A_SECOND = 500


class BoundedLine:
    def __init__(
        self, stream: ReadStream[SessionMessage | Exception], left_out: LeftOut, ended: Callable[[], None]
    ) -> None:
        self._stream, self._left_out, self._ended = stream, left_out, ended
        self._second, self._count = 0, 0

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        await self._slowly()
        try:
            item = await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._ended()
            raise
        if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCResponse):
            tools = item.message.result.get("tools")
            if isinstance(tools, list):
                item.message.result["tools"] = plain_entries(tools, self._left_out)
        return item

    async def _slowly(self) -> None:
        loop = asyncio.get_running_loop()
        if int(loop.time()) != self._second:
            self._second, self._count = int(loop.time()), 0
        self._count += 1
        if self._count > MOST_A_SECOND:
            await asyncio.sleep(self._second + 1 - loop.time())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        await self.aclose()
        return None
