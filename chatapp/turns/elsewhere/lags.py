"""How long what is said in one process takes to be read in another, of late."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import randrange

MINUTES = 30
# Of a minute so many are kept, each as likely as the others.
KEPT = 500
# What half of them, and 99 of 100, are within; in milliseconds.
Lag = tuple[float, float]


class _Minute:
    def __init__(self, number: int) -> None:
        self.number = number
        self.seen = 0
        self.kept: list[float] = []

    def note(self, ms: float) -> None:
        self.seen += 1
        if len(self.kept) < KEPT:
            self.kept.append(ms)
        elif (place := randrange(self.seen)) < KEPT:  # noqa: S311  (a sample, no secret)
            self.kept[place] = ms


class Lags:
    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._minutes: list[_Minute] = []

    def note(self, ms: float) -> None:
        number = int(self._now() // 60)
        if not self._minutes or self._minutes[-1].number != number:
            self._minutes = [*self._minutes[1 - MINUTES :], _Minute(number)]
        self._minutes[-1].note(max(0.0, ms))

    def minutes(self) -> dict[int, Lag]:
        """By the number of the minute; those in which nothing was said are missing."""
        since = self._now() // 60 - MINUTES
        return {each.number: _lag(each.kept) for each in self._minutes if each.number > since}

    def lately(self, minutes: int) -> Lag | None:
        since = self._now() // 60 - minutes
        kept = [ms for each in self._minutes if each.number > since for ms in each.kept]
        return _lag(kept) if kept else None


def _lag(kept: list[float]) -> Lag:
    ordered = sorted(kept)
    return ordered[len(ordered) // 2], ordered[(len(ordered) * 99) // 100]


LAGS = Lags()
