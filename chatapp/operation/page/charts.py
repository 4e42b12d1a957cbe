"""Two pictures, in attributes alone: how many turns waited for a slot, and how late words came. What stands beside them says the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import count

from ...core.values import fields
from ...turns.elsewhere.lags import MINUTES
from ..part.noticed import QUARTER, QUARTERS
from .process import Process

LEFT, RIGHT = 28, 474
STEP = 18.6
# Where there is a unit beside the numbers.
AFTER_UNIT = 48


@dataclass(frozen=True, slots=True)
class ChartMark:
    y: int
    words: str


@dataclass(frozen=True, slots=True)
class WaitedBar:
    x: float
    y: int
    height: int


@dataclass(frozen=True, slots=True)
class WaitedPicture:
    """By quarter of an hour: `now`, and the most there were."""

    marks: list[ChartMark]
    bars: list[WaitedBar]
    most: int
    began: str
    until: str
    most_at: str


def waited(processes: Iterable[Process], now: datetime, zone: tzinfo) -> WaitedPicture:
    """What any of them saw."""
    last = int(now.timestamp() // QUARTER)
    most: dict[int, int] = {}
    for each in processes:
        for quarter, number in _numbers(each.figures.get("waited")):
            most[quarter] = max(most.get(quarter, 0), int(number))
    heights = [most.get(last - QUARTERS + 1 + n, 0) for n in range(QUARTERS)]
    top, bottom, highest = 12, 192, max((1, *heights))
    bars = [
        WaitedBar(round(LEFT + 2 + STEP * n, 1), bottom - height, height)
        for n, number in enumerate(heights)
        if (height := max(2, round((bottom - top) * number / highest)) if number else 0)
    ]
    peak = max(range(QUARTERS), key=heights.__getitem__)

    def clock(quarter: int) -> str:
        return f"{datetime.fromtimestamp(quarter * QUARTER, UTC).astimezone(zone):%H:%M}"

    return WaitedPicture(
        _marks(highest, top, bottom),
        bars,
        max(heights),
        clock(last - QUARTERS + 1),
        clock(last + 1),
        clock(last - QUARTERS + 1 + peak),
    )


@dataclass(frozen=True, slots=True)
class LagPicture:
    """Lines of the minutes in which something was said: half of it came within the lower, 99 of 100 within the upper."""

    marks: list[ChartMark]
    low: str
    high: str
    half: str
    most: str
    dot: tuple[int, int]


def lagged(processes: Iterable[Process], now: datetime) -> LagPicture | None:
    """None where nothing was read from another process in this time."""
    last = int(now.timestamp() // 60)
    half: dict[int, float] = {}
    most: dict[int, float] = {}
    for each in processes:
        for minute, (low, high) in _pairs(each.figures.get("lags")):
            if last - MINUTES < minute <= last:
                half[minute] = max(half.get(minute, 0.0), low)
                most[minute] = max(most.get(minute, 0.0), high)
    if not half:
        return None
    top, bottom, highest = 8, 102, max(1.0, *most.values())

    def point(minute: int, ms: float) -> tuple[int, int]:
        x = AFTER_UNIT + (RIGHT - AFTER_UNIT) * (minute - last + MINUTES - 1) / (MINUTES - 1)
        return round(x), round(bottom - (bottom - top) * ms / highest)

    def line(of: Mapping[int, float]) -> str:
        return " ".join("{},{}".format(*point(minute, of[minute])) for minute in sorted(of))

    newest = max(half)
    middle = sorted(half.values())[len(half) // 2]
    *lower, highest_mark = _marks(highest, top, bottom)
    marks = [*lower, ChartMark(highest_mark.y, f"{highest_mark.words} ms")]
    return LagPicture(
        marks, line(half), line(most), _ms(middle), _ms(max(most.values())), point(newest, half[newest])
    )


def _ms(ms: float) -> str:
    return f"{ms:.1f} ms" if ms < 10 else f"{ms:,.0f} ms"


def _marks(highest: float, top: int, bottom: int) -> list[ChartMark]:
    """From nothing to the highest, at most four."""
    step = next(step for step in _steps() if highest // step < 4)
    return [
        ChartMark(round(bottom - (bottom - top) * at / highest), f"{at:,}")
        for at in range(0, int(highest) + 1, step)
    ]


def _steps() -> Iterable[int]:
    for power in count():
        yield from (digit * 10**power for digit in (1, 2, 5))


def _numbers(told: object) -> list[tuple[int, float]]:
    return [
        (int(name), value)
        for name, value in fields(told).items()
        if name.isdecimal() and isinstance(value, int | float)
    ]


def _pairs(told: object) -> list[tuple[int, tuple[float, float]]]:
    return [
        (int(name), (float(value[0]), float(value[1])))
        for name, value in fields(told).items()
        if name.isdecimal() and isinstance(value, list) and len(value) == 2
    ]
