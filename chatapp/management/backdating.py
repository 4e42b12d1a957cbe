"""Moves what was just written to when it is said to have happened."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from ..branches.models import Origin
from ..core.counting import COUNTED, portions
from ..core.items import Kind
from ..core.recorded import Recorded
from ..insight.store.sums import day_of
from ..oversight.models import Look
from ..reviews.models import Note, Submission, Wish
from ..sharing.models import Share
from ..store.models import Conversation, Grant, Item, Message, ToolRun

# What has a moment, and how it is of a conversation. Items have theirs by what was measured of them.
MOMENTS: tuple[tuple[Any, str, tuple[str, ...]], ...] = (
    (Conversation, "pk", ("created_at", "updated_at", "pinned_at", "archived_at")),
    (Origin, "pk", ("made_at",)),
    (Message, "conversation", ("created_at", "touched_at")),
    (ToolRun, "message__conversation", ("began_at",)),
    (Grant, "conversation", ("created_at",)),
    (Share, "leaf__conversation", ("created_at", "revoked_at")),
    (Submission, "conversation", ("created_at", "decided_at")),
    (Note, "submission__conversation", ("created_at",)),
    (Look, "conversation", ("at",)),
    (Wish, "conversation", ("created_at",)),
)


@transaction.atomic
def move_back(conversation: UUID, *, since: datetime, to: datetime) -> None:
    """All of a conversation that was written since then. Nothing is moved into the future."""
    items = Item.objects.filter(message__conversation=conversation, created_at__gte=since)
    messages = set(items.values_list("message", flat=True))
    for rows, of, names in MOMENTS:
        for name in names:
            written = rows.objects.filter(**{of: conversation, f"{name}__gte": since})
            written.update(**{name: min(to, since)})
    for message in Message.objects.filter(pk__in=messages):
        _move_items(message)


def _move_items(message: Message) -> None:
    at = ended = message.created_at
    counted = [replace(each, day=day_of(at).isoformat()).as_json() for each in portions(message.metadata)]
    if counted:
        Message.objects.filter(pk=message.pk).update(metadata=message.metadata | {COUNTED: counted})
    stretches = Recorded(message.metadata).stretches
    for item in message.items.order_by("seq"):
        if item.key in stretches:
            ended = at + timedelta(milliseconds=stretches[item.key].end)
        Item.objects.filter(pk=item.pk).update(created_at=ended)
        # A decision was made when the call had been shown.
        if item.kind == Kind.PERMISSION_DECISION and isinstance(item.wire, dict):
            Item.objects.filter(pk=item.pk).update(wire=item.wire | {"at": ended.isoformat()})
