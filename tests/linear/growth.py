"""How the time that a piece of work takes grows with the length of its text. It is the processor's time of this thread alone, the
best of several, and what is over at once is not compared at all: a busy machine changes nothing."""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from math import log

SIZES = (4_000, 8_000, 16_000, 32_000)
# What takes so little for each sign of a short text does not go through it again and again.
SURE = 1e-7
# Below it there is more noise than growth.
FLOOR = 0.004
# What nobody would wait for, whatever its growth.
CEILING = 1.0
# 1 is in proportion, 2 the square; a logarithm makes it 1.1.
STEEPEST = 1.4
BEST_OF = 3
PATIENCE = 20.0

Work = Callable[[str], object]
Shape = Callable[[int], str]


class TooSlow(AssertionError):
    """It would not have come to its end."""


def too_steep(work: Work, shape: Shape, sizes: tuple[int, ...] = SIZES) -> str:
    """In words, where the work takes more than its share of time for longer texts, else nothing."""
    with _quiet():
        try:
            if _is_sure(work, shape, sizes):
                return ""
            taken = [_best(work, shape(size)) for size in sizes]
        except TooSlow as error:
            return str(error)
    told = ", ".join(f"{size:,}: {seconds * 1000:.1f} ms" for size, seconds in zip(sizes, taken, strict=True))
    return told if taken[-1] > FLOOR and (taken[-1] > CEILING or _slope(sizes, taken) > STEEPEST) else ""


def _is_sure(work: Work, shape: Shape, sizes: tuple[int, ...]) -> bool:
    """A first look, which is enough for nearly all."""
    short = _seconds(work, shape(sizes[0]))
    if short < SURE * sizes[0]:
        return True
    return short < CEILING / 10 and _seconds(work, shape(sizes[2])) < short * sizes[2] / sizes[0] * 1.5


def _slope(sizes: tuple[int, ...], taken: list[float]) -> float:
    """Between the ends, and over each doubling but for one that something else was to blame for."""
    steps = sorted(log(later / earlier, 2) for earlier, later in pairwise(taken))
    whole = log(taken[-1] / taken[0]) / log(sizes[-1] / sizes[0])
    return min(whole, steps[1])


def _best(work: Work, text: str) -> float:
    first = _seconds(work, text)
    if first > CEILING:
        raise TooSlow(f"{len(text):,}: {first:.1f} s")
    return min(first, *(_seconds(work, text) for _ in range(BEST_OF - 1)))


def _seconds(work: Work, text: str) -> float:
    begun = time.thread_time()
    work(text)
    return max(time.thread_time() - begun, 1e-9)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without collecting what other tests have left; and not for ever."""

    def stop(*_: object) -> None:
        raise TooSlow(f"not even {SIZES[0]:,} in {PATIENCE:.0f} s")

    gc.disable()
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
