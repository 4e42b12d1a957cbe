"""Removes once in a while what was deleted long ago, and sessions that have ended."""

from __future__ import annotations

import asyncio
import logging

from django.contrib.sessions.backends.db import SessionStore
from django.db import Error

from ..store import deleting, in_thread

log = logging.getLogger(__name__)

HOUR, MINUTE = 3600.0, 60.0


async def keep_purging(*, every: float = HOUR, again: float = MINUTE) -> None:
    while True:
        purged = await _purged()
        await asyncio.sleep(every if purged else again)


async def _purged() -> bool:
    try:
        if removed := await in_thread(deleting.purge)():
            log.info("%s messages were removed for good", removed)
        # Whoever does not come back would leave a row for ever.
        await in_thread(SessionStore.clear_expired)()
    except Error as error:
        log.warning("nothing could be purged: %s", type(error).__name__)
        return False
    return True
