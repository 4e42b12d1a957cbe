"""A few processes that render, started when they are needed and ended when they are not; one that takes too long is given up and
replaced."""

from __future__ import annotations

import json
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, LifoQueue
from threading import Lock, Timer
from typing import Any

from ..processes.children import Helper, Overdue
from .frames import LENGTH, framed

MOST_REMEMBERED = 1_000
logger = logging.getLogger(__name__)


class GivenUp(Exception):
    """The job took more than it may, or nobody is there to do it."""


class _Renderer:
    """One process; one job at a time."""

    def __init__(self, cpu_seconds: float, wall_seconds: float) -> None:
        self._cpu, self._wall = cpu_seconds, wall_seconds
        self._helper: Helper | None = None

    def do(self, frame: bytes) -> dict[str, Any]:
        try:
            return self._asked(frame)
        except (OSError, Overdue):
            self.close()
            raise GivenUp from None

    def _asked(self, frame: bytes) -> dict[str, Any]:
        if self._helper is None:
            self._helper = Helper("chatapp.markdown.worker", str(self._cpu))
        self._helper.send(frame)
        deadline = time.monotonic() + self._wall
        size = int.from_bytes(self._helper.read(LENGTH, until=deadline), "big")
        answer: dict[str, Any] = json.loads(self._helper.read(size, until=deadline))
        return answer

    def close(self) -> None:
        helper, self._helper = self._helper, None
        if helper:
            helper.end()


class Renderers:
    """The budget is CPU time, since a busy machine is no fault of the text; the time on the wall is for what hangs. After
    `idle_seconds` without a job all are ended: they hold more than 20 MB each, and start in a fifth of a second."""

    def __init__(
        self, *, size: int = 2, cpu_seconds: float = 2, wall_seconds: float = 20, idle_seconds: float = 120
    ) -> None:
        self._all = [_Renderer(cpu_seconds, wall_seconds) for _ in range(size)]
        self._free: LifoQueue[_Renderer] = LifoQueue()
        for renderer in self._all:
            self._free.put(renderer)
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="rendering")
        self._too_much: dict[int, None] = {}
        self._idle, self._needed, self._lock = idle_seconds, 0.0, Lock()
        self._resting: Timer | None = None

    def do(self, name: str, *arguments: Any) -> Any:
        """The job's result. A job that was given up once is not tried again."""
        frame = framed([name, arguments])
        job = hash(frame)
        if job in self._too_much:
            raise GivenUp
        renderer = self._free.get()
        try:
            return self._made(name, renderer.do(frame))
        except GivenUp:
            self._remember(job)
            raise
        finally:
            self._free.put(renderer)
            self._rest_later()

    def _made(self, name: str, answer: dict[str, Any]) -> Any:
        if "made" in answer:
            return answer["made"]
        if "wrong" in answer:
            logger.error("Rendering (%s) failed: %s", name, answer["wrong"])
        raise GivenUp

    def _remember(self, job: int) -> None:
        logger.warning("A text took too long to render and is shown as it is.")
        self._too_much[job] = None
        if len(self._too_much) > MOST_REMEMBERED:
            self._too_much.pop(next(iter(self._too_much)))

    async def ask(self, name: str, *arguments: Any) -> Any:
        """As `do`, on a thread that only waits."""
        # The processes that render import this file with all others of the package, and have no use for an event loop: 3 MB each.
        from asyncio import get_running_loop

        return await get_running_loop().run_in_executor(self._threads, self.do, name, *arguments)

    def _rest_later(self) -> None:
        with self._lock:
            self._needed = time.monotonic()
            if self._resting is None:
                self._wait(self._idle)

    def _wait(self, seconds: float) -> None:
        self._resting = Timer(seconds, self._rest)
        self._resting.daemon = True
        self._resting.start()

    def _rest(self) -> None:
        with self._lock:
            self._resting = None
            if (left := self._needed + self._idle - time.monotonic()) > 0:
                self._wait(left)
                return
        self._end_the_free()

    def _end_the_free(self) -> None:
        """Whoever has a job meanwhile waits for the moment that this takes."""
        free = list[_Renderer]()
        with suppress(Empty):
            while True:
                free.append(self._free.get_nowait())
        for renderer in free:
            renderer.close()
            self._free.put(renderer)

    def close(self) -> None:
        for renderer in self._all:
            renderer.close()
