"""The page of figures: what was chosen, the sums above, a picture and a table for each question."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils import dateformat

from ...core.counting import (
    CALLS,
    CALLS_FAILED,
    CALLS_MS,
    DROPPED,
    ENDED,
    FIRST,
    LENGTHS,
    OF_EFFORT,
    OF_LENGTH,
    THOUGHT,
    TOOL,
)
from ...core.model_name import ModelName
from ...core.named import day_named, number
from ...core.signs.visible import visible
from ...core.spread import quantile
from ...pages.words.amounts import (
    NOTHING,
    cost,
    paid,
    paid_in_part,
    ratio,
    share_in_percent,
    short,
    took,
)
from ..store.days import Day, UsedByPerson, UsedWithKey
from .charts import Bars, Lines, bars, lines
from .reasons import dropped_in_words, ending_in_words, is_failure, review_in_words

SPANS = {14: "14 days", 90: "90 days", 365: "a year"}
# From here on a picture and its table have a point for each week.
MOST_DAYS = 120
MOST_CHARTS, MOST_PEOPLE, MOST_KEYS, MOST_TOOLS_SHOWN = 6, 50, 50, 50
# Days that one can choose oneself.
MOST_SPAN = 1100


@dataclass(frozen=True, slots=True)
class ChosenDays:
    """From the first day to the last, and which model; all of them where it is empty. `days`: the span that was chosen by its name, 0
    where the days were chosen themselves."""

    since: date
    until: date
    model: str
    today: date
    span: int = 0

    @property
    def days(self) -> int:
        return (self.until - self.since).days + 1

    @property
    def query(self) -> str:
        return urlencode(self._named | ({"model": self.model} if self.model else {}))

    @property
    def _named(self) -> dict[str, object]:
        return {"days": self.span} if self.span else {"since": self.since, "until": self.until}

    @property
    def conversations(self) -> str:
        """What the list of conversations is asked for to find those behind the figures."""
        return urlencode({"since": self.since, "until": self.until, "archived": 1})


def chosen(request: HttpRequest, today: date) -> ChosenDays:
    """What makes no sense counts as not chosen."""
    days, model = number(request.GET.get("days", "")), request.GET.get("model", "").replace("\0", "")
    since, until = (day_named(request.GET.get(name, "")) for name in ("since", "until"))
    until = min(until or today, today)
    if since and until - timedelta(days=MOST_SPAN) < since <= until:
        return ChosenDays(since, until, model, today)
    span = days if days in SPANS else next(iter(SPANS))
    return ChosenDays(today - timedelta(days=span - 1), today, model, today, span)


@dataclass(frozen=True, slots=True)
class Time:
    """How long something took: half of it, 19 of 20, and between what the middle half lies."""

    number: int
    p50: int | None
    p95: int | None
    low: int | None
    high: int | None

    @property
    def half(self) -> str:
        return took(self.p50)

    @property
    def most(self) -> str:
        return took(self.p95)

    @property
    def number_in_words(self) -> str:
        return f"{self.number:,}"

    @property
    def spread(self) -> str:
        return NOTHING if self.low is None else f"{took(self.low)} to {took(self.high)}"


def time_of(counts: Mapping[str, int], what: str) -> Time:
    steps = {int(name[len(what) :]): number for name, number in counts.items() if name.startswith(what)}
    parts = [quantile(steps, part) for part in (0.5, 0.95, 0.25, 0.75)]
    return Time(sum(steps.values()), parts[0], parts[1], parts[2], parts[3])


class Sums:
    """Counts, as they are shown."""

    def __init__(self, counts: Counter[str]) -> None:
        self.counts = counts

    @cached_property
    def thinking(self) -> Time:
        return time_of(self.counts, THOUGHT)

    @cached_property
    def first(self) -> Time:
        return time_of(self.counts, FIRST)

    @property
    def answers(self) -> str:
        return f"{self.counts['answers']:,}"

    @property
    def turns(self) -> int:
        return self.counts["turns"]

    @property
    def turns_in_words(self) -> str:
        return f"{self.turns:,}"

    @property
    def failures_in_words(self) -> str:
        return f"{self.failures:,}"

    @property
    def thoughts_each(self) -> str:
        return ratio(self.counts["thoughts"], self.counts["answers"])

    @cached_property
    def failures(self) -> int:
        return sum(number for ended, number in self.of(ENDED).items() if is_failure(ended))

    @property
    def failed(self) -> str:
        return share_in_percent(self.failures, self.turns)

    @property
    def stopped(self) -> str:
        return f"{self.counts[f'{ENDED}stopped']:,}"

    @cached_property
    def tokens(self) -> int:
        return self.counts["input"] + self.counts["output"]

    @property
    def tokens_in_words(self) -> str:
        return short(self.tokens)

    @property
    def input(self) -> str:
        return short(self.counts["input"])

    @property
    def output(self) -> str:
        return short(self.counts["output"])

    @property
    def cost(self) -> str:
        return cost(self.counts)

    @property
    def paid(self) -> str:
        return paid(self.counts)

    @property
    def paid_in_part(self) -> bool:
        return paid_in_part(self.counts)

    @property
    def replayed(self) -> str:
        return f"{self.counts['replayed']:,}"

    @cached_property
    def dropped(self) -> int:
        return sum(self.of(DROPPED).values())

    @property
    def left_out(self) -> str:
        return f"{self.dropped:,}"

    def of(self, what: str) -> dict[str, int]:
        """The counters whose names begin so, by the rest of their names."""
        return {name[len(what) :]: n for name, n in self.counts.items() if name.startswith(what)}


@dataclass(frozen=True, slots=True)
class Named:
    """A row of a table. `label`: what people call it, where that tells more than its name; `pk`: of a person who is there."""

    name: str
    sums: Sums
    label: str = ""
    pk: int = 0


@dataclass(frozen=True, slots=True)
class ThinkingOf:
    """How long answers of one kind thought in all. `part`: half of them, as a part of the longest such half, in percent."""

    words: str
    time: Time
    part: str


@dataclass(frozen=True, slots=True)
class ToolUsed:
    name: str
    calls: str
    failed: str
    share: str
    each: str
    time: str
    counts: Counter[str]


@dataclass(frozen=True, slots=True)
class KeyUsed:
    name: str
    owner: str
    sums: Sums

    @property
    def failed(self) -> str:
        return f"{self.sums.counts['failed']:,}"

    @property
    def thought(self) -> str:
        ms = self.sums.counts["thinking_ms"]
        return took(ms) if ms else NOTHING


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of some days. `said`: the newest of them, in words."""

    id: str
    name: str
    said: str
    drawn: Lines | Bars
    rows: Sequence[Named]


@dataclass(frozen=True, slots=True)
class Tally:
    """How often something was, and its part of all."""

    words: str
    number: int
    share: str

    @property
    def number_in_words(self) -> str:
        return f"{self.number:,}"


class Insight:
    """All that the page shows; tables and pictures of the same days."""

    def __init__(
        self,
        asked: ChosenDays,
        days: Iterable[Day],
        people: Sequence[UsedByPerson],
        reviewed: Mapping[str, int],
        keys: Sequence[UsedWithKey] = (),
        *,
        label: Callable[[str], str],
    ) -> None:
        self.asked, everything = asked, list(days)
        self._label = label
        self.models = sorted({each.model for each in everything} | ({asked.model} - {""}))
        self.days = [each for each in everything if asked.model in ("", each.model)]
        self._people, self._reviewed, self._keys = people, reviewed, keys

    @property
    def spans(self) -> dict[int, str]:
        return SPANS

    @property
    def weekly(self) -> bool:
        return self.asked.days > MOST_DAYS

    @cached_property
    def _counted(self) -> dict[str, dict[date, Counter[str]]]:
        """By model and point; everything else is added up from here."""
        found: defaultdict[str, defaultdict[date, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        for each in self.days:
            found[each.model][self._point(each.day)].update(each.counts)
        return {model: dict(points) for model, points in found.items()}

    @cached_property
    def sums(self) -> Sums:
        return Sums(_added_up(row.sums.counts for row in self.by_model))

    @cached_property
    def by_model(self) -> list[Named]:
        """Those that answered most come first."""
        rows = [
            Named(model, Sums(_added_up(points.values())), self._labels[model])
            for model, points in self._counted.items()
        ]
        return sorted(rows, key=lambda row: (-row.sums.counts["answers"], row.name))

    @cached_property
    def thinking(self) -> list[Picture]:
        return self._times(THOUGHT, "thinking")

    @cached_property
    def first(self) -> list[Picture]:
        return self._times(FIRST, "first")

    @property
    def not_drawn(self) -> int:
        """Models that answered less than those whose pictures are there; they are in the table."""
        return max(0, len(self.by_model) - MOST_CHARTS)

    @cached_property
    def by_day(self) -> list[Named]:
        models = self._counted.values()
        together = {point: _added_up(points.get(point, {}) for points in models) for point in self.points}
        return [Named(self._name(point), Sums(counts)) for point, counts in together.items()]

    @cached_property
    def daily(self) -> list[Picture]:
        sums = [row.sums for row in self.by_day]
        answers = bars([(each.turns, each.failures) for each in sums], short)
        tokens = bars([(each.tokens, each.counts["output"]) for each in sums], short)
        money = bars([(each.counts["cost"], 0) for each in sums], lambda paid: f"$ {paid / 1e6:g}")
        last = self.by_day[-1]
        when = self._when(last.name)
        turns = f"{last.sums.turns:,} {when}, {last.sums.failures:,} failed"
        used = Picture("tokens", "Tokens", f"{last.sums.tokens_in_words} {when}", tokens, ())
        priced = Picture("cost", "Cost", f"{last.sums.cost} {when}", money, ())
        # Where no provider told a number, or nobody wrote a price down, there is nothing to draw.
        return [
            Picture("turns", "Turns", turns, answers, ()),
            *([used] if self.sums.tokens else []),
            *([priced] if self.sums.counts["cost"] else []),
        ]

    @cached_property
    def people(self) -> list[Named]:
        return [Named(name_of(each), Sums(each.counts), pk=each.pk) for each in self._people[:MOST_PEOPLE]]

    @property
    def more_people(self) -> bool:
        return len(self._people) > MOST_PEOPLE

    @property
    def priced(self) -> str:
        """Of how many turns the price is known, where it is not of all."""
        return priced_in_words(self.sums.counts)

    @cached_property
    def by_length(self) -> list[ThinkingOf]:
        """How long answers thought in all, by how long their text is."""
        ends = [0, *LENGTHS]
        words = [f"below {LENGTHS[0]:,} tokens"]
        words += [f"{begin:,} to {end:,} tokens" for begin, end in zip(ends[1:], LENGTHS[1:], strict=False)]
        words += [f"{LENGTHS[-1]:,} tokens and more"]
        return _thinking_of(
            [(said, time_of(self.sums.counts, f"{OF_LENGTH}{n}:")) for n, said in enumerate(words)]
        )

    @cached_property
    def by_effort(self) -> list[ThinkingOf]:
        names = {name.rpartition(":")[0] for name in self.sums.of(OF_EFFORT)}
        times = [(visible(name), time_of(self.sums.counts, f"{OF_EFFORT}{name}:")) for name in sorted(names)]
        return sorted(_thinking_of(times), key=lambda row: row.time.p50 or 0)

    @cached_property
    def tools(self) -> list[ToolUsed]:
        """Those that were called most come first."""
        found: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for name, times in self.sums.of(TOOL).items():
            tool, _, what = name.rpartition(":")
            found[tool][what] += times
        rows = sorted(found.items(), key=lambda row: (-row[1][CALLS], row[0]))
        return [_tool_used(name, counts) for name, counts in rows[:MOST_TOOLS_SHOWN]]

    @cached_property
    def keys(self) -> list[KeyUsed]:
        return [
            KeyUsed(visible(row.name), visible(row.owner), Sums(row.counts)) for row in self._keys[:MOST_KEYS]
        ]

    @cached_property
    def endings(self) -> list[Tally]:
        """How turns ended that did not end well, most frequent first."""
        found = {how: number for how, number in self.sums.of(ENDED).items() if how != "complete"}
        return [
            Tally(ending_in_words(how), n, share_in_percent(n, self.sums.turns))
            for how, n in _most_first(found)
        ]

    @cached_property
    def dropped(self) -> list[Tally]:
        found = self.sums.of(DROPPED)
        whole = sum(found.values()) + self.sums.counts["replayed"]
        return [Tally(dropped_in_words(why), n, share_in_percent(n, whole)) for why, n in _most_first(found)]

    @cached_property
    def reviews(self) -> list[Tally]:
        """What became of what was submitted in these days."""
        whole = sum(self._reviewed.values())
        return [
            Tally(review_in_words(state), n, share_in_percent(n, whole))
            for state, n in _most_first(self._reviewed)
        ]

    @cached_property
    def points(self) -> list[date]:
        """The days, or the Mondays of the weeks, from the first to today."""
        every = (self.asked.since + timedelta(days=n) for n in range(self.asked.days))
        return list(dict.fromkeys(map(self._point, every)))

    @property
    def ends(self) -> tuple[str, str]:
        return self._name(self.points[0]), self._name(self.points[-1])

    def _called(self, model: str) -> str:
        """As people call it, where no other model is called so."""
        names = [self._labels[each.name] or _own_name(each.name) for each in self.by_model]
        name = self._labels[model] or _own_name(model)
        return visible(name if name and names.count(name) == 1 else model)

    @cached_property
    def _labels(self) -> dict[str, str]:
        """What people call models, "" where that is their own name."""
        labels = {model: visible(self._label(model)) for model in self._counted}
        return {model: label if label != _own_name(model) else "" for model, label in labels.items()}

    def _point(self, day: date) -> date:
        return day - timedelta(days=day.weekday()) if self.weekly else day

    def _name(self, point: date) -> str:
        return dateformat.format(point, "j M Y" if point.year != self.asked.today.year else "j M")

    def _when(self, name: str) -> str:
        if name != self.ends[1] or self.asked.until != self.asked.today:
            return f"on {name}" if not self.weekly else f"in the week of {name}"
        return "this week" if self.weekly else "today"

    def _times(self, what: str, id: str) -> list[Picture]:
        drawn = {row.name: self._counted[row.name] for row in self.by_model[:MOST_CHARTS]}
        times = {
            model: [time_of(points.get(point, {}), what) for point in self.points]
            for model, points in drawn.items()
            if any(name.startswith(what) for counts in points.values() for name in counts)
        }
        top = max((time.p95 or 0 for row in times.values() for time in row), default=0)
        return [
            self._figure(f"{id}-{n}", model, drawn[model], row, top, id)
            for n, (model, row) in enumerate(times.items())
        ]

    def _figure(
        self,
        id: str,
        model: str,
        counts: Mapping[date, Counter[str]],
        times: Sequence[Time],
        top: int,
        kind: str,
    ) -> Picture:
        pairs = [(time.p50, time.p95) if time.p50 and time.p95 else None for time in times]
        rows = [
            Named(self._name(point), Sums(counts[point]))
            for point, time in zip(self.points, times, strict=True)
            if time.number
        ]
        last = rows[-1]
        newest = last.sums.thinking if kind == "thinking" else last.sums.first
        said = f"p50 {newest.half}, p95 {newest.most} {self._when(last.name)}"
        return Picture(id, self._called(model), said, lines(pairs, top), rows)


def priced_in_words(counts: Mapping[str, int]) -> str:
    """Nothing where all have a price, or nothing was used that could have one."""
    turns, unpriced = counts.get("turns", 0), counts.get("unpriced", 0)
    return f"{turns - unpriced:,} of {turns:,} have a price" if unpriced else ""


def _thinking_of(times: Iterable[tuple[str, Time]]) -> list[ThinkingOf]:
    known = [(words, time) for words, time in times if time.number]
    longest = max((time.p50 or 0 for _, time in known), default=0) or 1
    return [ThinkingOf(words, time, f"{100 * (time.p50 or 0) / longest:.1f}") for words, time in known]


def _tool_used(name: str, counts: Counter[str]) -> ToolUsed:
    calls, ms = counts[CALLS], counts[CALLS_MS]
    return ToolUsed(
        name=visible(name),
        calls=f"{calls:,}",
        failed=f"{counts[CALLS_FAILED]:,}",
        share=share_in_percent(counts[CALLS_FAILED], calls),
        each=took(ms // calls) if calls and ms else NOTHING,
        time=took(ms) if ms else NOTHING,
        counts=counts,
    )


def _own_name(model: str) -> str:
    """Without its provider."""
    return visible(ModelName.of(model).own)


def name_of(person: UsedByPerson) -> str:
    return visible(person.name) or "People who left"


def _added_up(many: Iterable[Mapping[str, int]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for counts in many:
        found.update(counts)
    return found


def _most_first(found: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
