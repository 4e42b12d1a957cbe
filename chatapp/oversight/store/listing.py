"""The conversations that administrators ask for. Each read is bounded, however many rows there are."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from ...core.model_name import ModelName
from ...pages.staff.rights import may_read
from ...reviews.models import Submission
from ...reviews.store.reviewing import judged, to_assign
from ...store.models import Conversation, Status
from ..forms import OLDER, STATES, TODAY, ListAsked
from . import browsing

MOST_OWNERS, PEOPLE = 500, 20


def narrowed(asked: ListAsked, zone: tzinfo) -> QuerySet[Conversation]:
    """`zone`: in which the days of whoever asks begin."""
    rows = Conversation.objects.filter(deleted_at=None).defer("tools", "instructions")
    for word in asked.words:
        rows = rows.filter(_has(word))
    if asked.owner is not None:
        rows = rows.filter(owner=asked.owner)
    if not asked.archived:
        rows = rows.filter(archived_at=None)
    if asked.key:
        rows = rows.exclude(program="")
    rows = _of_days(rows, asked, zone)
    if names := _models(asked):
        rows = browsing.of_models(rows, names)
    elif asked.provider:
        return rows.none()
    for statuses in (STATES[asked.state][1] if asked.state else (), (Status.FAILED,) * asked.failed):
        rows = browsing.in_state(rows, *statuses) if statuses else rows
    if asked.review:
        found = to_assign() if asked.review == "open" else judged()
        rows = rows.filter(pk__in=found.values("conversation"))
    if asked.thinking:
        rows = browsing.with_thinking(rows, asked.thinking * 1000, None)
    # Not joined: SQLite would begin with the people, and sort all that is theirs.
    return rows.prefetch_related("owner").order_by("-updated_at", "-pk")


def _models(asked: ListAsked) -> list[str]:
    names = browsing.load_models() if asked.provider else []
    theirs = [name for name in names if ModelName.of(name).provider == asked.provider]
    if not asked.model:
        return theirs
    return [asked.model] if not asked.provider or asked.model in theirs else []


def _of_days(rows: QuerySet[Conversation], asked: ListAsked, zone: tzinfo) -> QuerySet[Conversation]:
    now = timezone.now()
    match asked.days:
        case "":
            pass
        case days if days == TODAY:
            rows = rows.filter(updated_at__gte=_begin(now.astimezone(zone).date(), zone))
        case days if days == OLDER:
            rows = rows.filter(updated_at__lt=now - timedelta(days=365))
        case days:
            rows = rows.filter(updated_at__gte=now - timedelta(days=int(days)))
    if asked.since:
        rows = rows.filter(updated_at__gte=_begin(asked.since, zone))
    if asked.until and asked.until < date.max:
        rows = rows.filter(updated_at__lt=_begin(asked.until + timedelta(days=1), zone))
    return rows


def _begin(day: date, zone: tzinfo) -> datetime:
    if day.year < 2 or day.year > 9998:
        return datetime.combine(day, time(), UTC)
    return datetime.combine(day, time(), zone)


def _has(word: str) -> Q:
    """The owner's name, or the title where that may be read."""
    # SQLite compares letters beyond ASCII without regard to case in patterns alone.
    owners = User.objects.filter(username__icontains=word).values_list("pk", flat=True)[:MOST_OWNERS]
    named = Q(owner__in=list(owners))
    return named | Q(title__icontains=word) if may_read() else named


def load_people(chosen: int | None) -> list[User]:
    """Those who came last, then those who never did, and the one who was chosen; anybody else by the list of people."""
    people = list(User.objects.order_by(F("last_login").desc(nulls_last=True), "pk")[:PEOPLE])
    if chosen is not None and chosen not in {person.pk for person in people}:
        people += User.objects.filter(pk=chosen)
    return people


def load_reviewed(conversations: Collection[UUID]) -> dict[UUID, str]:
    """Of those that are under review, or were: the newest verdict, empty where there is none yet."""
    rows = Submission.objects.filter(conversation__in=conversations, withdrawn_at=None)
    return dict(rows.order_by("created_at", "pk").values_list("conversation", "verdict"))
