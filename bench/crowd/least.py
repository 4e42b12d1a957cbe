"""People at the least of servers (`bench/floor.py`), whose figures are the floor."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from statistics import median
from tempfile import TemporaryDirectory

import aiohttp

from bench.crowd.ours import timed
from bench.crowd.scene import Run, Scene, within
from bench.house import cpu, forget_most, most_memory
from bench.provider import Plan, Provider
from bench.watcher import TOKEN

END = "\0"
PATIENCE = 30


class Listener:
    """One socket. `came`: when each delta was there."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, plan: Plan) -> None:
        self._socket, self._plan = socket, plan
        self.came: list[int] = []
        self.fate = "no end within its time"

    async def ask(self) -> float:
        at = time.monotonic()
        await self._socket.send_str(self._plan.question)
        return at

    async def hear(self) -> None:
        letters = 0
        async for message in self._socket:
            if message.data == END:
                said = sum(map(len, map("".join, self._plan.parts())))
                self.fate = "complete" if letters == said else f"{letters} letters of {said}"
                return
            self.came.append(time.monotonic_ns())
            letters += len(message.data)
        self.fate = f"The socket was closed with {self._socket.close_code}."

    def shown_at(self, at: int) -> int:
        return sum(came <= at for came in self.came)


Meanwhile = Callable[[Sequence[Listener]], Awaitable[None]]


async def nothing(_: Sequence[Listener]) -> None:
    pass


class Least:
    """In a process of its own."""

    name = "floor"

    def __init__(self, process: subprocess.Popen[str], provider: Provider) -> None:
        self.pid, self._provider = process.pid, provider
        assert process.stdout
        port, self._session = process.stdout.readline().split()
        self.url = f"http://127.0.0.1:{port}/"

    def play(self, scene: Scene, meanwhile: Meanwhile = nothing) -> Run:
        return asyncio.run(self._played(scene, meanwhile))

    def beside(self) -> float:
        return 0.0

    async def _played(self, scene: Scene, meanwhile: Meanwhile) -> Run:
        plans = scene.plans()
        async with AsyncExitStack() as stack:
            http = await stack.enter_async_context(
                aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
            )
            listeners = []
            for plan in plans:
                socket = await http.ws_connect(self.url)
                stack.push_async_callback(socket.close)
                listeners.append(Listener(socket, plan))
            before = cpu(self.pid)
            forget_most(self.pid)
            hearing = [asyncio.create_task(each.hear()) for each in listeners]
            asked, _ = await asyncio.gather(
                within(scene.asking, [each.ask for each in listeners]), meanwhile(listeners)
            )
            await asyncio.wait(hearing, timeout=scene.patience)
            memory = most_memory(self.pid)
            run = Run(cpu=cpu(self.pid) - before, memory=memory, beside=memory)
        sent = [self._provider.sent(plan.name) for plan in plans]
        run.count(sent)
        told = []
        for each, went, at in zip(listeners, sent, asked, strict=True):
            if each.fate == "complete":
                late = [(there - left) / 1e6 for there, left in zip(each.came, went, strict=True)]
                told.append((late, went, at))
            else:
                run.lost.append(each.fate)
        run.note(told)
        return run

    async def write(self, http: aiohttp.ClientSession) -> None:
        """A POST by somebody who is signed in, which writes two rows."""
        form = {"Cookie": f"sessionid={self._session}; csrftoken={TOKEN}", "X-CSRFToken": TOKEN}
        async with http.post(self.url, headers=form) as response:
            assert response.status == 200, await response.text()

    async def writes(self, many: int) -> tuple[float, float]:
        """Milliseconds of CPU, and of waiting, for each such POST."""
        async with aiohttp.ClientSession() as http:
            for _ in range(20):
                await self.write(http)
            before = cpu(self.pid)
            took = [await timed(self.write(http)) for _ in range(many)]
            return (cpu(self.pid) - before) / many * 1000, median(took) * 1000


@contextmanager
def serving_least(provider: Provider) -> Iterator[Least]:
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bench.floor", provider.url]
        given = os.environ | {"DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "bench.floor_settings"}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=given)
        try:
            yield Least(process, provider)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            assert process.stdout
            process.stdout.close()
