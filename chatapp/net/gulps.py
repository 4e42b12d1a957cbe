"""How long what arrives may wait for what follows: not at all while the event loop keeps up; when it comes late to everything, words
that are read together cost it little more than one."""

from __future__ import annotations

import asyncio

LOOK_SECONDS = 0.02
# So late is every loop that does something.
CALM_SECONDS = 0.006
# What is read gets its moment then, and a thought's seconds must stay right.
LONGEST_SECONDS = 0.02
STEEP = 3
# Of the newest look in the mean: a single hiccup is over before waiting would help.
NEWEST = 0.15


class Gulps:
    """Of one event loop. It looks only while something arrives."""

    def __init__(self) -> None:
        self._late = self._due = 0.0
        self._looking = self._asked = False

    def wait(self) -> float:
        """Seconds."""
        if not self._looking:
            self._late, self._looking = 0.0, True
            self._look_later(asyncio.get_running_loop())
        self._asked = True
        return min(max(0.0, self._late - CALM_SECONDS) * STEEP, LONGEST_SECONDS)

    def _look_later(self, loop: asyncio.AbstractEventLoop) -> None:
        self._due, self._asked = loop.time() + LOOK_SECONDS, False
        loop.call_at(self._due, self._look)

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._late += (loop.time() - self._due - self._late) * NEWEST
        self._looking = self._asked
        if self._looking:
            self._look_later(loop)
