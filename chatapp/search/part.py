"""Folds what is not folded yet, and indexes what is: in one process of those that serve or work, and only as fast as nobody feels it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from django.db import Error

from ..store import in_thread
from ..turns.engine import engine
from ..turns.parts import PARTS, EnginePart
from .store.filling import Filling, hold_mark, leave_mark

log = logging.getLogger(__name__)

# Seconds: between two pieces, and when nothing is left to do.
SOON, SELDOM = 0.02, 15.0


class Searchable(EnginePart):
    def __init__(self, *, soon: float = SOON, seldom: float = SELDOM) -> None:
        self._soon, self._seldom = soon, seldom
        self._filling = Filling()

    async def keep(self) -> None:
        while True:
            try:
                had_more = await self._step()
            except Error as error:
                log.warning("what was said could not be made searchable: %s", type(error).__name__)
                had_more = False
            await asyncio.sleep(self._soon if had_more else self._seldom)

    async def _step(self) -> bool:
        if not await in_thread(hold_mark)(engine().runner.name):
            return False
        return bool(await in_thread(self._filling.step)())

    async def close(self) -> None:
        with suppress(Error):
            await in_thread(leave_mark)(engine().runner.name)


PARTS.append(lambda catalog, tools: Searchable())
