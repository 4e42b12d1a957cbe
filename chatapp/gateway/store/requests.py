"""Requests of programs: each is let in within the limits, reserves what it may take, and is counted when it ends, however it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from ...core.events import Usage
from ...core.signs.visible import Leave, visible
from ...limits import store as limits
from ...limits.models import DailyLimit
from ...store.database.worded import Inserted, Worded
from ...store.models import Status
from ...store.refusal import Refused
from ..models import ApiKey, KeyRequest
from .counting import NOTHING_MEASURED, CountedRequest, RequestMeasured, count_together, tokens_of
from .standing import Standing, load_standing, refuse_beyond_own, refuse_too_many_at_once

# More tokens than any window: beyond it an estimate is a mistake.
MOST_RESERVED = 1_000_000_000
# How often it is written down that a key was used.
NOTED = timedelta(minutes=1)
PROGRAM_CAP = 60
# Who has not said for so long that it is at work, is not; and nobody answers for longer than that.
SILENT, LONGEST = timedelta(minutes=3), timedelta(days=1)


_INSERT = Inserted(KeyRequest)


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginRequest:
    """`key` as it was found, whenever. `estimate`: tokens that it may take. `program`: how it calls itself."""

    key: ApiKey
    model: str
    estimate: int
    runner: str
    program: str = ""

    @property
    def reserves(self) -> int:
        return max(0, min(self.estimate, MOST_RESERVED))


def begin_request(key: ApiKey, **said: Any) -> UUID:
    """DeadKey, BeyondLimit or TooMany where it may not be."""
    (begun,) = begin_together([BeginRequest(key=key, **said)])
    if isinstance(begun, Refused):
        raise begun
    return begun


@transaction.atomic
def begin_together(requests: Sequence[BeginRequest]) -> list[UUID | Refused]:
    """Those of one person, in their order: each as if those before it had been begun already."""
    owner = requests[0].key.owner
    limits.hold(owner)
    beginning = _Beginning(owner, timezone.now())
    begun = [beginning.begun(request) for request in requests]
    beginning.write()
    return begun


class _Beginning:
    """What stands with a person and their keys, while requests of theirs are let in."""

    def __init__(self, owner: User, now: datetime) -> None:
        self._owner, self._now = owner, now
        self._key: ApiKey | None = None
        self._stands: Standing | None = None
        self._rows: list[KeyRequest] = []

    def begun(self, request: BeginRequest) -> UUID | Refused:
        try:
            stands = self._standing_of(request.key)
            self._refuse(request.key, stands)
        except Refused as refusal:
            return refusal
        row = KeyRequest(
            key=request.key,
            owner=self._owner,
            model=request.model,
            runner=request.runner,
            seen_at=Now(),
            estimate=request.reserves,
        )
        self._rows.append(row)
        self._stands = stands.with_one_more(request.reserves)
        _note_use(request.key, self._now, request.program)
        return row.pk

    def write(self) -> None:
        if self._rows:
            _INSERT.write(self._rows)
        self._rows = []

    def _standing_of(self, key: ApiKey) -> Standing:
        if self._stands is None or self._key is None or self._key.pk != key.pk:
            # What was begun with another key is read with what stands.
            self.write()
            self._key, self._stands = key, load_standing(key, self._now)
        return self._stands

    def _refuse(self, key: ApiKey, stands: Standing) -> None:
        refuse_too_many_at_once(stands)
        if self._limit:
            # It looks twice, the second time at what stands.
            self.write()
            limits.refuse_beyond_limit(self._limit, self._owner, self._now, stands.person_running)
        refuse_beyond_own(key, stands.key_today, self._now)

    @cached_property
    def _limit(self) -> DailyLimit | None:
        return limits.load_limit(self._owner)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRequest:
    """What of `usage` was not told counts by estimate; whoever knows that nothing was asked says 0. `model`: who answered, where that is
    another than was asked. `ended`: as insight names endings."""

    pk: UUID
    usage: Usage | None
    model: str = ""
    ended: str = Status.COMPLETE
    measured: RequestMeasured = NOTHING_MEASURED


def end_request(pk: UUID, usage: Usage | None, model: str = "", **more: Any) -> bool:
    """Counts it, once. False where it was counted already."""
    return bool(end_together([EndRequest(pk=pk, usage=usage, model=model, **more)]))


@transaction.atomic
def end_together(ending: Sequence[EndRequest]) -> int:
    """Counts each once, and says how many were not counted before."""
    found = _deleted([each.pk for each in ending])
    ends = [(each, found[each.pk]) for each in ending if each.pk in found]
    count_together([_counted(each, row) for each, row in ends])
    return len(ends)


def _deleted(pks: list[UUID]) -> dict[UUID, _Ended]:
    found = {}
    for first in range(0, len(pks), TOGETHER):
        some = pks[first : first + TOGETHER]
        ended = _ENDED_ALONE if len(some) == 1 else _ENDED
        places = some if len(some) == 1 else [*some, *some[:1] * (TOGETHER - len(some))]
        for pk, *values in ended.columns(*places):
            found[UUID(str(pk))] = _Ended(*values)
    return found


def _counted(end: EndRequest, row: _Ended) -> CountedRequest:
    return CountedRequest(
        key=UUID(str(row.key)),
        owner=row.owner,
        model=end.model or row.model,
        tokens=tokens_of(end.usage, int(row.estimate)),
        ended=end.ended,
        measured=end.measured,
    )


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


# Those that end alone, and up to so many that end together.
TOGETHER = 32
_ENDED_ALONE, _ENDED = (
    Worded(
        lambda *pks: KeyRequest.objects.filter(pk__in=pks),
        *[UUID] * places,
        delete=True,
        returning="id, key_id, owner_id, model, estimate",
    )
    for places in (1, TOGETHER)
)


def _note_use(key: ApiKey, now: datetime, program: str) -> None:
    """At most once a minute: a hundred requests are no hundred writes to one row."""
    if key.last_used_at is None or now - key.last_used_at >= NOTED:
        ApiKey.objects.filter(pk=key.pk).update(
            last_used_at=now, last_program=visible(program[:PROGRAM_CAP], Leave.NOTHING)[:PROGRAM_CAP]
        )
        key.last_used_at = now
