"""Lays the figures of some days out as pictures, 320 by 120, in attributes alone. The table beside each says the same in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise

from ...pages.words import axis

LEFT, RIGHT, TOP, BOTTOM = 34, 314, 8, 102
MOST_MARKS = 4


@dataclass(frozen=True, slots=True)
class GridLine:
    """A line across, and its word."""

    y: int
    words: str


@dataclass(frozen=True, slots=True)
class DayStretch:
    """Days that follow one another, as points of lines; of a single day there are only the dots."""

    band: str
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class Dot:
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Lines:
    marks: tuple[GridLine, ...]
    stretches: tuple[DayStretch, ...]
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class DayBar:
    """One day; `part` of it, from below, is of another kind."""

    x: str
    width: str
    y: int
    height: int
    part_y: int
    part_height: int


@dataclass(frozen=True, slots=True)
class Bars:
    marks: tuple[GridLine, ...]
    bars: tuple[DayBar, ...]


Pair = tuple[int, int]


def lines(days: Sequence[Pair | None], top: int) -> Lines:
    """Two values for each day, None where there is nothing. `top`: the highest, in milliseconds, of all pictures side by side."""
    at_marks = _up_to(axis.moments(max(top, 1), MOST_MARKS - 1), top)
    top = max(at_marks[-1], 1)
    marks = tuple(GridLine(_y(at, top), axis.mark_in_words(at)) for at in at_marks)
    runs = list(_days_in_a_row(days))
    stretches = tuple(_stretch_of_days(run, len(days), top) for run in runs if len(run) > 1)
    last = next((n for n in reversed(range(len(days))) if days[n]), None)
    ends = {n for run in runs if len(run) == 1 for n, _ in run} | ({last} - {None})
    dots = (Dot(_at_day(n, len(days)), _y(pair[0], top)) for n, pair in enumerate(days) if pair and n in ends)
    return Lines(marks, stretches, tuple(dots))


def bars(days: Sequence[Pair], words: Callable[[int], str]) -> Bars:
    """For each day how much, and how much of it is of the other kind."""
    most = max((1, *(whole for whole, _ in days)))
    step = next(step for step in _steps() if most // step < MOST_MARKS - 1)
    at_marks = _up_to(range(0, most + 1, step), most)
    top = at_marks[-1]
    marks = tuple(GridLine(_y(at, top), words(at)) for at in at_marks)
    return Bars(marks, tuple(_bar(n, len(days), pair, top) for n, pair in enumerate(days)))


def _up_to(marks: range, top: int) -> range:
    """With one more mark where the highest value lies above the last one: nothing leaves the picture."""
    return range(0, marks[-1] + 1 + (marks.step if marks[-1] < top else 0), marks.step)


def _days_in_a_row(days: Sequence[Pair | None]) -> Iterator[list[tuple[int, Pair]]]:
    known = [(n, pair) for n, pair in enumerate(days) if pair]
    run = known[:1]
    for (before, _), (n, pair) in pairwise(known):
        if n > before + 1:
            yield run
            run = []
        run.append((n, pair))
    if run:
        yield run


def _stretch_of_days(run: Sequence[tuple[int, Pair]], days: int, top: int) -> DayStretch:
    low = [f"{_at_day(n, days)},{_y(pair[0], top)}" for n, pair in run]
    high = [f"{_at_day(n, days)},{_y(pair[1], top)}" for n, pair in run]
    return DayStretch(" ".join([*high, *reversed(low)]), " ".join(low), " ".join(high))


def _bar(n: int, days: int, pair: Pair, top: int) -> DayBar:
    wide = (RIGHT - LEFT) / max(days, 1)
    y, part = _y(pair[0], top), _y(pair[1], top)
    # What is there is seen, however little it is.
    y = min(y, BOTTOM - 1) if pair[0] else BOTTOM
    part = min(part, BOTTOM - 1) if pair[1] else BOTTOM
    return DayBar(f"{LEFT + n * wide:.1f}", f"{wide * 0.8:.1f}", y, BOTTOM - y, part, BOTTOM - part)


def _at_day(n: int, days: int) -> int:
    return round(LEFT + (RIGHT - LEFT) * n / max(days - 1, 1))


def _y(value: float, top: float) -> int:
    return round(BOTTOM - (BOTTOM - TOP) * value / top)


def _steps() -> Iterator[int]:
    for power in count():
        yield from (digit * 10**power for digit in (1, 2, 5))
