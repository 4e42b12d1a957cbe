"""Looks at a seeded database from a process of its own: what its people see, and what is stored. Prints it as JSON."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chatapp.branches.models import Origin
from chatapp.core.recorded import Recorded
from chatapp.insight.models import ModelDay
from chatapp.oversight.models import Look
from chatapp.reviews.models import Note, Submission, Wish
from chatapp.reviews.store.reviewers import is_reviewer
from chatapp.sharing.models import Share
from chatapp.store import verify_log
from chatapp.store.models import Conversation, Item, Message


def tell() -> None:
    print(json.dumps(_stored() | {"seen": _seen(), "shared": _shared()}))


def count() -> None:
    """No more than who is there and how much."""
    people = list(User.objects.values_list("username", flat=True))
    print(json.dumps({"people": people, "messages": Message.objects.count()}))


def _stored() -> dict[str, Any]:
    answers = Message.objects.filter(role="assistant")
    records = [(row.status, Recorded(row.metadata)) for row in answers]
    rows = Conversation.objects.all()
    return {
        "breaches": list(verify_log()),
        "statuses": Counter(status for status, _ in records),
        "thoughts": [ms for _, record in records for ms in record.thoughts.values()],
        "elapsed": [record.elapsed for _, record in records],
        "models": sorted(set(answers.values_list("model", flat=True))),
        "efforts": sorted(set(answers.values_list("effort", flat=True))),
        "outcomes": Counter(Item.objects.filter(kind="tool_result").values_list("outcome", flat=True)),
        "decisions": sorted(Item.objects.filter(kind="permission_decision").values_list("text", flat=True)),
        "days": sorted({row.updated_at.date().isoformat() for row in rows}),
        "still to come": sum(row.created_at > timezone.now() for row in Message.objects.all()),
        "out of order": _out_of_order(),
        "branching": sum(n > 1 for n in Counter(_parents()).values()),
        "pinned": rows.exclude(pinned_at=None).count(),
        "archived": rows.exclude(archived_at=None).count(),
        "instructed": rows.exclude(instructions="").count(),
        "forks": sorted(Origin.objects.values_list("by__username", "owner__username")),
        "looks": sorted(Look.objects.values_list("name", "what")),
        "reviews": sorted(
            [row.scope, str(row.reviewer or ""), row.verdict, row.notes.count()]
            for row in Submission.objects.all()
        ),
        "wishes": list(Wish.objects.values_list("by__username", "conversation__owner__username")),
        "counted days": ModelDay.objects.values("day").distinct().count(),
        "noted too early": sum(note.created_at < note.submission.created_at for note in Note.objects.all()),
        "roles": {user.username: [user.is_staff, is_reviewer(user)] for user in User.objects.all()},
        "messages": Message.objects.count(),
    }


def _parents() -> list[Any]:
    return [(row.conversation_id, row.parent_id) for row in Message.objects.filter(deletion=None)]


def _out_of_order() -> int:
    """Messages that are said to be older than one before them."""
    rows = Message.objects.order_by("conversation", "order")
    return sum(
        second.conversation_id == first.conversation_id and second.created_at < first.created_at
        for first, second in pairwise(rows)
    )


def _seen() -> dict[str, Any]:
    """How each page of a conversation answers, and how those of others do."""
    seen = {}
    for user in User.objects.all():
        client = Client(headers={"host": "localhost"})
        client.force_login(user)
        own, others = set(), set()
        for row in Conversation.objects.all():
            status = client.get(f"/c/{row.pk}/").status_code
            (own if row.owner_id == user.pk else others).add(status)
        seen[user.username] = [sorted(own), sorted(others)]
    return seen


def _shared() -> list[list[Any]]:
    """Each link: whether thoughts go along, whether it ends, how often it was opened, and how it answers."""
    links = Share.objects.order_by("created_at")
    reader = Client(headers={"host": "localhost"})
    return [
        [row.with_thoughts, row.expires_at is not None, row.opened, reader.get(_path(row)).status_code]
        for row in links
    ]


def _path(row: Share) -> str:
    return f"/s/{row.token}/"
