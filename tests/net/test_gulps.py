"""What arrives waits for what follows only while the event loop comes late to everything."""

from __future__ import annotations

import asyncio
import time

from chatapp.net.gulps import LONGEST_SECONDS, LOOK_SECONDS, Gulps
from tests.support.patience import PATIENCE


async def until(gulps: Gulps, waits: bool, *, busy: float) -> float:
    """Of a loop that is held up for so long in each of its turns."""
    async with asyncio.timeout(PATIENCE):
        while bool(wait := gulps.wait()) is not waits:
            hold_up(busy)
            await asyncio.sleep(0.001)
    return wait


def hold_up(seconds: float) -> None:
    """Also the loop."""
    time.sleep(seconds)


def test_nothing_waits_but_while_the_loop_is_late():
    async def story() -> None:
        gulps = Gulps()
        assert gulps.wait() == 0
        assert 0 < await until(gulps, True, busy=2 * LOOK_SECONDS) <= LONGEST_SECONDS
        assert await until(gulps, False, busy=0) == 0

    asyncio.run(story())
