"""After a burst: what many pages at once needed is given back when nobody has asked for one for a while."""

from __future__ import annotations

import asyncio
import gc

from ..processes import memory
from ..store.database.threads import exchange_threads, since_last_page

QUIET_SECONDS = 20.0


async def keep_resting(*, quiet: float = QUIET_SECONDS) -> None:
    while True:
        await asyncio.sleep(quiet / 2)
        made = since_last_page()
        if made is not None and made >= quiet:
            await asyncio.to_thread(exchange_threads())
            gc.collect()
            memory.give_back()
