"""Counts a request that has ended: for its key, and in the figures of its person and its model, as a turn is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from django.db.models import F, Sum
from django.utils import timezone

from ...catalog.store import Price, load_price
from ...core.counting import ENDED, counts, newest
from ...core.events import Usage
from ...insight.page.reasons import is_failure
from ...insight.store import sums
from ...insight.store.days import BY_KEY, UsedWithKey
from ...insight.store.sums import Counted, day_of
from ...store.database.worded import Worded
from ..models import ApiKey, KeyDay
from .replays import NOTHING_REPLAYED, Replayed, count_replayed


@dataclass(frozen=True, slots=True)
class RequestMeasured:
    """What a turn's metadata would say of it: of its one round, and how long each thought took, in milliseconds. `replayed`: of the
    thoughts in its history."""

    round: Mapping[str, Any] = field(default_factory=dict)
    durations: Mapping[str, int] = field(default_factory=dict)
    replayed: Replayed = NOTHING_REPLAYED


NOTHING_MEASURED = RequestMeasured()


def tokens_of(usage: Usage | None, estimate: int) -> dict[str, int]:
    """What was told, and the estimate in place of what was not."""
    told = usage or Usage()
    input = estimate if told.input is None else told.input
    output = max(0, estimate - input) if told.output is None else told.output
    more = {"cached": told.cached, "reasoning": told.reasoning}
    return {"input": input, "output": output} | {name: it for name, it in more.items() if it is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRequest:
    key: UUID
    owner: int
    model: str
    tokens: Mapping[str, int]
    ended: str
    measured: RequestMeasured


def count_together(requests: Sequence[CountedRequest]) -> None:
    """Also where they were recorded: a turn of a program is counted by its requests. Each row that many add to is written once, and all of
    a kind in one order."""
    day = day_of(timezone.now())
    keys, people = (defaultdict[tuple[Any, str], Counter[str]](Counter) for _ in range(2))
    replays: defaultdict[str, Replayed] = defaultdict(Replayed)
    prices = {model: load_price(model) for model in {each.model for each in requests}}
    for each in requests:
        made = _made_by(each, day, prices[each.model])
        keys[each.key, each.model].update(made)
        people[each.owner, each.model].update(made)
        replays[each.model] += each.measured.replayed
    for (key, model), made in sorted(keys.items()):
        _add_to_key(key, day, model, made)
    sums.add_together(day, people)
    for model in sorted(replays):
        count_replayed(day, model, replays[model])


def _made_by(request: CountedRequest, day: date, price: Price | None) -> Counter[str]:
    measured = request.measured
    round = {**measured.round, "round": 0, "model": request.model, "usage": dict(request.tokens)}
    metadata: dict[str, Any] = {
        "reasoning_durations_ms": dict(measured.durations),
        "rounds": [round],
    }
    cost = price.cost if price else None
    portion = newest(metadata, day=day.isoformat(), ended=request.ended, cost=cost)
    return counts(metadata, portion, None)


_ADDED = Worded(
    lambda key, day, model, *_: KeyDay.objects.filter(key=key, day=day, model=model),
    UUID,
    date,
    str,
    *(int for _ in KeyDay.ALL),
    update=lambda key, day, model, *made: {
        name: F(name) + number for name, number in zip(KeyDay.ALL, made, strict=True)
    },
    returning="id",
)


def _add_to_key(key: UUID, day: date, model: str, made: Counter[str]) -> None:
    failed = sum(number for name, number in made.items() if name.startswith(ENDED) and _is_failure(name))
    numbers = [*(made[name] for name in KeyDay.COUNTS), failed, made["thinking_ms"]]
    if not _ADDED.columns(key, day, model, *numbers):
        KeyDay.objects.bulk_create([KeyDay(key_id=key, day=day, model=model)], ignore_conflicts=True)
        _ADDED.columns(key, day, model, *numbers)


def _is_failure(ended: str) -> bool:
    return is_failure(ended.removeprefix(ENDED))


def load_used_by_key(since: date, until: date, model: str, most: int) -> list[UsedWithKey]:
    """For insight: keys by what was written with them."""
    rows = KeyDay.objects.filter(day__gte=since, day__lte=until, **({"model": model} if model else {}))
    by = ("key",)
    sums_of = rows.order_by().values(*by).annotate(**{f"all_{name}": Sum(name) for name in KeyDay.ALL})
    found = list(sums_of.order_by("-all_output", "-all_turns", *by)[:most])
    keys = ApiKey.objects.select_related("owner").in_bulk([row["key"] for row in found])
    return [
        UsedWithKey(
            keys[row["key"]].name,
            keys[row["key"]].owner.get_username(),
            Counter({name: row[f"all_{name}"] for name in KeyDay.ALL}),
        )
        for row in found
        if row["key"] in keys
    ]


def kept_counts() -> Iterator[Counted]:
    """What was counted of requests. How long they thought is not kept."""
    rows = KeyDay.objects.order_by("day", "pk")
    for row in rows.values("day", "model", "key__owner", *KeyDay.COUNTS).iterator():
        made = Counter({name: row[name] for name in KeyDay.COUNTS})
        yield row["day"], row["model"], row["key__owner"], made + Counter(answers=made["turns"])


sums.ALSO.append(kept_counts)
BY_KEY.append(load_used_by_key)
