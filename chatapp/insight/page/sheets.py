"""The tables of the page of figures as rows for a spreadsheet: whole numbers, and the names that the page has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.counting import TOKENS
from ...core.signs.visible import visible
from ...pages.csv import Cell
from ...pages.words.amounts import dollars
from ..store.days import UsedByPerson, load_people_and_models
from .insight import Insight, Sums, name_of

Rows = Iterator[Sequence[Cell]]
_TIMES = ("thoughts measured", "thinking p50 ms", "thinking p25 ms", "thinking p75 ms", "thinking p95 ms")
_FIRST = ("first sign p50 ms", "first sign p95 ms")
_NUMBERS = ("answers", "turns", "thoughts")
_MONEY = (*TOKENS, "cost in dollars", "turns without a price")
_ALL = (*_NUMBERS, *_TIMES, *_FIRST, "failed", "stopped", *_MONEY, "thoughts sent back", "thoughts left out")


@dataclass(frozen=True, slots=True)
class Table:
    head: Sequence[str]
    rows: Callable[[Insight], Rows]


def _days(page: Insight) -> Rows:
    for each in page.days:
        yield (each.day.isoformat(), visible(each.model), *_all(Sums(each.counts)))


def _models(page: Insight) -> Rows:
    for row in page.by_model:
        yield (visible(row.name), *_all(row.sums))


def _people(page: Insight) -> Rows:
    used: list[UsedByPerson] = load_people_and_models(
        page.asked.since, page.asked.until, model=page.asked.model
    )
    for each in used:
        sums = Sums(each.counts)
        numbers = each.counts["answers"], each.counts["turns"]
        yield (name_of(each), visible(each.model), *numbers, *_money(sums))


def _endings(page: Insight) -> Rows:
    for kind in page.endings:
        yield (kind.words, kind.number)


def _tools(page: Insight) -> Rows:
    for row in page.tools:
        yield (row.name, row.counts["calls"], row.counts["failed"], row.counts["ms"])


def _keys(page: Insight) -> Rows:
    for row in page.keys:
        counts = row.sums.counts
        yield (
            row.name,
            row.owner,
            counts["turns"],
            counts["failed"],
            counts["thinking_ms"],
            *_money(row.sums),
        )


def _dropped(page: Insight) -> Rows:
    for kind in page.dropped:
        yield (kind.words, kind.number)


def _reviews(page: Insight) -> Rows:
    for kind in page.reviews:
        yield (kind.words, kind.number)


TABLES = {
    "days": Table(("day", "model", *_ALL), _days),
    "models": Table(("model", *_ALL), _models),
    "people": Table(("person", "model", "answers", "turns", *_MONEY), _people),
    "endings": Table(("how it ended", "turns"), _endings),
    "tools": Table(("tool", "calls", "failed", "ms at work"), _tools),
    "keys": Table(("key", "owner", "requests", "failed", "thinking ms", *_MONEY), _keys),
    "thoughts-left-out": Table(("why", "thoughts"), _dropped),
    "reviews": Table(("what became of it", "submissions"), _reviews),
}


def _all(sums: Sums) -> tuple[Cell, ...]:
    counts, thinking, first = sums.counts, sums.thinking, sums.first
    return (
        *(counts[name] for name in _NUMBERS),
        *(thinking.number, thinking.p50, thinking.low, thinking.high, thinking.p95),
        *(first.p50, first.p95),
        *(sums.failures, counts["ended:stopped"]),
        *_money(sums),
        *(counts["replayed"], sums.dropped),
    )


def _money(sums: Sums) -> tuple[Any, ...]:
    counts = sums.counts
    unknown = counts["unpriced"] and not counts["cost"]
    paid = None if unknown else f"{dollars(counts['cost']):f}"
    return (*(counts[name] for name in TOKENS), paid, counts["unpriced"])
