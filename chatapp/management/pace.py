"""A clock that somebody moves: what the demo would wait for is added to it, and nobody waits."""

from __future__ import annotations

import asyncio
import time
from random import Random

QUICKEST, SLOWEST = 3.0, 20.0
# How evenly the words come, and how often the pace changes.
UNEVEN, CHANGES = (0.4, 1.8), 0.06


class Pace:
    """The real clock goes on below it, so that what really takes time takes its own. The same `story` has the same pace."""

    def __init__(self) -> None:
        self._passed = 0.0
        self.begin("")
        self._words: int | None = None
        self.silent = asyncio.Event()

    def begin(self, story: str) -> None:
        self._random = Random(story)  # noqa: S311  (no secret)
        self._change()

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
        if self._random.random() < CHANGES:
            self._change()
        self.let_pass(seconds * self._slower * self._random.uniform(*UNEVEN))
        await asyncio.sleep(0)

    def _change(self) -> None:
        self._slower = self._random.triangular(QUICKEST, SLOWEST, QUICKEST)
