"""The kept sums as plain values, and the law that they are what the answers say."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db import transaction

from chatapp.insight.models import ModelDay, PersonDay
from chatapp.insight.store import sums as figures


def by_model() -> dict[Any, Any]:
    return {(row.day, row.model): row.counts for row in ModelDay.objects.all()}


def by_person() -> dict[Any, Any]:
    rows = PersonDay.objects.all()
    return {
        (row.day, row.model, row.user_id): [getattr(row, name) for name in PersonDay.COUNTS] for row in rows
    }


def in_all() -> Counter[str]:
    return sum(map(Counter, by_model().values()), Counter())


def assert_counted() -> None:
    """What was added ending by ending is what counting anew gives."""
    with transaction.atomic():
        kept = by_model(), by_person()
        figures.count_anew()
        assert (by_model(), by_person()) == kept
