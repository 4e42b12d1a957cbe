"""Whoever holds something that waits is told so by mail, once: who they are, and that they were."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from ..models import Seat, Submission
from .reviewers import reviewers
from .submitting import there

# So long it may wait before its reviewer is reminded.
PATIENCE = timedelta(days=2)


@transaction.atomic
def take_reminders(now: datetime) -> list[tuple[User, int]]:
    """Who is to be reminded, of how many; each of these is taken by one who asks."""
    due = now - PATIENCE
    people = reviewers().exclude(email="").order_by()
    held = there().filter(label_set=None, decided_at=None, reviewer__in=people)
    waiting = held.annotate(since=Coalesce("held_at", "created_at")).filter(since__lte=due)
    open_ones = there().filter(label_set__isnull=False, decided_at=None).values("pk")
    seats = Seat.objects.filter(submission__in=open_ones, handed_in_at=None, reviewer__in=people)
    sat = _taken(seats.filter(created_at__lte=due), now)
    found = Counter([*_taken(waiting, now), *sat])
    return [(person, found[person.pk]) for person in User.objects.filter(pk__in=found)]


def _taken(rows: QuerySet[Any], now: datetime) -> list[int]:
    """Whose they are. Of several processes that ask, one gets a row."""
    model: type[Submission] | type[Seat] = rows.model
    people = dict(rows.filter(reminded_at=None).values_list("pk", "reviewer"))
    return [
        person
        for pk, person in people.items()
        if model.objects.filter(pk=pk, reminded_at=None, reviewer=person).update(reminded_at=now)
    ]
