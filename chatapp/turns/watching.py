"""Watches one turn to its end. Joining, coming back and moving to another process are the same path:
look at the row, read the events of its attempt, look again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from ..models import Message, Status
from ..store import in_thread
from .live import Live, Said
from .notices import Notice, Notices

LOOK_SECONDS = 2.0
AT_WORK = (Status.QUEUED, Status.RUNNING)


@dataclass(frozen=True, slots=True)
class News:
    """Events of one attempt. Another attempt than before: what was shown of the last one is void."""

    attempt: int
    said: list[Said]


async def watch(message: UUID, live: Live, notices: Notices) -> AsyncIterator[News]:
    """Until the turn has ended or waits for a person."""
    row = await in_thread(_row)(message)
    attempt, after = row.attempt, 0
    async with notices.listen(row.conversation_id) as told:
        while True:
            row = await in_thread(_row)(message)
            if row.attempt != attempt:
                attempt, after = row.attempt, 0
            async for said in live.read((message, attempt), after):
                after = said[-1].n
                yield News(attempt, said)
            row = await in_thread(_row)(message)
            if row.status not in AT_WORK:
                return
            if row.attempt == attempt:
                await _next(told)


async def _next(told: asyncio.Queue[Notice]) -> None:
    """The next notice, or a look for safety when none came."""
    with suppress(TimeoutError):
        await asyncio.wait_for(told.get(), LOOK_SECONDS)


def _row(message: UUID) -> Message:
    return Message.objects.only("id", "conversation_id", "attempt", "status").get(pk=message)
