"""What PostgreSQL tells every process, with the moment in which it came here."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import psycopg

# As `chatapp.turns.scale.notices` has it.
CHANNEL = "thoughtline"


class Notified:
    """`told`: what, of which message, and when, by the clock that all processes share, in seconds."""

    def __init__(self) -> None:
        self.told: list[tuple[str, UUID, float]] = []
        self._more = asyncio.Event()

    async def hear(self, line: psycopg.AsyncConnection[tuple[object, ...]]) -> None:
        async for each in line.notifies():
            _, _, what, message, _ = json.loads(each.payload)
            if message:
                self.told.append((what, UUID(message), time.monotonic()))
                self._more.set()

    async def when(self, what: str, message: UUID, after: float = 0.0) -> float:
        while True:
            for name, told_of, at in self.told:
                if (name, told_of) == (what, message) and at > after:
                    return at
            self._more.clear()
            await self._more.wait()


@asynccontextmanager
async def notified(database: str) -> AsyncIterator[Notified]:
    heard = Notified()
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as line:
        await line.execute(f"LISTEN {CHANNEL}")
        hearing = asyncio.create_task(heard.hear(line))
        try:
            yield heard
        finally:
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)
