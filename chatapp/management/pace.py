"""A clock that somebody moves: what the demo would wait for is added to it, and nobody waits."""

from __future__ import annotations

import asyncio
import time
from random import Random

SLOWEST, QUICKEST = 11.0, 4.0
UNEVEN = (0.4, 1.8)


class Pace:
    """The real clock goes on below it, so that what really takes time takes its own. The same `story` has the same pace."""

    def __init__(self) -> None:
        self._passed, self._random, self._slower = 0.0, Random(), QUICKEST
        self._words: int | None = None
        self.silent = asyncio.Event()

    def begin(self, story: str) -> None:
        self._random = Random(story)
        self._slower = self._random.uniform(QUICKEST, SLOWEST)

    def now(self) -> float:
        return time.monotonic() + self._passed

    def let_pass(self, seconds: float) -> None:
        self._passed += seconds

    def fall_silent_after(self, words: int) -> None:
        """From then on nothing more is said until somebody stops it."""
        self._words = words
        self.silent.clear()

    async def sleep(self, seconds: float) -> None:
        if self._words == 0:
            self._words = None
            self.silent.set()
            await asyncio.Event().wait()
        if self._words:
            self._words -= 1
        self.let_pass(seconds * self._slower * self._random.uniform(*UNEVEN))
        await asyncio.sleep(0)
