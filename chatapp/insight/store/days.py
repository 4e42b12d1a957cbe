"""Reads the kept sums of some days: by day and model, and by person. What it costs does not depend on how much was ever said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.contrib.auth.models import User
from django.db.models import Sum
from django.db.models.functions import Coalesce

from ...reviews.models import Submission
from ..models import ModelDay, PersonDay


@dataclass(frozen=True, slots=True)
class Day:
    """One model on one day."""

    day: date
    model: str
    counts: Counter[str]


@dataclass(frozen=True, slots=True)
class UsedByPerson:
    """By one person, of one model or of all. `name` is empty for whoever has left."""

    name: str
    model: str
    counts: Counter[str]
    pk: int = 0


def load_days(since: date, until: date = date.max) -> list[Day]:
    rows = ModelDay.objects.filter(day__gte=since, day__lte=until).order_by("day", "model")
    return [Day(row.day, row.model, Counter(row.counts)) for row in rows]


def load_people(
    since: date, until: date = date.max, *, model: str = "", most: int | None = None
) -> list[UsedByPerson]:
    """All models together, whoever used most tokens first. Those who have left are one."""
    return list(_used(since, until, model, ("person",), most))


def load_people_and_models(since: date, until: date = date.max, *, model: str = "") -> list[UsedByPerson]:
    return list(_used(since, until, model, ("person", "model"), None))


@dataclass(frozen=True, slots=True)
class UsedWithKey:
    """With one key of a program, of one model or of all."""

    name: str
    owner: str
    counts: Counter[str]


# Whoever counts by keys adds itself: since when, until when, of which model, and how many at most.
BY_KEY: list[Callable[[date, date, str, int], list[UsedWithKey]]] = []


def load_by_key(since: date, until: date, *, model: str, most: int) -> list[UsedWithKey]:
    """Whatever was used most first."""
    return [row for load in BY_KEY for row in load(since, until, model, most)]


WITHDRAWN, FREE, HELD, RATED = "withdrawn", "free", "held", "rated"


def load_reviews(since: date, until: date = date.max, *, model: str = "") -> Counter[str]:
    """How many were submitted on these days, by what became of them: a verdict, or where they are."""
    rows = Submission.objects.filter(created_at__gte=datetime.combine(since, time(), UTC))
    if until < date.max:
        rows = rows.filter(created_at__lt=datetime.combine(until + timedelta(days=1), time(), UTC))
    known = rows.values_list("verdict", "withdrawn_at", "reviewer", "label_set", "decided_at", "by_models")
    return Counter(
        verdict or (WITHDRAWN if withdrawn else RATED if decided else HELD if reviewer or labels else FREE)
        for verdict, withdrawn, reviewer, labels, decided, models in known.iterator()
        if not model or model in models
    )


def _used(
    since: date, until: date, model: str, by: tuple[str, ...], most: int | None
) -> Iterator[UsedByPerson]:
    rows = PersonDay.objects.filter(day__gte=since, day__lte=until, **({"model": model} if model else {}))
    # By a number that is made here: by the column itself SQLite would go through its index, and find row after row elsewhere.
    rows = rows.annotate(person=Coalesce("user_id", 0))
    sums = rows.values(*by).annotate(**{f"all_{name}": Sum(name) for name in PersonDay.COUNTS})
    # Of those who used the same, always the same one first.
    found = list(sums.order_by("-all_output", "-all_input", *by)[:most])
    names = User.objects.in_bulk([row["person"] for row in found])
    for row in found:
        person = names.get(row["person"])
        counts = Counter({name: row[f"all_{name}"] for name in PersonDay.COUNTS})
        yield UsedByPerson(
            person.get_username() if person else "",
            row.get("model", ""),
            counts,
            row["person"] if person else 0,
        )
