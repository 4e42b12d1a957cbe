"""Providers as the front page tells of them: the last hour as ticks, the last answer, the pace, and what failed today."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ...catalog.page.providers import ProviderLine
from ...core.counting import FIRST
from ...core.durations import in_short
from ...core.model_name import ModelName
from ...insight.page.insight import Sums, time_of
from ...pages.words.amounts import NOTHING
from ..store import AnswerOfHour

MINUTES = 60
# What is no provider's answer but says that it is well.
MORE_THAN_AN_HOUR = "more than an hour ago"


@dataclass(frozen=True, slots=True)
class MinuteTick:
    """`kind`: `answered`, `failed` or `idle`."""

    x: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderToday:
    name: str
    label: str
    hour: tuple[MinuteTick, ...]
    last: str
    wrong: str
    first: str
    pace: str
    answers: str
    failures: int


def providers_today(
    lines: Iterable[ProviderLine],
    today: Mapping[str, Counter[str]],
    hour: Sequence[AnswerOfHour],
    now: datetime,
) -> list[ProviderToday]:
    """Those that are set up, and others that answered today."""
    known = list(lines)
    told = {line.name for line in known}
    others = [ProviderLine(name, name, "", "", 0) for name in sorted(today) if name and name not in told]
    of = {name: [each for each in hour if ModelName.of(each.model).provider == name] for name in today}
    return [
        _today(line, today.get(line.name, Counter()), of.get(line.name, []), now) for line in known + others
    ]


def _today(
    line: ProviderLine, counts: Counter[str], hour: Sequence[AnswerOfHour], now: datetime
) -> ProviderToday:
    sums = Sums(counts)
    newest = max((each.at for each in hour if not each.failed), default=None)
    ago = MORE_THAN_AN_HOUR if sums.turns else "not today"
    return ProviderToday(
        name=line.name,
        label=line.label,
        hour=_ticks(hour, now),
        last=f"{in_short(_ms(now - newest))} ago" if newest else ago,
        wrong=line.state if line.wrong else "",
        first=time_of(counts, FIRST).half,
        pace=_pace(hour),
        answers=sums.answers,
        failures=sums.failures,
    )


def _ticks(hour: Sequence[AnswerOfHour], now: datetime) -> tuple[MinuteTick, ...]:
    kinds = ["idle"] * MINUTES
    for each in hour:
        ago = (now - each.at) // timedelta(minutes=1)
        if 0 <= ago < MINUTES and kinds[MINUTES - 1 - ago] != "failed":
            kinds[MINUTES - 1 - ago] = "failed" if each.failed else "answered"
    return tuple(MinuteTick(2 * n, kind) for n, kind in enumerate(kinds))


def _pace(hour: Sequence[AnswerOfHour]) -> str:
    """Tokens a second, of the last hour."""
    timed = [each for each in hour if each.written and each.ms]
    seconds = sum(each.ms for each in timed) / 1000
    return f"{sum(each.written for each in timed) / seconds:,.0f}" if seconds >= 1 else NOTHING


def _ms(age: timedelta) -> int:
    return max(0, round(age.total_seconds() * 1000))
