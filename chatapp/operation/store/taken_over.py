"""Writes down which turns were taken over from processes that fell silent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models.functions import Now
from django.dispatch import receiver

from ...store import LiveTurn
from ...store.changes import turn_lost
from ...store.models import Message
from ..models import TakeOver
from .presence import name_of

KEPT, OF_LATE = timedelta(days=7), timedelta(days=1)
MOST_LISTED = 20


@receiver(turn_lost)
def _note(turn: LiveTurn, goes_on: bool, **_: Any) -> None:
    """What nobody had begun was not taken from anybody."""
    if not turn.tries or not turn.runner:
        return
    TakeOver.objects.filter(at__lt=Now() - KEPT).delete()
    silent = turn.untouched or timedelta()
    row = TakeOver(
        message=turn.id,
        attempt=turn.attempt,
        place=name_of(turn.runner),
        silent_ms=round(silent.total_seconds() * 1000),
        goes_on=goes_on,
        at=Now(),
    )
    TakeOver.objects.bulk_create([row], ignore_conflicts=True)


@dataclass(frozen=True, slots=True)
class Taken:
    """`owner`, `model`: of the turn, where it is still there."""

    at: datetime
    place: str
    silent_ms: int
    goes_on: bool
    owner: str
    model: str


def count_taken_over(now: datetime) -> int:
    return TakeOver.objects.filter(at__gte=now - OF_LATE).count()


def load_taken_over(now: datetime) -> list[Taken]:
    """Those of the last day, the newest first."""
    rows = list(TakeOver.objects.filter(at__gte=now - OF_LATE).order_by("-at", "-pk")[:MOST_LISTED])
    turns = Message.objects.filter(pk__in={row.message for row in rows}).values_list(
        "pk", "conversation__owner__username", "model"
    )
    known = {pk: (owner, model) for pk, owner, model in turns}
    return [
        Taken(row.at, row.place, row.silent_ms, row.goes_on, *known.get(row.message, ("", "")))
        for row in rows
    ]
