"""Says of the requests that this process answers that it is at work on them, and ends those that nobody answers any more."""

from __future__ import annotations

import asyncio
import logging

from django.db import Error

from ..store import in_thread
from ..turns.engine import engine
from ..turns.parts import PARTS, EnginePart
from .store import requests

log = logging.getLogger(__name__)

EVERY = 20.0


class KeyRequests(EnginePart):
    def __init__(self, *, every: float = EVERY) -> None:
        self._every = every

    async def keep(self) -> None:
        while True:
            await self._look()
            await asyncio.sleep(self._every)

    async def _look(self) -> None:
        runner = engine().runner
        try:
            await in_thread(requests.say_alive)(runner.name)
            await in_thread(requests.end_lost)(runner.is_gone)
        except Error as error:
            log.warning("requests of keys were not looked after: %s", type(error).__name__)


PARTS.append(lambda catalog, tools: KeyRequests())
