"""Removes once in a while what was deleted long ago, and sessions that have ended."""

from __future__ import annotations

import asyncio
import logging

from django.db import Error

from ..store import accounts, deleting, in_thread

log = logging.getLogger(__name__)

HOUR = 3600.0


async def keep_purging(*, every: float = HOUR) -> None:
    while True:
        try:
            if removed := await in_thread(deleting.purge)():
                log.info("%s messages were removed for good", removed)
            await in_thread(accounts.forget_expired_sessions)()
        except Error as error:
            log.warning("nothing could be purged: %s", type(error).__name__)
        await asyncio.sleep(every)
