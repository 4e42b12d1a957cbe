"""A Redis of a test's own, which may lose its memory, freeze, die and come back; and a line to it that may be slow or cut."""

from __future__ import annotations

import asyncio
import shutil
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

redis = pytest.importorskip("redis", reason="SKIPPED LOUDLY: what speaks with Redis is not installed.")


class OwnRedis:
    def __init__(self, folder: Path) -> None:
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("SKIPPED LOUDLY: there is no redis-server here that a test could end.")
        with socket.create_server(("127.0.0.1", 0)) as listening:
            self.port: int = listening.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        # Nothing is written to a disk, so what is killed has forgotten everything.
        words = ("--port", str(self.port), "--save", "", "--appendonly", "no", "--dir", str(folder))
        self._command = [program, "--bind", "127.0.0.1", *words]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it answers."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        with self.asked() as asked:
            while True:
                with suppress(redis.exceptions.ConnectionError):
                    asked.ping()
                    return

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def told(self, section: str) -> dict[str, Any]:
        """Of itself."""
        with self.asked() as asked:
            told: dict[str, Any] = asked.info(section)
            return told

    def kill(self) -> None:
        assert self._process
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGCONT)

    def forget(self) -> None:
        with self.asked() as asked:
            asked.flushdb()

    @contextmanager
    def asked(self) -> Iterator[redis.Redis]:
        with redis.Redis.from_url(self.url) as asked:
            yield asked


@contextmanager
def own_redis(folder: Path) -> Iterator[OwnRedis]:
    made = OwnRedis(folder)
    made.start()
    try:
        yield made
    finally:
        made.thaw()
        made.kill()


class Line:
    """`delay`: seconds that everything takes, in both directions."""

    def __init__(self, port: int) -> None:
        self.delay, self._to = 0.0, port
        self._writers: set[asyncio.StreamWriter] = set()
        self._blocked: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    async def join(self) -> None:
        self._server = await asyncio.start_server(self._carry, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Without a goodbye; nobody gets through until it is joined again."""
        assert self._server
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()

    def block(self) -> None:
        """What is connected now stays so, and carries nothing any more."""
        self._blocked |= self._writers

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, away = await asyncio.open_connection("127.0.0.1", self._to)
        self._writers |= {writer, away}
        with suppress(OSError):
            await asyncio.gather(self._flow(reader, away), self._flow(there, writer))
        for each in (writer, away):
            each.transport.abort()
            self._writers.discard(each)

    async def _flow(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            await asyncio.sleep(self.delay)
            if writer not in self._blocked:
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


@asynccontextmanager
async def line_to(port: int) -> AsyncIterator[Line]:
    line = Line(port)
    await line.join()
    try:
        yield line
    finally:
        await line.cut()
