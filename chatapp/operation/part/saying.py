"""Says beside others that this process is there, and how it is: soon while it has something to do, seldom while it has not. The only
process there is tells nobody."""

from __future__ import annotations

import asyncio
import logging
import platform
import time
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.db import Error

from ...processes.itself import ITSELF, Task
from ...store import in_thread
from ...store.database.pool import ask_database
from ...turns.engine import engine
from ...turns.parts import PARTS, EnginePart
from ..store import presence
from ..store.fingerprints import code_version, differences, fingerprints, load_salt
from ..store.presence import Introduced
from ..store.waiting import count_queued
from .figures import figures_now
from .noticed import NOTICED

log = logging.getLogger(__name__)

TICK = 1.0
# In ticks.
SOON, SELDOM = 2, 10
THIS = "This process"


class SelfReport(EnginePart):
    def __init__(self, *, tick: float = TICK) -> None:
        self._tick = tick
        self._me: Introduced | None = None
        self._salt = ""
        self._told: list[str] = []
        # What Redis said of itself.
        self._redis: dict[str, Any] = {}

    async def keep(self) -> None:
        ticks, was_busy = 0, False
        while True:
            before = time.monotonic()
            await asyncio.sleep(self._tick)
            NOTICED.note_late(time.monotonic() - before - self._tick)
            NOTICED.note_requests()
            ticks += 1
            is_busy = self._is_busy()
            # What was said while it had something to do would stand there for long.
            if settings.REDIS_URL and ticks >= (SOON if is_busy or was_busy else SELDOM if self._me else 1):
                ticks, was_busy = 0, is_busy
                await self._say()

    async def close(self) -> None:
        if self._me:
            with suppress(Error):
                await in_thread(presence.leave)(self._me.runner)

    def _is_busy(self) -> bool:
        return bool(engine().live.here()) or ITSELF.is_ending

    async def _say(self) -> None:
        await self._ask_redis()
        try:
            if self._me is None:
                self._me, self._salt = await in_thread(_introduced)()
            NOTICED.note_waiting(await in_thread(count_queued)())
            await in_thread(self._write)(self._me, figures_now() | self._redis)
        except Error as error:
            log.info("this process could not say that it is there: %s", type(error).__name__)

    async def _ask_redis(self) -> None:
        from ...turns.scale.health import ask_redis

        found = await ask_redis(engine().live.redis)  # type: ignore[attr-defined]
        NOTICED.note_redis(found is not None)
        self._redis = {"redis_ms": found and round(found.ms, 2), "redis_memory": found and found.memory}

    def _write(self, me: Introduced, figures: dict[str, Any]) -> None:
        asked = ask_database()
        skew = time.time() - asked.now.timestamp()
        others = presence.load_fingerprints(asked.now)
        others.pop(me.runner, None)
        mine = fingerprints(self._salt, others.values())
        presence.say(me, mine, figures | {"database_ms": round(asked.ms, 2), "ahead_ms": round(1000 * skew)})
        self._tell_differences(
            [each.sentence for each in differences(others | {THIS: mine}) if each.who == THIS]
        )

    def _tell_differences(self, sentences: list[str]) -> None:
        """Of this process, in its own log, each once."""
        for sentence in sentences:
            if sentence not in self._told:
                log.warning("%s", sentence)
        self._told = sentences


def _introduced() -> tuple[Introduced, str]:
    runner = engine().runner
    presence.replace_lost(runner.is_gone)
    machine = platform.node()[:100] or "without a name"
    task = Task.WORKS if ITSELF.task is Task.WORKS else Task.SERVES
    return Introduced(runner.name, task, machine, code_version()), load_salt()


PARTS.append(lambda catalog, tools: SelfReport())
