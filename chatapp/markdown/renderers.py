"""A few processes that render, started when they are first needed; one that takes too long is given up and replaced."""

from __future__ import annotations

import asyncio
import atexit
import hashlib
import json
import logging
import os
import select
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import LifoQueue
from typing import Any

from .frames import LENGTH, framed

ROOT = Path(__file__).parents[2]
MOST_REMEMBERED = 1_000
logger = logging.getLogger(__name__)


class GivenUp(Exception):
    """The job took more than it may, or nobody is there to do it."""


class _Renderer:
    """One process; one job at a time."""

    def __init__(self, cpu_seconds: float, wall_seconds: float) -> None:
        self._cpu, self._wall = cpu_seconds, wall_seconds
        self._process: subprocess.Popen[bytes] | None = None

    def do(self, frame: bytes) -> dict[str, Any]:
        process = self._started()
        try:
            return self._asked(process, frame)
        except (OSError, GivenUp):
            self.close()
            raise GivenUp from None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            # It gets no environment, so no key either.
            self._process = subprocess.Popen(
                [sys.executable, "-m", "chatapp.markdown.worker", str(self._cpu)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"PYTHONPATH": str(ROOT)},
            )
        return self._process

    def _asked(self, process: subprocess.Popen[bytes], frame: bytes) -> dict[str, Any]:
        assert process.stdin and process.stdout
        process.stdin.write(frame)
        process.stdin.flush()
        deadline = time.monotonic() + self._wall
        source = process.stdout.fileno()
        size = int.from_bytes(_read(source, LENGTH, deadline), "big")
        answer: dict[str, Any] = json.loads(_read(source, size, deadline))
        return answer

    def close(self) -> None:
        process, self._process = self._process, None
        if process:
            process.kill()
            with process:
                pass


def _read(source: int, size: int, deadline: float) -> bytes:
    ready, parts, left = select.poll(), [], size
    ready.register(source, select.POLLIN | select.POLLHUP)
    while left:
        waiting = deadline - time.monotonic()
        if waiting <= 0 or not ready.poll(waiting * 1000):
            raise GivenUp
        part = os.read(source, min(left, 1 << 20))
        if not part:
            raise GivenUp
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


class Renderers:
    """The budget is CPU time, since a busy machine is no fault of the text; the time on the wall is for what hangs."""

    def __init__(self, *, size: int = 2, cpu_seconds: float = 2, wall_seconds: float = 20) -> None:
        self._all = [_Renderer(cpu_seconds, wall_seconds) for _ in range(size)]
        self._free: LifoQueue[_Renderer] = LifoQueue()
        for renderer in self._all:
            self._free.put(renderer)
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="rendering")
        self._too_much: dict[bytes, None] = {}
        atexit.register(self.close)

    def do(self, name: str, *arguments: Any) -> Any:
        """The job's result. A job that was given up once is not tried again."""
        frame = framed([name, arguments])
        digest = hashlib.sha256(frame).digest()
        if digest in self._too_much:
            raise GivenUp
        renderer = self._free.get()
        try:
            return self._made(name, renderer.do(frame))
        except GivenUp:
            self._remember(digest)
            raise
        finally:
            self._free.put(renderer)

    def _made(self, name: str, answer: dict[str, Any]) -> Any:
        if "made" in answer:
            return answer["made"]
        if "wrong" in answer:
            logger.error("Rendering (%s) failed: %s", name, answer["wrong"])
        raise GivenUp

    def _remember(self, digest: bytes) -> None:
        logger.warning("A text took too long to render and is shown as it is.")
        self._too_much[digest] = None
        if len(self._too_much) > MOST_REMEMBERED:
            self._too_much.pop(next(iter(self._too_much)))

    async def ask(self, name: str, *arguments: Any) -> Any:
        """As `do`, on a thread that only waits."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self.do, name, *arguments)

    def close(self) -> None:
        for renderer in self._all:
            renderer.close()
