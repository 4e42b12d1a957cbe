"""Does what takes long: looks through what was brought and writes it, and packs what somebody takes along. On a thread of its own, so that
nobody else waits for it; where there are many processes, in those that work. What one that died has left, another takes up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from django.db import Error, close_old_connections, connections

from ..config.patience import patience
from ..processes.itself import ITSELF, Task
from ..providers.configured import Catalog
from ..store import Refused
from ..tools.at_hand import ToolsAtHand
from ..turns.engine import engine
from ..turns.parts import PARTS, EnginePart
from .store import archives, imports
from .store.at_work import Abandoned, LongJob
from .store.bringing import Work

log = logging.getLogger(__name__)
W = TypeVar("W", bound=LongJob[Any])

LOOK_SECONDS = 1.0
# So long one of its writes waits for others.
PATIENCE = 30.0


class LongWork(EnginePart):
    def __init__(self, tools: ToolsAtHand) -> None:
        self._tools = tools
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="exchange")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._called = asyncio.Event()
        self._wanted = True

    async def keep(self) -> None:
        self._loop = asyncio.get_running_loop()
        while ITSELF.task is not Task.SERVES:
            try:
                done = await self._loop.run_in_executor(self._thread, self._do_next)
            except Error as error:
                done = False
                log.warning("nothing could be taken in or out: %s", type(error).__name__)
            if not done:
                self._called.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._called.wait()

    def call(self) -> None:
        """There is something to do, maybe for this process. From any thread."""
        if self._loop:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._called.set)

    async def close(self) -> None:
        """What it is at stands in rows, for somebody else or for later."""
        if not self._wanted:
            return
        self._wanted = False
        self._thread.submit(connections.close_all)
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=False)

    def _do_next(self) -> bool:
        with patience(PATIENCE, anew=True):
            try:
                return self._wanted and (self._do_import() or self._make_archive())
            finally:
                close_old_connections()

    def _do_import(self) -> bool:
        brought = imports.take(engine().runner.name)
        if brought is None:
            return False
        work = Work(brought, engine().runner.name, lambda: self._wanted, tools=self._at_hand)
        _to_its_end(work, imports.do, imports.give_up)
        return True

    def _make_archive(self) -> bool:
        archive = archives.take(engine().runner.name)
        if archive is None:
            return False
        work = LongJob(archive, engine().runner.name, lambda: self._wanted)
        _to_its_end(work, archives.make, archives.give_up)
        return True

    def _at_hand(self, tools: list[Any]) -> list[Any]:
        """Those that are here as they are described there: a description is what models read."""
        here = {name: tool.definition for name, tool in self._tools.items()}
        return [tool for tool in tools if isinstance(tool, dict) and here.get(str(tool.get("name"))) == tool]


def _to_its_end(work: W, do: Callable[[W], None], give_up: Callable[[W], None]) -> None:
    """Whatever somebody wrote into a file, those who come after them are not kept waiting."""
    try:
        do(work)
    except (Abandoned, Refused):
        work.release()
    except Error:
        work.release()
        raise
    except Exception as error:
        log.error("%s was given up: %s", work.row, type(error).__name__)
        give_up(work)


def call_for_work() -> None:
    """Whatever was asked for is in the rows."""
    engine().part(LongWork).call()


def _made(catalog: Catalog, tools: ToolsAtHand) -> LongWork:
    return LongWork(tools)


PARTS.append(_made)
