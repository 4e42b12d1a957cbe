"""The scale of a waterfall: where its marks stand, and what they are called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from django.utils.safestring import SafeString

from ...core.durations import in_short

MOST_MARKS = 6
# A word that began further right would run into the column beside it.
LAST_WORD = 92.0
_SECOND, _MINUTE, _HOUR = 1000, 60_000, 3_600_000
_STEPS = (
    *(tenth * 100 for tenth in (1, 2, 5)),
    *(seconds * _SECOND for seconds in (1, 2, 5, 10, 20, 30)),
    *(minutes * _MINUTE for minutes in (1, 2, 5, 10, 20, 30)),
)


@dataclass(frozen=True, slots=True)
class Scale:
    """What bars are drawn on: so many milliseconds. `since`: where on it an answer begins."""

    total: int
    since: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """Its place in percent, and its words where there is room for them."""

    at: str
    words: str


def marks(total: int) -> tuple[Mark, ...]:
    """Round moments from 0 to the end of so many milliseconds, at most six."""
    return tuple(_mark(at, total) for at in moments(total, MOST_MARKS))


def moments(total: int, most: int) -> range:
    """From 0 to the end, at most so many."""
    step = next(step for step in _steps() if total // step < most)
    return range(0, total + 1, step)


def percent(part: float, whole: float) -> str:
    # Said to be safe, since escaping its digits takes longer than all the rest of showing them.
    return SafeString(f"{100 * part / whole if whole else 0:.2f}")


def _steps() -> Iterator[int]:
    yield from _STEPS
    for power in count():
        yield from (hours * 10**power * _HOUR for hours in (1, 2, 5))


def _mark(at: int, total: int) -> Mark:
    return Mark(percent(at, total), mark_in_words(at) if at * 100 <= LAST_WORD * total or not at else "")


def mark_in_words(at: int) -> str:
    return in_short(at) if at and at % _SECOND == 0 else f"{at / _SECOND:g} s"
