"""Requests of programs: each is let in within the limits, reserves what it may take, and is counted when it ends, however it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from ...core.events import Usage
from ...core.signs.visible import Leave, visible
from ...limits import store as limits
from ...store.database.worded import Inserted, Worded
from ...store.models import Status
from ..models import ApiKey, KeyRequest
from .counting import NOTHING_MEASURED, RequestMeasured, count, tokens_of
from .standing import load_standing, refuse_beyond_own, refuse_too_many_at_once

# More tokens than any window: beyond it an estimate is a mistake.
MOST_RESERVED = 1_000_000_000
# How often it is written down that a key was used.
NOTED = timedelta(minutes=1)
PROGRAM_CAP = 60
# Who has not said for so long that it is at work, is not; and nobody answers for longer than that.
SILENT, LONGEST = timedelta(minutes=3), timedelta(days=1)


_INSERT = Inserted(KeyRequest)


@transaction.atomic
def begin_request(
    key: ApiKey,
    *,
    model: str,
    estimate: int,
    runner: str,
    program: str = "",
) -> UUID:
    """DeadKey, BeyondLimit or TooMany where it may not be. `key` as it was found, whenever. `estimate`: tokens that it may take."""
    now, owner = timezone.now(), key.owner
    limits.hold(owner)
    stands = load_standing(key, now)
    refuse_too_many_at_once(stands)
    limits.refuse_beyond(owner, now, beside=stands.person_running)
    refuse_beyond_own(key, stands.key_today, now)
    row = KeyRequest(
        key=key,
        owner=owner,
        model=model,
        runner=runner,
        seen_at=Now(),
        estimate=max(0, min(estimate, MOST_RESERVED)),
    )
    _INSERT.write([row])
    _note_use(key, now, program)
    return row.pk


def end_request(
    pk: UUID,
    usage: Usage | None,
    model: str = "",
    *,
    ended: str = Status.COMPLETE,
    measured: RequestMeasured = NOTHING_MEASURED,
) -> bool:
    """Counts it, once. What of `usage` was not told counts by estimate; whoever knows that nothing was asked says 0. `model`: who
    answered, where that is another than was asked. `ended`: as insight names endings. False where it was counted already."""
    with transaction.atomic():
        found = _ENDED.columns(pk)
        if not found:
            return False
        row = _Ended(*found[0])
        count(
            UUID(str(row.key)),
            row.owner,
            model or row.model,
            tokens_of(usage, int(row.estimate)),
            ended=ended,
            measured=measured,
        )
    return True


def count_requests() -> int:
    """That are being answered now, by whichever process."""
    return KeyRequest.objects.count()


def say_alive(runner: str) -> None:
    """What a process is at work on it says so of, from time to time."""
    mine = KeyRequest.objects.filter(runner=runner, began_at__gt=timezone.now() - LONGEST)
    # A server that nobody asks writes nothing.
    if mine.exists():
        mine.update(seen_at=Now())


def end_lost(is_gone: Callable[[str], bool]) -> int:
    """Those of processes that are gone, or that have not been heard of, count by estimate. `is_gone` is asked the name of each process
    that has any."""
    names = KeyRequest.objects.order_by().values_list("runner", flat=True).distinct()
    gone = Q(runner__in=[name for name in names if is_gone(name)])
    lost = KeyRequest.objects.filter(gone | Q(seen_at__lt=Now() - SILENT)).values_list("pk", flat=True)
    return sum(end_request(pk, None, ended=Status.INTERRUPTED) for pk in list(lost))


@dataclass(frozen=True, slots=True)
class _Ended:
    """As the database's driver gives it."""

    key: Any
    owner: int
    model: str
    estimate: int


_ENDED = Worded(
    lambda pk: KeyRequest.objects.filter(pk=pk),
    UUID,
    delete=True,
    returning="key_id, owner_id, model, estimate",
)


def _note_use(key: ApiKey, now: datetime, program: str) -> None:
    """At most once a minute: a hundred requests are no hundred writes to one row."""
    if key.last_used_at is None or now - key.last_used_at >= NOTED:
        ApiKey.objects.filter(pk=key.pk).update(
            last_used_at=now, last_program=visible(program[:PROGRAM_CAP], Leave.NOTHING)[:PROGRAM_CAP]
        )
        key.last_used_at = now
