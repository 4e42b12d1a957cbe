"""Watches one turn to its end. Joining, coming back and moving to another process are the same path:
look at the row, read the events of its attempt, look again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from ..store import in_thread
from ..store.changes import Ended
from ..store.models import Message, Status
from .keep.keeper import PASSING, Keeper
from .live import Hear, Live, LiveEvent
from .notices import Notice, Notices

LOOK_SECONDS = 2.0
# Before another try, where the rows cannot be looked at.
PAUSE = 0.2
AT_WORK = (Status.QUEUED, Status.RUNNING)


@dataclass(frozen=True, slots=True)
class News:
    """Events of one attempt. Another attempt than before: what was shown of the last one is void. `ended`: how the rows stand now,
    where whoever wrote that told it; nothing follows then."""

    attempt: int
    said: list[LiveEvent]
    ended: Ended | None = None


async def watch(
    message: UUID,
    live: Live,
    notices: Notices,
    keeper: Keeper,
    *,
    look: float = LOOK_SECONDS,
    row: Message | None = None,
    hear: Hear | None = None,
) -> AsyncIterator[News]:
    """Until the turn has ended or waits for a person. Of one that was stopped here no row needs to say so. `row`: as it was read. What
    follows on the last news may be taken at once by `hear`."""
    row = row or await in_thread(_row)(message)
    attempt, after = row.attempt, 0

    def taken(said: LiveEvent) -> bool:
        """What was taken at once is not given again after a look at the row."""
        nonlocal after
        if hear is None or not hear(said):
            return False
        after = said.n
        return True

    async with notices.listen(row.conversation_id) as told:
        while True:
            async for said in live.read((message, attempt), after, taken):
                after = said[-1].n
                yield News(attempt, said)
            ended = _told_of_end(told, message, attempt)
            if ended is None:
                try:
                    row = await in_thread(_row)(message)
                except PASSING:
                    # Words come all the same.
                    await asyncio.sleep(PAUSE)
                    continue
            if ended or row.status not in AT_WORK or keeper.is_stopped(message):
                said = await live.last_words((message, attempt), after)
                if said or ended:
                    yield News(attempt, said, ended)
                if row.attempt > attempt and (said := await live.last_words((message, row.attempt), 0)):
                    yield News(row.attempt, said)
                return
            if row.attempt != attempt:
                attempt, after = row.attempt, 0
            else:
                await _first(told.get(), live.opened((message, attempt)), within=look)


def _told_of_end(told: asyncio.Queue[Notice], message: UUID, attempt: int) -> Ended | None:
    """What of this attempt the newest notice says."""
    ended = None
    while not told.empty():
        notice = told.get_nowait()
        if notice.message == message:
            ended = notice.written
    return ended if isinstance(ended, Ended) and ended.answer.attempt == attempt else None


async def _first(*signs: Coroutine[Any, Any, Any], within: float) -> None:
    """The next notice, a claimed turn that begins to speak, or a look for safety when neither came."""
    tasks = [asyncio.ensure_future(sign) for sign in signs]
    try:
        await asyncio.wait(tasks, timeout=within, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def _row(message: UUID) -> Message:
    return Message.objects.only("id", "conversation_id", "attempt", "status").get(pk=message)
