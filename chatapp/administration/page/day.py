"""The day as a line: for each quarter of an hour how long models thought, what failed below it, and what is still to come faint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from ...core.durations import in_short
from ...core.plural import many
from ..store import AnswerEnded

HIGH, QUARTERS = 56, 96
_QUARTER = timedelta(minutes=15)
_WORDS_AT = {0: "start", 6: "middle", 12: "middle", 18: "middle", 24: "end"}


@dataclass(frozen=True, slots=True)
class QuarterBar:
    x: str
    y: int
    height: int
    failed: bool


@dataclass(frozen=True, slots=True)
class HourTick:
    x: str
    height: int
    is_over: bool
    words: str
    anchor: str


@dataclass(frozen=True, slots=True)
class DayLine:
    """`now`: how much of the day is over, in percent; `rest`: how much is to come."""

    bars: list[QuarterBar]
    ticks: list[HourTick]
    now: str
    rest: str
    thought: str
    said: str


def day_line(answers: Iterable[AnswerEnded], began: datetime, now: datetime) -> DayLine:
    thought: Counter[int] = Counter()
    failed: Counter[int] = Counter()
    for each in answers:
        quarter = min(QUARTERS - 1, max(0, (each.at - began) // _QUARTER))
        thought[quarter] += each.thought
        failed[quarter] += each.failed
    over = min(100.0, 100 * ((now - began) / timedelta(days=1)))
    top = max(thought.values(), default=0) or 1
    total = sum(thought.values())
    return DayLine(
        bars=[_bar(n, thought[n], top, failed[n] > 0) for n in range(QUARTERS) if thought[n] or failed[n]],
        ticks=[_tick(hour, over) for hour in range(25)],
        now=f"{over:.1f}",
        rest=f"{100 - over:.1f}",
        thought=in_short(total) if total else "",
        said=_said(thought, sum(failed.values())),
    )


def _bar(n: int, ms: int, top: int, failed: bool) -> QuarterBar:
    height = max(2, round(HIGH * ms / top)) if ms else 0
    return QuarterBar(f"{100 * n / QUARTERS:.3f}", HIGH - height, height, failed)


def _tick(hour: int, over: float) -> HourTick:
    at = 100 * hour / 24
    is_tall = hour in _WORDS_AT
    words = f"{hour:02}:00" if is_tall else ""
    return HourTick(f"{min(at, 99.9):.3f}", 8 if is_tall else 4, at <= over, words, _WORDS_AT.get(hour, ""))


def _said(thought: Counter[int], failed: int) -> str:
    wrong = f"{many(failed, 'answer')} failed" if failed else "no answer failed"
    if not thought or not max(thought.values()):
        return f"Today, by quarter of an hour: no model has thought yet, {wrong}"
    most, ms = thought.most_common(1)[0]
    when = f"{most // 4:02}:{most % 4 * 15:02}"
    return f"Today, by quarter of an hour: models thought most from {when} on, {in_short(ms)}; {wrong}"
