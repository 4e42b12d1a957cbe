"""One answer: `Answer` says it inside the server's loop, `Script` is how a test says it from its own thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from aiohttp import web

from tests.support.patience import PATIENCE

from .chat import ChatWire
from .messages import MessagesWire
from .responses import ResponsesWire

Json = dict[str, Any]


class Gone(Exception):
    """The product has hung up."""


class Wire(Protocol):
    held: int

    def begin(self) -> bytes: ...
    def think(self, words: str) -> bytes: ...
    def end_thought(self) -> bytes: ...
    def write(self, words: str) -> bytes: ...
    def call(self, name: str, arguments: str) -> bytes: ...
    def finish(self, tokens: int, cut: bool = False) -> bytes: ...
    def fail(self, words: str) -> bytes: ...


WIRES: dict[str, Callable[[Json, Mapping[str, str]], Wire]] = {
    "chat": ChatWire,
    "responses": ResponsesWire,
    "messages": MessagesWire,
}


class Answer:
    """`over`: nothing more will be said. `gone`: whoever asked has hung up, or has everything. `plan`: what says it, where
    no test does."""

    def __init__(self, request: web.Request, dialect: str, body: Json) -> None:
        self.over, self.gone = asyncio.Event(), asyncio.Event()
        self.response: web.StreamResponse | None = None
        self.plan: asyncio.Task[None] | None = None
        self._request = request
        self.wire = WIRES[dialect](body, request.headers)
        self._deltas = 0

    @property
    def begun(self) -> bool:
        return self.response is not None

    async def begin(self) -> None:
        if self.response is None:
            self.response = web.StreamResponse(headers={"content-type": "text/event-stream; charset=utf-8"})
            await self.response.prepare(self._request)
            await self._send(self.wire.begin())

    async def think(self, words: str) -> None:
        await self._say(self.wire.think, words)

    async def hold(self, tokens: int) -> None:
        self.wire.held = tokens

    async def end_thought(self) -> None:
        await self._send(self.wire.end_thought())

    async def write(self, words: str) -> None:
        await self._say(self.wire.write, words)

    async def call(self, name: str, arguments: str) -> None:
        await self._say(self.wire.call, name, arguments)

    async def finish(self, cut: bool = False) -> None:
        await self.begin()
        await self._send(self.wire.finish(self._deltas, cut))
        assert self.response
        await self.response.write_eof()
        self.over.set()

    async def fail(self, words: str) -> None:
        """An error inside the stream."""
        await self.begin()
        await self._send(self.wire.fail(words))
        self.over.set()

    async def refuse(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
        assert not self.begun, "It has begun to answer."
        self.response = web.json_response(body, status=status, headers=headers)
        self.over.set()

    async def cut(self) -> None:
        """The connection breaks; what was sent before arrives."""
        if self._request.transport:
            self._request.transport.close()
        self.over.set()

    async def end_early(self) -> None:
        """To whatever end is possible now: none of them makes the product ask once more."""
        if self.plan:
            self.plan.cancel()
        if self.begun and not self.over.is_set():
            await self.write(".")
            await self.finish()
        elif not self.over.is_set():
            await self.refuse(400, {"error": {"message": "It is over.", "type": "invalid_request_error"}}, {})

    async def _say(self, words: Callable[..., bytes], *said: str) -> None:
        await self.begin()
        self._deltas += 1
        await self._send(words(*said))

    async def _send(self, data: bytes) -> None:
        assert self.response
        if self.gone.is_set():
            raise Gone
        try:
            await self.response.write(data)
        except ConnectionError:
            raise Gone from None


class Script:
    """What a test decides about one answer. Each method returns when its bytes were sent."""

    def __init__(self, answer: Answer, loop: asyncio.AbstractEventLoop, body: Json) -> None:
        self._answer, self._loop = answer, loop
        self.body = body

    def think(self, words: str = "") -> None:
        """More of a thought; the first words of one open it. Without words it only opens, where the wire can say that."""
        self._do(self._answer.think(words))

    def end_thought(self) -> None:
        self._do(self._answer.end_thought())

    def write(self, words: str) -> None:
        self._do(self._answer.write(words))

    def call(self, name: str, arguments: str = "{}") -> None:
        self._do(self._answer.call(name, arguments))

    def finish(self, *, cut: bool = False) -> None:
        """The end of the answer; `cut`: because it was as long as it may be."""
        self._do(self._answer.finish(cut))

    def fail(self, words: str = "The server had an error.") -> None:
        self._do(self._answer.fail(words))

    def refuse(self, status: int, words: str = "No.", **headers: str) -> None:
        body = {"error": {"message": words, "type": "error", "param": None, "code": None}}
        self._do(self._answer.refuse(status, body, {n.replace("_", "-"): v for n, v in headers.items()}))

    def cut(self) -> None:
        self._do(self._answer.cut())

    def until_gone(self) -> None:
        """Returns when the product has hung up, as it does when somebody stops the answer."""
        self._do(asyncio.wait_for(self._answer.gone.wait(), PATIENCE))

    def _do(self, work: Awaitable[Any]) -> None:
        asyncio.run_coroutine_threadsafe(_awaited(work), self._loop).result(PATIENCE)


async def _awaited(work: Awaitable[Any]) -> None:
    await work
