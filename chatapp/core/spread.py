"""How long things took, kept as counts on a scale that grows: half of them, 19 of 20, read off within five in a hundred."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2

# Steps to each doubling.
STEPS = 8


def bucket(ms: int) -> int:
    """Its step on the scale; neighbours are nine in a hundred apart."""
    return round(STEPS * log2(max(1, ms)))


def middle(bucket: int) -> int:
    """Milliseconds that the step stands for."""
    return round(2 ** (bucket / STEPS))


def quantile(counts: Mapping[int, int], part: float) -> int | None:
    """So long took at most this part of them, in milliseconds; None where nothing was counted."""
    total = sum(counts.values())
    passed = 0
    for step in sorted(counts):
        passed += counts[step]
        if passed and passed >= part * total:
            return middle(step)
    return None
