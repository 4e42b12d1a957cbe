"""A faulty network between browser and server: it can cut, hold back, and be gone for a while."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from tests.support.patience import PATIENCE

T = TypeVar("T")
END_OF_HEAD = b"\r\n\r\n"


@dataclass(eq=False)
class Line:
    """One connection through the proxy. `opened`: the server has agreed to the websocket.
    `left`: how many bytes it may say after that before the line is cut. `silent`: what it says goes nowhere."""

    browser: asyncio.StreamWriter
    server: asyncio.StreamWriter
    socket: bool
    opened: bool = False
    left: int | None = None
    silent: bool = False

    def cut(self) -> None:
        """Without a goodbye, in the middle of whatever was being said."""
        self.browser.transport.abort()
        self.server.transport.abort()


class FaultProxy:
    """`sockets` counts the websockets that were opened, `cuts` those of them that were cut. Methods are for the thread of a
    test and return when it is done."""

    def __init__(self, target: str, loop: asyncio.AbstractEventLoop) -> None:
        self.url = ""
        self.sockets = self.cuts = 0
        self._target, self._loop = urlsplit(target), loop
        self._port = 0
        self._lines: set[Line] = set()
        self._visits: set[asyncio.Task[None]] = set()
        self._allowances: deque[int] = deque()
        self._flows, self._news = asyncio.Event(), asyncio.Condition()
        self._do(self._listen())

    def cut_sockets(self) -> None:
        """Cuts every websocket there is."""
        self._do(self._cut(lambda line: line.socket))

    def silence_sockets(self) -> None:
        """They stay open, and nothing comes of them any more: what a changed network leaves behind."""
        self._do(self._silence())

    def cut_everything(self) -> None:
        self._do(self._cut(lambda line: True))

    def cut_the_next(self, sizes: Iterable[int]) -> None:
        """The websockets to come are cut after so many bytes from the server, one size for each."""
        self._do(self._allow(list(sizes)))

    def until_sockets(self, count: int) -> None:
        """Returns when so many websockets have been opened since the beginning."""
        self._do(self._until(lambda: self.sockets >= count))

    def until_cuts(self, count: int) -> None:
        self._do(self._until(lambda: self.cuts >= count))

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """What the server says stays here until the block ends, and comes then."""
        self._loop.call_soon_threadsafe(self._flows.clear)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._flows.set)

    @contextmanager
    def away(self) -> Iterator[None]:
        """Nobody is reached while the block lasts; what was connected is cut."""
        self.close()
        try:
            yield
        finally:
            self._do(self._listen())

    def close(self) -> None:
        self._do(self._leave())

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    async def _listen(self) -> None:
        self._flows.set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}/"

    async def _leave(self) -> None:
        self._server.close()
        await self._cut(lambda line: True)
        # A browser connects ahead, too, and says nothing then.
        visits = list(self._visits)
        for visit in visits:
            visit.cancel()
        await asyncio.gather(*visits)

    async def _allow(self, sizes: list[int]) -> None:
        self._allowances.extend(sizes)

    async def _cut(self, which: Callable[[Line], bool]) -> None:
        lines = [line for line in self._lines if which(line)]
        for line in lines:
            line.cut()
        await self._tell(cuts=sum(line.opened for line in lines))

    async def _silence(self) -> None:
        for line in self._lines:
            line.silent = line.socket

    async def _tell(self, *, sockets: int = 0, cuts: int = 0) -> None:
        async with self._news:
            self.sockets += sockets
            self.cuts += cuts
            self._news.notify_all()

    async def _until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(holds)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visit = asyncio.current_task()
        assert visit
        self._visits.add(visit)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._carry(reader, writer)
        finally:
            await _close(writer)
            self._visits.discard(visit)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(END_OF_HEAD)
        answers, server = await asyncio.open_connection(self._target.hostname, self._target.port)
        line = Line(writer, server, socket=head.startswith(b"GET /ws/"))
        if line.socket and self._allowances:
            line.left = self._allowances.popleft()
        self._lines.add(line)
        try:
            server.write(head)
            await asyncio.gather(_pump(reader, server), self._down(answers, line))
        finally:
            await _close(server)
            self._lines.discard(line)

    async def _down(self, answers: asyncio.StreamReader, line: Line) -> None:
        with suppress(OSError):
            if line.socket:
                await self._open(answers, line)
            while data := await answers.read(65536):
                await self._flows.wait()
                if line.silent:
                    continue
                if line.left is not None and len(data) > line.left:
                    await self._say_the_last(data[: line.left], line)
                    break
                line.left = line.left and line.left - len(data)
                line.browser.write(data)
                await line.browser.drain()
        line.browser.close()

    async def _open(self, answers: asyncio.StreamReader, line: Line) -> None:
        with suppress(asyncio.IncompleteReadError):
            head = await answers.readuntil(END_OF_HEAD)
            line.opened = b" 101 " in head.partition(b"\r\n")[0]
            line.browser.write(head)
            await self._tell(sockets=line.opened)

    async def _say_the_last(self, data: bytes, line: Line) -> None:
        """What fits comes; then both sides are left without a goodbye."""
        line.browser.write(data)
        await line.browser.drain()
        line.browser.close()
        line.server.transport.abort()
        await self._tell(cuts=1)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _close(writer: asyncio.StreamWriter) -> None:
    """Whatever is left of it goes with this loop, not with somebody else's."""
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


@contextmanager
def between(target: str) -> Iterator[FaultProxy]:
    """A proxy in front of `target`, in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="fault proxy")
    thread.start()
    try:
        proxy = FaultProxy(target, loop)
        yield proxy
        proxy.close()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()
