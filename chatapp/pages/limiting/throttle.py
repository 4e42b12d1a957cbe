"""Counts tries in the database, so that a limit holds for all processes together and over restarts.
Who is counted (a name, an address) is kept as a keyed hash only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils.crypto import salted_hmac

from ...store.database.threads import if_possible
from ...store.running_models import Throttle

KEPT = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Limit:
    """So many tries in so long. A window begins with its first try, and is a day at most."""

    name: str
    times: int
    window: timedelta


CLEANING = Limit("cleaning", 1, timedelta(hours=1))


def take(limit: Limit, who: str, now: datetime) -> timedelta:
    """Counts one try before it is made. How long to wait where there were too many, else nothing."""
    wait, new = _count_try(limit, who, now)
    if new:
        if_possible(_clean, now)
    return wait


def give_back(limit: Limit, who: str) -> None:
    """A try that turned out well does not count."""
    Throttle.objects.filter(pk=_row_name(limit, who), count__gt=0).update(count=F("count") - 1)


def forget(limit: Limit, who: str) -> None:
    """No try of theirs counts any more."""
    Throttle.objects.filter(pk=_row_name(limit, who)).update(count=0)


def _clean(now: datetime) -> None:
    if not _count_try(CLEANING, "", now)[0]:
        Throttle.objects.filter(since__lt=now - KEPT).delete()


@transaction.atomic
def _count_try(limit: Limit, who: str, now: datetime) -> tuple[timedelta, bool]:
    rows = Throttle.objects.select_for_update()
    row, new = rows.get_or_create(name=_row_name(limit, who), defaults={"since": now, "count": 1})
    if new:
        return timedelta(), True
    # Either way: a clock that was set back must not keep anybody out for long.
    if abs(now - row.since) >= limit.window:
        row.count, row.since = 0, now
    if row.count >= limit.times:
        return row.since + limit.window - now, False
    row.count += 1
    row.save()
    return timedelta(), False


def _row_name(limit: Limit, who: str) -> str:
    return f"{limit.name}:{salted_hmac(limit.name, who, algorithm='sha256').hexdigest()}"
