"""Keeps the cache of thoughts within its bounds: what has expired leaves the memory, what is too much of one owner leaves the rows, what
others cleared is cleared here, and replays are written down."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from django.db import Error
from django.utils import timezone

from ...store import in_thread
from ...turns.parts import PARTS, EnginePart
from ..store.cached import go_on_clearing, heard_cleared
from ..store.kept import memory
from ..store.purging import trim_grown
from ..store.replays import to_write

log = logging.getLogger(__name__)

# What was cleared elsewhere is heard of that soon; the rest is done each so many times.
EVERY, SELDOM = 1.0, 20


class KeptThoughts(EnginePart):
    def __init__(self, *, every: float = EVERY, seldom: int = SELDOM) -> None:
        self._every, self._seldom = every, seldom

    async def keep(self) -> None:
        times = 0
        while True:
            if len(memory):
                with suppress(Error):
                    await in_thread(heard_cleared.take_in)()
            if times % self._seldom == 0:
                await self._look()
            times += 1
            await asyncio.sleep(self._every)

    async def _look(self) -> None:
        memory.purge(timezone.now().timestamp())
        for work in (to_write.write, trim_grown, go_on_clearing):
            try:
                await in_thread(work)()
            except Error as error:
                log.warning("kept thoughts were not looked after: %s", type(error).__name__)

    async def close(self) -> None:
        with suppress(Error):
            await in_thread(to_write.write)()


PARTS.append(lambda catalog, tools: KeptThoughts())
