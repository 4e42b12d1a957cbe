"""Moves what was just made to when it is said to have happened: everything in a conversation together, so that its moments agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from ..core.counting import COUNTED, portions
from ..core.items import Kind
from ..core.recorded import Recorded
from ..models import Conversation, Grant, Item, Look, Message, Note, Origin, Share, Submission, ToolRun, Wish
from .figures import day_of

SHARED_AFTER, LOOKED_AFTER = timedelta(minutes=2), timedelta(minutes=30)
SUBMITTED_AFTER, NOTED_AFTER = timedelta(minutes=5), timedelta(minutes=4)


@transaction.atomic
def move_back(conversation: UUID, *, began: datetime, asked: Mapping[UUID, datetime], now: datetime) -> None:
    """`asked`: the moments of the messages that began here; those that came along with a fork keep theirs."""
    last = max(asked.values(), default=began)
    for pk, at in asked.items():
        _move_message(pk, at)
    row = Conversation.objects.defer("tools").get(pk=conversation)
    marked = {name: last for name in ("pinned_at", "archived_at") if getattr(row, name)}
    Conversation.objects.filter(pk=conversation).update(created_at=began, updated_at=last, **marked)
    Origin.objects.filter(pk=conversation).update(made_at=began)
    Grant.objects.filter(conversation=conversation).update(created_at=last)
    _move_links(conversation, last, now)
    Look.objects.filter(conversation=conversation).update(at=min(now, last + LOOKED_AFTER))
    Wish.objects.filter(conversation=conversation).update(created_at=min(now, last + LOOKED_AFTER))
    for review in Submission.objects.filter(conversation=conversation):
        _move_review(review, last + SUBMITTED_AFTER, now)


def _move_links(conversation: UUID, last: datetime, now: datetime) -> None:
    """One after the other, as they were made."""
    links = Share.objects.filter(leaf__conversation=conversation).order_by("created_at")
    for n, link in enumerate(links, start=1):
        at = min(now, last + n * SHARED_AFTER)
        Share.objects.filter(pk=link.pk).update(created_at=at, revoked_at=link.revoked_at and at)


def _move_review(review: Submission, at: datetime, now: datetime) -> None:
    """What was noted came after it was submitted, one after the other, and the verdict with the first word of the reviewer."""
    Submission.objects.filter(pk=review.pk).update(created_at=min(now, at))
    if review.decided_at:
        Submission.objects.filter(pk=review.pk).update(decided_at=min(now, at + NOTED_AFTER))
    for n, note in enumerate(Note.objects.filter(submission=review).order_by("created_at", "pk"), start=1):
        Note.objects.filter(pk=note.pk).update(created_at=min(now, at + n * NOTED_AFTER))


def _move_message(pk: UUID, at: datetime) -> None:
    row = Message.objects.get(pk=pk)
    counted = [replace(each, day=day_of(at).isoformat()).as_json() for each in portions(row.metadata)]
    metadata = row.metadata | ({COUNTED: counted} if counted else {})
    Message.objects.filter(pk=pk).update(created_at=at, touched_at=row.touched_at and at, metadata=metadata)
    ToolRun.objects.filter(message=pk).update(began_at=at)
    stretches, ended = Recorded(row.metadata).stretches, at
    for item in Item.objects.filter(message=pk).order_by("seq"):
        if item.key in stretches:
            ended = at + timedelta(milliseconds=stretches[item.key].end)
        Item.objects.filter(pk=item.pk).update(created_at=ended)
        # A decision was made when the call had been shown.
        if item.kind == Kind.PERMISSION_DECISION and isinstance(item.wire, dict):
            Item.objects.filter(pk=item.pk).update(wire=item.wire | {"at": ended.isoformat()})
