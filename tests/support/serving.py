"""A provider's side of a real socket: it plays one script for each request and keeps what it was asked."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from chatapp.providers.client import close_connections

EVENT_STREAM = {"content-type": "text/event-stream"}


@dataclass
class Asked:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Peer:
    """The connection as a script sees it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def until_gone(self) -> None:
        await self.reader.read()


Script = Callable[[Peer], Awaitable[None]]


@dataclass
class Server:
    scripts: list[Script]
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    handlers: list[asyncio.Task[None] | None] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.handlers.append(asyncio.current_task())
        with suppress(OSError, asyncio.IncompleteReadError):
            while not writer.is_closing():
                self.asked.append(await _read(reader))
                await self.scripts.pop(0)(Peer(reader, writer))
        self.gone.set()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ", 2)
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:]) if name}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method, target, headers, body)


@asynccontextmanager
async def serving(*scripts: Script, tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    served = Server(list(scripts))
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0, ssl=tls, backlog=500)
    scheme, port = "https" if tls else "http", server.sockets[0].getsockname()[1]
    served.url = f"{scheme}://127.0.0.1:{port}/v1"
    try:
        yield served
    finally:
        await close_connections()
        server.close()
        await server.wait_closed()
        await asyncio.gather(*filter(None, served.handlers))


def head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def piece(data: bytes) -> bytes:
    """One piece of a body whose length is not known before."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def answer(
    status: int, body: bytes, headers: dict[str, str] | None = None, content_type: str = "application/json"
) -> Script:
    """A whole answer with a length."""
    fields = {"content-type": content_type, "content-length": str(len(body))} | (headers or {})

    async def script(peer: Peer) -> None:
        await peer.send(head(status, fields) + body)

    return script


def stream(*frames: bytes, then: Script | None = None, headers: dict[str, str] = EVENT_STREAM) -> Script:
    """Frames that go out one by one; the body ends unless `then` says what happens instead."""

    async def script(peer: Peer) -> None:
        await peer.send(head(200, headers | {"transfer-encoding": "chunked"}))
        for frame in frames:
            await peer.send(piece(frame))
        await (then or _end)(peer)

    return script


async def _end(peer: Peer) -> None:
    await peer.send(b"0\r\n\r\n")


async def cut(peer: Peer) -> None:
    """Closes in the middle."""
    peer.writer.close()


async def reset(peer: Peer) -> None:
    """Closes without a goodbye."""
    peer.writer.transport.abort()


async def silence(peer: Peer) -> None:
    """Says nothing more until the other side has gone."""
    await peer.until_gone()


def raw(data: bytes) -> Script:
    """These bytes, whatever they are, and the end of the connection."""

    async def script(peer: Peer) -> None:
        await peer.send(data)
        peer.writer.close()

    return script


def forever(data: bytes, opening: bytes = b"") -> Script:
    """The same piece again and again, as fast as it is read."""

    async def script(peer: Peer) -> None:
        await peer.send(head(200, EVENT_STREAM | {"transfer-encoding": "chunked"}))
        if opening:
            await peer.send(piece(opening))
        while not peer.reader.at_eof():
            await peer.send(piece(data))
            await asyncio.sleep(0)

    return script
