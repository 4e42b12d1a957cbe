"""Runs turns that others ask for, in a process of its own: as many of these as one likes, on any machines."""

from __future__ import annotations

import asyncio
import gc
import signal
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import Error, connection

from chatapp.config.environment import Misconfigured
from chatapp.management import tables
from chatapp.management.commands.serve import why_not_there
from chatapp.management.health_door import open_door
from chatapp.processes import memory
from chatapp.processes.itself import ITSELF, Task
from chatapp.turns.engine import Engine, engine

ALONE = (
    "./start --work runs turns beside processes that serve pages: set DATABASE_URL to PostgreSQL and REDIS_URL. "
    "Without them ./start serves pages and runs turns."
)
AGAIN_SECONDS = 1.0


class Command(BaseCommand):
    help = "Run turns beside the processes that serve pages."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="where it tells how it is")
        parser.add_argument(
            "--port", type=int, default=settings.WORKER_PORT, help="at which port; WORKER_PORT"
        )

    def handle(self, *args: Any, host: str, port: int | None, **options: Any) -> None:
        if not settings.REDIS_URL:
            raise Misconfigured(ALONE)
        memory.share_between_threads()
        try:
            tables.bring_up_to_date(apart=True)
        except OSError as error:
            raise Misconfigured(tables.unusable(error)) from None
        gc.collect()
        gc.freeze()
        ITSELF.task = Task.WORKS
        asyncio.run(self._work(host.strip("[]"), port))

    async def _work(self, host: str, port: int | None) -> None:
        # Their packages are there only where they are needed.
        from chatapp.turns.scale.jobs import Fetching
        from chatapp.turns.scale.runner import JobRunner

        mine = engine()
        runner = mine.runner
        assert isinstance(runner, JobRunner)
        to_end, at_once = _signals()
        fetching = Fetching(runner.take, runner.name)
        ITSELF.fetches = lambda: fetching.works
        door = await _opened(host, port)
        await _started(mine)
        fetching.begin()
        self._say(f"Turns run here as {runner.name}, kept in {connection.display_name}. Stop with Ctrl-C.")
        await to_end.wait()
        ITSELF.is_ending = True
        await fetching.end()
        await self._drained(runner, at_once)
        await mine.close()
        if door:
            door.close()

    async def _drained(self, runner: Any, at_once: asyncio.Event) -> None:
        """What runs may end here; what takes too long goes on elsewhere."""
        if not runner.at_work:
            return
        self._say(
            f"{runner.at_work} turns still run here, for at most {settings.DRAIN_SECONDS} s. Again Ctrl-C hands them over."
        )
        signs = [asyncio.create_task(runner.drain()), asyncio.create_task(at_once.wait())]
        await asyncio.wait(signs, timeout=settings.DRAIN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        for sign in signs:
            sign.cancel()

    def _say(self, words: str) -> None:
        self.stdout.write(words)
        self.stdout.flush()


def _signals() -> tuple[asyncio.Event, asyncio.Event]:
    """Set at the first signal to end, and at the second."""
    first, second = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, lambda: (second if first.is_set() else first).set())
    return first, second


async def _opened(host: str, port: int | None) -> asyncio.Server | None:
    if not port:
        return None
    try:
        return await open_door(host, port)
    except OSError as error:
        raise Misconfigured(why_not_there(error, host, port)) from None


async def _started(mine: Engine) -> None:
    while True:
        try:
            await mine.start()
            return
        except Error:
            await asyncio.sleep(AGAIN_SECONDS)
