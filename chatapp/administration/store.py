"""What the front page asks of rows. Each read is bounded, however many rows there are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum

from ..accounts.models import SignedUp
from ..core.recorded import Recorded, count
from ..insight.models import PersonDay
from ..insight.store.sums import how_it_ended
from ..limits.models import DailyLimit
from ..limits.store import load_limit
from ..mcp_servers.models import McpTool
from ..oversight.models import Look
from ..oversight.store.browsing import Thoughts
from ..reviews.models import Submission
from ..reviews.store.reviewing import to_assign
from ..store import asks_of
from ..store.models import ENDED, IS_LIVE, IS_UNFINISHED, Conversation, Item, Message, Role, Status

# Rows of a section; what is read of a day, of its failures, and of an hour.
MOST, MOST_OF_A_DAY, MOST_FAILED, MOST_OF_AN_HOUR, MOST_PEOPLE = 8, 5000, 200, 300, 10


@dataclass(frozen=True, slots=True)
class LiveAnswer:
    """An answer that has not ended. `calls`: names of the tools that wait for somebody's word."""

    pk: UUID
    conversation: Conversation
    model: str
    effort: str
    status: str
    since: datetime
    calls: tuple[str, ...] = ()


def load_at_work() -> list[LiveAnswer]:
    """Those that were asked first."""
    rows = _live().filter(status__in=(Status.RUNNING, Status.QUEUED)).defer("metadata")
    return [_live_answer(row) for row in rows.order_by("created_at")[:MOST]]


def load_waiting() -> list[LiveAnswer]:
    rows = list(_live().filter(status=Status.WAITING).order_by("touched_at")[:MOST])
    asked = {(row.pk, key) for row in rows for key in asks_of(row)}
    named = Item.objects.filter(message__in=[row.pk for row in rows], key__in={key for _, key in asked})
    calls: dict[UUID, list[str]] = {}
    for message, key, name in named.order_by("seq").values_list("message_id", "key", "name"):
        if (message, key) in asked:
            calls.setdefault(message, []).append(name)
    return [_live_answer(row, tuple(calls.get(row.pk, ()))) for row in rows]


def _live() -> QuerySet[Message]:
    there = Message.objects.filter(IS_LIVE, deletion=None, conversation__deleted_at=None)
    return there.select_related("conversation__owner").defer(
        "conversation__tools", "conversation__instructions"
    )


def _live_answer(row: Message, calls: tuple[str, ...] = ()) -> LiveAnswer:
    since = row.touched_at if row.status == Status.WAITING and row.touched_at else row.created_at
    return LiveAnswer(row.pk, row.conversation, row.model, row.effort, row.status, since, calls)


@dataclass(frozen=True, slots=True)
class AnswerEnded:
    """When, and how long it had thought, in milliseconds."""

    at: datetime
    failed: bool
    thought: int


def load_ended(since: datetime) -> list[AnswerEnded]:
    """Answers of a day, in conversations with a question of that day."""
    rows = _answers(since).annotate(thoughts=Thoughts(F("metadata")))
    found = rows.values_list("touched_at", "status", "thoughts")[:MOST_OF_A_DAY]
    return [AnswerEnded(at, status == Status.FAILED, _sum(text)) for at, status, text in found if at]


def _sum(text: str | None) -> int:
    durations = json.loads(text) if text else {}
    known = map(count, durations.values()) if isinstance(durations, dict) else ()
    return sum(ms for ms in known if ms is not None)


@dataclass(frozen=True, slots=True)
class Failed:
    """`reason`: how insight names it; `raw`: the provider's own words."""

    at: datetime
    model: str
    reason: str
    raw: str
    owner: str


def load_failed(since: datetime) -> list[Failed]:
    """The newest first."""
    rows = _answers(since).filter(IS_UNFINISHED, status=Status.FAILED).order_by("-touched_at")
    found = rows.values_list("touched_at", "model", "metadata", "conversation__owner__username")
    return [
        Failed(at, model, how_it_ended(Status.FAILED, told), _raw(told), owner)
        for at, model, told, owner in found[:MOST_FAILED]
        if at
    ]


def _raw(metadata: object) -> str:
    ended = metadata.get("ended") if isinstance(metadata, dict) else None
    raw = ended.get("raw") if isinstance(ended, dict) else None
    return raw if isinstance(raw, str) else ""


@dataclass(frozen=True, slots=True)
class AnswerOfHour:
    """`written`: tokens, and `ms` how long it took from the first sign on."""

    model: str
    at: datetime
    failed: bool
    written: int
    ms: int


def load_hour(since: datetime) -> list[AnswerOfHour]:
    """The newest answers, of at most an hour."""
    rows = _answers(since).order_by("-touched_at").values_list("model", "touched_at", "status", "metadata")
    return [_of_hour(model, at, *more) for model, at, *more in rows[:MOST_OF_AN_HOUR] if at]


def _of_hour(model: str, at: datetime, status: str, metadata: object) -> AnswerOfHour:
    recorded = Recorded(metadata)
    first = recorded.rounds[0].first_sign if recorded.rounds else None
    written = sum(facts.usage.get("output", 0) for facts in recorded.rounds)
    return AnswerOfHour(
        model, at, status == Status.FAILED, written, max(0, (recorded.elapsed or 0) - (first or 0))
    )


def _answers(since: datetime) -> QuerySet[Message]:
    """By the index of conversations; messages have none by time."""
    there = Message.objects.filter(conversation__deleted_at=None, conversation__updated_at__gte=since)
    return there.filter(role=Role.ASSISTANT, deletion=None, status__in=ENDED, touched_at__gte=since)


@dataclass(frozen=True, slots=True)
class NearLimit:
    """Somebody who used something of which there is a limit."""

    user: User
    limit: DailyLimit
    used: Counter[str]


def load_near_limits(day: date) -> list[NearLimit]:
    """Of those who used most today."""
    sums = PersonDay.objects.filter(day=day).exclude(user=None).order_by().values("user")
    sums = sums.annotate(all_turns=Sum("turns"), tokens=Sum(F("input") + F("output")), paid=Sum("cost"))
    rows = list(sums.order_by("-tokens", "-all_turns", "user")[:MOST_PEOPLE])
    people = User.objects.in_bulk([row["user"] for row in rows])
    found = []
    for row in rows:
        if (user := people.get(row["user"])) and (limit := load_limit(user)):
            used = Counter({"turns": row["all_turns"], "tokens": row["tokens"], "cost": row["paid"]})
            found.append(NearLimit(user, limit, used))
    return found


@dataclass(frozen=True, slots=True)
class NewPerson:
    user: User
    signed_up: bool
    turns: int


def load_new_people(since: datetime) -> tuple[int, list[NewPerson]]:
    """How many there are, and the newest of them."""
    rows = User.objects.filter(date_joined__gte=since)
    own = Exists(SignedUp.objects.filter(user=OuterRef("pk")))
    newest = list(rows.annotate(by_themselves=own).order_by("-date_joined", "-pk")[:MOST])
    turns = PersonDay.objects.filter(user__in=newest).order_by().values_list("user")
    asked = dict(turns.annotate(Sum("turns")))
    return rows.count(), [NewPerson(row, row.by_themselves, asked.get(row.pk, 0)) for row in newest]


def load_looks(since: datetime) -> tuple[int, Sequence[Look]]:
    rows = Look.objects.filter(at__gte=since)
    newest = rows.select_related("conversation__owner").order_by("-pk")
    return rows.count(), list(newest.defer("conversation__tools", "conversation__instructions")[:MOST])


def load_unassigned() -> tuple[int, Sequence[Submission]]:
    """Submitted, and nobody's yet: the oldest first."""
    rows = to_assign().filter(reviewer=None)
    oldest = rows.select_related("conversation__owner").order_by("created_at")[:MOST]
    return rows.count(), list(oldest)


def load_changed_tools() -> list[McpTool]:
    """Tools that describe themselves otherwise than when somebody said what they may do."""
    rows = McpTool.objects.filter(~Q(judged=""), ~Q(judged=F("fingerprint")), is_listed=True, is_on=True)
    return list(
        rows.filter(server__is_on=True).select_related("server").order_by("server__name", "name")[:MOST]
    )
