"""How late this process wakes up: where it does, a machine has too much to do, and what others do late tells nothing of them."""

from __future__ import annotations

import asyncio
import time
from collections import deque

EVERY = 0.1
# Half a minute of a wait is looked back on, and some more.
KEPT_SECONDS = 120.0
# So late, and nobody can be held to seconds.
MUCH = 0.5


class Busyness:
    def __init__(self) -> None:
        self._late: deque[tuple[float, float]] = deque(maxlen=round(KEPT_SECONDS / EVERY))

    async def watch(self) -> None:
        while True:
            due = time.monotonic() + EVERY
            await asyncio.sleep(EVERY)
            now = time.monotonic()
            self._late.append((now, now - due))

    def worst(self, since: float) -> float:
        """Seconds."""
        return max((late for at, late in self._late if at >= since), default=0.0)

    def is_much(self, since: float) -> bool:
        return self.worst(since) > MUCH
