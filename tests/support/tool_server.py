"""Servers for the tests: a real one and some that misbehave, each ended with its test."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from chatapp.tools.base import Tool, ToolOutput
from chatapp.tools.mcp.as_tool import tool_of
from chatapp.tools.mcp.offered import Offered
from chatapp.tools.mcp.server import Server, Times
from chatapp.tools.mcp.server_place import ServerAddress, ServerCommand, ServerPlace

from .patience import PATIENCE

ROOT = Path(__file__).parents[2]
# Tries come quickly, and what hangs is given up quickly.
QUICK = Times(connect=2.0, list=2.0, gap=0.05, shortest=0.05, longest=0.2)

# The real one loads the whole package first, on a machine that may be busy.
PATIENT = Times(gap=0.05, shortest=0.05, longest=0.2)


def real() -> ServerCommand:
    """The real server, as a child."""
    return python("-m", "tests.tools.mcp.a_server", "stdio", PYTHONPATH=str(ROOT))


def python(*arguments: str, **environment: str) -> ServerCommand:
    return ServerCommand(sys.executable, arguments, {"PATH": os.environ["PATH"], **environment})


def script(text: str) -> ServerCommand:
    """A child that speaks for itself: `say(value)` writes a message, `asked()` reads one, `welcome()` greets as a server must."""
    return python("-c", _SPEECH + text)


_SPEECH = '''
import json, sys, time

def say(value):
    print(value if isinstance(value, str) else json.dumps(value), flush=True)

def asked():
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    return json.loads(line)

def answer(request, result):
    say({"jsonrpc": "2.0", "id": request["id"], "result": result})

def refuse(request):
    say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "no such thing"}})

def tool(name="echo", **more):
    return {"name": name, "description": "Says it.", "inputSchema": {"type": "object"}} | more

def welcome():
    while True:
        request = asked()
        if request["method"] == "initialize":
            info = {"name": "odd", "version": "1"}
            capabilities = {"tools": {"listChanged": True}}
            version = request["params"]["protocolVersion"]
            answer(request, {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info})
        elif request["method"] == "notifications/initialized":
            return
        elif "id" in request:
            refuse(request)

def requests(tools):
    """Those that are not for the list of tools."""
    while True:
        request = asked()
        if request["method"] == "tools/list":
            answer(request, {"tools": tools() if callable(tools) else tools})
        elif "id" in request or request["method"] == "notifications/cancelled":
            yield request

def text(words, **more):
    return {"content": [{"type": "text", "text": words}]} | more
'''


T = TypeVar("T")


async def until(look: Callable[[], Awaitable[T]]) -> T:
    """What the look finds at last."""
    for _ in range(100 * PATIENCE):
        if found := await look():
            return found
        await asyncio.sleep(0.01)
    raise TimeoutError("It never came.")


class Kept:
    """A server that is being kept, and what was found at it."""

    def __init__(self, place: ServerPlace | Callable[[], ServerPlace], times: Times) -> None:
        self.lists: list[list[Offered]] = []
        self._news = asyncio.Event()
        where = place if callable(place) else lambda: place
        self.server = Server("odd", where, self._found, times)

    async def _found(self, tools: Sequence[Offered]) -> bool:
        self.lists.append(list(tools))
        self._news.set()
        return True

    async def listed(self, count: int = 1) -> list[str]:
        """The names that were found, when they were found so many times."""
        while len(self.lists) < count:
            self._news.clear()
            await self._news.wait()
        return [tool.name for tool in self.lists[count - 1]]

    async def told(self, words: str) -> str:
        """Its state, as soon as these words are in it."""

        async def look() -> str:
            return self.server.told if words in self.server.told else ""

        return await until(look)

    def tool(self, name: str) -> Tool:
        known = self.lists[-1] if self.lists else []
        schema = next((tool.schema for tool in known if tool.name == name), {"type": "object"})
        return tool_of(self.server, Offered(name, "", schema), safe=False, idempotent=False, usual=False)

    async def call(self, name: str, arguments: str = "{}", report: Any = lambda words: None) -> ToolOutput:
        return await self.tool(name).run(arguments, report)


@asynccontextmanager
async def kept(place: ServerPlace | Callable[[], ServerPlace], times: Times = QUICK) -> AsyncIterator[Kept]:
    it = Kept(place, times)
    it.server.start()
    try:
        yield it
    finally:
        await it.server.end()


def play(story: Awaitable[None]) -> None:
    asyncio.run(asyncio.wait_for(story, PATIENCE))


@asynccontextmanager
async def http_server(answer: Callable[..., Awaitable[None]]) -> AsyncIterator[ServerAddress]:
    """Raw sockets: `answer(head, body, writer)` for each request, on connections of its own."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = next(
                (int(line[15:]) for line in head.split("\r\n") if line.startswith("content-length:")), 0
            )
            await answer(head, await reader.readexactly(length), writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield ServerAddress(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp", private=True)
    finally:
        server.close()


class Stalls:
    """How long the event loop was held up at most, in seconds."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def watch(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.005)
            self.longest = max(self.longest, time.monotonic() - before - 0.005)
