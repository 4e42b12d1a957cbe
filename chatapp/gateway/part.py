"""Says of the requests that this process answers that it is at work on them, ends those that nobody answers any more, and gives up those
whose key opens nothing any more."""

from __future__ import annotations

import asyncio
import logging
from uuid import UUID

from django.db import Error
from django.utils import timezone

from ..store import in_thread
from ..turns.engine import engine
from ..turns.parts import PARTS, EnginePart
from .asking import under_way
from .asking.answering import all_written
from .store import requests
from .store.keys import valid_keys
from .store.recorded import end_forgotten

log = logging.getLogger(__name__)

EVERY = 20.0
# Who revokes a key sees its streams end.
WATCHED_EVERY = 1.0


class KeyRequests(EnginePart):
    def __init__(self, *, every: float = EVERY) -> None:
        self._every = every

    async def keep(self) -> None:
        while True:
            await self._look()
            await asyncio.sleep(self._every)

    async def close(self) -> None:
        await all_written()

    async def _look(self) -> None:
        runner = engine().runner
        try:
            await in_thread(requests.say_alive)(runner.name)
            await in_thread(requests.end_lost)(runner.is_gone)
            await in_thread(end_forgotten)(timezone.now())
        except Error as error:
            log.warning("requests of keys were not looked after: %s", type(error).__name__)


class WatchedKeys(EnginePart):
    def __init__(self, *, every: float = WATCHED_EVERY) -> None:
        self._every = every

    async def keep(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            if keys := under_way.keys_in_use():
                await self._look(keys)

    async def _look(self, keys: set[UUID]) -> None:
        """While nobody can say, what was let in goes on."""
        try:
            valid = await in_thread(valid_keys)(keys)
        except Error as error:
            log.warning("keys in use were not looked at: %s", type(error).__name__)
        else:
            under_way.give_up_without(valid, among=keys)


PARTS.append(lambda catalog, tools: KeyRequests())
PARTS.append(lambda catalog, tools: WatchedKeys())
