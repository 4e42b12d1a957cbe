"""Requests of programs: each is let in within the limits, reserves what it may take, and is counted when it ends, however it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from ...catalog.store import load_price
from ...core.counting import counts, newest
from ...core.events import Usage
from ...insight.store import sums
from ...insight.store.sums import day_of
from ...limits import store as limits
from ...limits.store import ALSO, UsedToday
from ...store.database.worded import Inserted, Worded
from ...store.models import Status
from ...store.refusal import BeyondLimit, Refused
from ..models import ApiKey, KeyDay, KeyRequest
from .replays import NOTHING_REPLAYED, Replayed, count_replayed

# Requests at once, of one key and of all keys of a person.
MOST_OF_KEY = 64
MOST_OF_PERSON = 128
# How often it is written down that a key was used.
NOTED = timedelta(minutes=1)
PROGRAM_CAP = 60
# Who has not said for so long that it is at work, is not; and nobody answers for longer than that.
SILENT, LONGEST = timedelta(minutes=3), timedelta(days=1)


class TooMany(Refused):
    """Too many at once. When one of them has ended there is room again."""


@dataclass(frozen=True, slots=True)
class RequestMeasured:
    """What a turn's metadata would say of it: of its one round, and how long each thought took, in milliseconds. `replayed`: of the
    thoughts in its history."""

    round: Mapping[str, Any] = field(default_factory=dict)
    durations: Mapping[str, int] = field(default_factory=dict)
    replayed: Replayed = NOTHING_REPLAYED


NOTHING_MEASURED = RequestMeasured()


@dataclass(frozen=True, slots=True)
class _Standing:
    """How many requests are under way, and what was used with the key today, with what these have reserved."""

    of_key: int
    of_person: int
    key_today: UsedToday
    person_running: UsedToday


_INSERT = Inserted(KeyRequest)


@transaction.atomic
def begin_request(
    key: ApiKey,
    *,
    model: str,
    estimate: int,
    runner: str,
    program: str = "",
    counted_by_log: bool = False,
) -> UUID:
    """BeyondLimit or TooMany where it may not be. `key` as it was found. `estimate`: tokens that it may take. `counted_by_log`: a turn
    is made of it, which asks for the person's limits itself."""
    now, owner = timezone.now(), key.owner
    limits.hold(owner)
    stands = _load_standing(key, now)
    _refuse_too_many(stands)
    limits.refuse_beyond(owner, now, beside=stands.person_running)
    _refuse_beyond_own(key, stands.key_today, now)
    row = KeyRequest(
        key=key,
        owner=owner,
        model=model,
        runner=runner,
        seen_at=Now(),
        estimate=estimate,
        counted_by_log=counted_by_log,
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
        tokens = _tokens(usage, int(row.estimate))
        metadata = {
            "reasoning_durations_ms": dict(measured.durations),
            "rounds": [{**measured.round, "round": 0, "model": model or row.model, "usage": tokens}],
        }
        _count(row, metadata, model or row.model, ended)
        count_replayed(day_of(timezone.now()), model or row.model, measured.replayed)
    return True


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
    counted_by_log: Any


_ENDED = Worded(
    lambda pk: KeyRequest.objects.filter(pk=pk),
    UUID,
    delete=True,
    returning="key_id, owner_id, model, estimate, counted_by_log",
)


def _tokens(usage: Usage | None, estimate: int) -> dict[str, int]:
    """What was told, and the estimate in place of what was not."""
    told = usage or Usage()
    input = estimate if told.input is None else told.input
    output = max(0, estimate - input) if told.output is None else told.output
    more = {"cached": told.cached, "reasoning": told.reasoning}
    return {"input": input, "output": output} | {name: it for name, it in more.items() if it is not None}


def _count(row: _Ended, metadata: dict[str, Any], model: str, ended: str) -> None:
    day, price = day_of(timezone.now()), load_price(model)
    portion = newest(metadata, day=day.isoformat(), ended=ended, cost=price.cost if price else None)
    made = counts(metadata, portion, None)
    _add_to_key(UUID(str(row.key)), day, made)
    if not row.counted_by_log:
        sums.add(day, model, row.owner, made)


_ADDED = Worded(
    lambda key, day, *_: KeyDay.objects.filter(key=key, day=day),
    UUID,
    date,
    *(int for _ in KeyDay.COUNTS),
    update=lambda key, day, *made: {
        name: F(name) + number for name, number in zip(KeyDay.COUNTS, made, strict=True)
    },
    returning="id",
)


def _add_to_key(key: UUID, day: date, made: Counter[str]) -> None:
    numbers = [made[name] for name in KeyDay.COUNTS]
    if not _ADDED.columns(key, day, *numbers):
        KeyDay.objects.bulk_create([KeyDay(key_id=key, day=day)], ignore_conflicts=True)
        _ADDED.columns(key, day, *numbers)


def running_of(user: User, since: datetime) -> UsedToday:
    """What somebody's keys are at, and have reserved. One that runs since yesterday is none of today's, and what is a turn counts as
    such."""
    rows = KeyRequest.objects.filter(owner=user, began_at__gte=since, counted_by_log=False)
    found = rows.aggregate(turns=Count("pk"), tokens=Coalesce(Sum("estimate"), 0))
    return UsedToday(found["turns"], found["tokens"])


ALSO.append(running_of)

_TODAY = ("turns", "input", "output", "cost")
_STANDING = Worded(
    # One statement, so that what ends meanwhile is seen either under way or as used, and never neither.
    lambda key, since, day: (
        ApiKey.objects.filter(pk=key)
        .annotate(
            **{
                name: Subquery(
                    KeyRequest.objects.filter(owner=OuterRef("owner"))
                    .order_by()
                    .values("owner")
                    .annotate(it=it)
                    .values("it")
                )
                for name, it in {
                    "of_key": Count("pk", filter=Q(key=key)),
                    "of_person": Count("pk"),
                    "key_turns": Count("pk", filter=Q(key=key, began_at__gte=since)),
                    "key_tokens": Sum("estimate", filter=Q(key=key, began_at__gte=since)),
                    "running": Count("pk", filter=Q(began_at__gte=since, counted_by_log=False)),
                    "reserved": Sum("estimate", filter=Q(began_at__gte=since, counted_by_log=False)),
                }.items()
            },
            **{
                f"day_{name}": Subquery(KeyDay.objects.filter(key=key, day=day).values(name))
                for name in _TODAY
            },
        )
        .values_list(
            *("of_key", "of_person", "key_turns", "key_tokens", "running", "reserved"),
            *(f"day_{name}" for name in _TODAY),
        )
    ),
    UUID,
    datetime,
    date,
)


def _load_standing(key: ApiKey, now: datetime) -> _Standing:
    day = day_of(now)
    found = _STANDING.columns(key.pk, datetime.combine(day, time(), UTC), day)
    if not found:
        raise BeyondLimit("This key is not there any more.")
    numbers = [int(number or 0) for number in found[0]]
    of_key, of_person, key_turns, key_tokens, running, reserved, turns, read, written, cost = numbers
    return _Standing(
        of_key,
        of_person,
        UsedToday(turns + key_turns, read + written + key_tokens, cost),
        UsedToday(running, reserved),
    )


def _refuse_too_many(stands: _Standing) -> None:
    if stands.of_key >= MOST_OF_KEY:
        raise TooMany(
            f"{MOST_OF_KEY} requests of this key are being answered. Wait until one of them has ended."
        )
    if stands.of_person >= MOST_OF_PERSON:
        raise TooMany(
            f"{MOST_OF_PERSON} requests of your keys are being answered. Wait until one of them has ended."
        )


def _refuse_beyond_own(key: ApiKey, used: UsedToday, now: datetime) -> None:
    if said := limits.exceeded(key, used, "This key has used its"):
        raise BeyondLimit(limits.refusal(key, said, now))


def _note_use(key: ApiKey, now: datetime, program: str) -> None:
    """At most once a minute: a hundred requests are no hundred writes to one row."""
    if key.last_used_at is None or now - key.last_used_at >= NOTED:
        ApiKey.objects.filter(pk=key.pk).update(last_used_at=now, last_program=program[:PROGRAM_CAP])
