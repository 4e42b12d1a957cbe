"""Notices through PostgreSQL: told in the transaction that makes them true, and heard by every process over a connection of its own."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
from collections.abc import Callable
from contextlib import aclosing
from typing import Any
from uuid import UUID, uuid4

import psycopg
from django.db import connection

from ...store.changes import NONE
from ..notices import MemoryNotices, Notice

log = logging.getLogger(__name__)

CHANNEL, STOPS = "thoughtline", "thoughtline_stops"
PAUSE, LONGEST_PAUSE = 0.1, 1.0
# Where it matters how the server is reached; all else is for Django's own connections.
UNLIKE_DJANGO = ("cursor_factory", "context", "prepare_threshold")


class PostgresNotices(MemoryNotices):
    """This process hears of its own changes at once, with what was written; of others' by this connection."""

    def __init__(self) -> None:
        super().__init__()
        self._origin = uuid4().hex
        self._hearing: asyncio.Task[None] | None = None
        # Told which attempt at which turn is about to be stopped elsewhere.
        self.heard_stop: list[Callable[[UUID, int], None]] = []
        # Whether it is connected, which a page for staff says.
        self.hears = False

    def begin(self) -> None:
        if self._hearing is None:
            self._hearing = asyncio.create_task(self._keep_hearing(), context=contextvars.Context())

    async def end(self) -> None:
        await super().end()
        if self._hearing:
            self._hearing.cancel()
            await asyncio.gather(self._hearing, return_exceptions=True)
            self._hearing = None

    def _tell_others(self, words: list[Any]) -> None:
        _notify(CHANNEL, [self._origin, *words])

    async def _keep_hearing(self) -> None:
        pause = PAUSE
        while True:
            try:
                async with await _connected() as line:
                    for channel in (CHANNEL, STOPS):
                        await line.execute(f"LISTEN {channel}")
                    self.hears, pause = True, PAUSE
                    self._tell_of_silence()
                    async with aclosing(line.notifies()) as notified:
                        async for told in notified:
                            self._hear_from(told.channel, told.payload)
            except (psycopg.Error, OSError) as error:
                log.warning("no notices are heard, and they are listened for again: %s", type(error).__name__)
            finally:
                self.hears = False
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _hear_from(self, channel: str, payload: str) -> None:
        try:
            if channel == STOPS:
                message, attempt = json.loads(payload)
                self._hear_of_stop(UUID(message), attempt)
            else:
                origin, *told = json.loads(payload)
                self._hear_unless_own(origin, told)
        except (ValueError, TypeError, AttributeError):
            # A process of another version says what this one does not know.
            self._tell_of_silence()

    def _hear_of_stop(self, message: UUID, attempt: int) -> None:
        for hear in self.heard_stop:
            hear(message, attempt)

    def _hear_unless_own(self, origin: str, told: list[Any]) -> None:
        if origin != self._origin:
            self._hear(told)

    def _tell_of_silence(self) -> None:
        """Nobody knows what was told meanwhile: everybody looks once."""
        for address in tuple(self._listeners):
            self._give(Notice(NONE, "missed", address=address))


def tell_of_stop(message: UUID, attempt: int) -> None:
    """At once, and before anything of it is true."""
    _notify(STOPS, [message.hex, attempt])


def _notify(channel: str, told: list[Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [channel, json.dumps(told)])


async def _connected() -> psycopg.AsyncConnection[Any]:
    how = connection.get_connection_params()
    for name in UNLIKE_DJANGO:
        how.pop(name, None)
    return await psycopg.AsyncConnection.connect(**how, autocommit=True)
