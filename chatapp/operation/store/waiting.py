"""Turns that have not ended, by the index of those alone: which wait and for whom, and which have run for longest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Case, Count, Min, Value, When
from django.db.models.functions import Coalesce

from ...gateway.models import KeyRequest
from ...store.models import IS_LIVE, Message, Status

SLOT, PERSON, PROGRAM, RUNS = "slot", "person", "program", "runs"
_FOR = Case(
    When(status=Status.QUEUED, then=Value(SLOT)),
    When(status=Status.RUNNING, then=Value(RUNS)),
    When(conversation__program="", then=Value(PERSON)),
    default=Value(PROGRAM),
)


@dataclass(frozen=True, slots=True)
class LiveTurns:
    """So many, the oldest of them for so long."""

    number: int = 0
    oldest: timedelta = timedelta()


def count_live(now: datetime) -> dict[str, LiveTurns]:
    """By what they wait for, and those that run. `now` by the database's clock."""
    rows = Message.objects.filter(IS_LIVE).order_by().annotate(waits_for=_FOR)
    sums = rows.values("waits_for").annotate(
        number=Count("pk"), since=Min(Coalesce("touched_at", "created_at"))
    )
    found = {each["waits_for"]: LiveTurns(each["number"], _age(each["since"], now)) for each in sums}
    return {what: found.get(what, LiveTurns()) for what in (SLOT, PERSON, PROGRAM, RUNS)}


def count_queued() -> int:
    return Message.objects.filter(IS_LIVE, status=Status.QUEUED).count()


def _age(since: datetime, now: datetime) -> timedelta:
    return max(timedelta(), now - since)


@dataclass(frozen=True, slots=True)
class TurnRunning:
    """A turn that is being answered by the process `runner`. `via`: the program, or the key, that asked for it; empty in the chat.
    `turn`: its message, where it is one."""

    owner: str
    via: str
    model: str
    runner: str
    age: timedelta
    turn: UUID | None = None


def load_running(now: datetime, most: int) -> list[TurnRunning]:
    """Those that were asked first."""
    turns = (
        Message.objects.filter(IS_LIVE, status=Status.RUNNING)
        .order_by("created_at")
        .values_list(
            "conversation__owner__username", "conversation__program", "model", "runner", "created_at", "pk"
        )[:most]
    )
    requests = (
        KeyRequest.objects.filter(key__is_recorded=False)
        .order_by("began_at")
        .values_list("owner__username", "key__name", "model", "runner", "began_at")[:most]
    )
    found = [
        TurnRunning(owner, via, model, runner, _age(since, now), pk)
        for owner, via, model, runner, since, pk in turns
    ]
    found += [
        TurnRunning(owner, via, model, runner, _age(since, now))
        for owner, via, model, runner, since in requests
    ]
    return sorted(found, key=lambda each: each.age, reverse=True)[:most]
