"""Takes messages and conversations away so that they can come back within a day; after a week they are gone for good."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Container
from dataclasses import dataclass
from datetime import timedelta
from math import inf
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from .changes import tell
from .database import long_writes
from .models import LIVE, Conversation, Message, Place
from .places import load_tree
from .tree import Refused

UNDO = timedelta(hours=24)
KEPT = timedelta(days=7)
BATCH = 500
# What of other kinds was begun and never ended goes with them: each gets the ids of what is still being made.
ALSO: list[Callable[[Collection[UUID]], None]] = []
# What rooms keep of a person beside conversations, where that can be much: each removes it in pieces, until a moment of the clock.
OF_PEOPLE: list[Callable[[User, float], None]] = []
# In the metadata of the message at the top: who was inside, and where they went instead.
MOVED = "moved"


class StillAnswering(Refused):
    """A turn runs in what is to be deleted; it must be stopped first."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """Messages that went together, and come back together."""

    id: UUID
    conversation: UUID
    count: int


def count_below(message: Message) -> int:
    """The message and everything below it."""
    return len(_below(message))


def load_live_below(message: Message) -> list[UUID]:
    """The turns that run in it."""
    return _live(message.conversation_id, set(_below(message)))


@transaction.atomic
def delete_below(message: Message) -> Deletion:
    """The message with everything below it. Whoever was inside moves to the nearest leaf that is left."""
    _hold_conversation(message.conversation_id)
    if not Message.objects.filter(pk=message.pk, deletion=None).exists():
        raise Refused("That message is not there any more.")
    gone = _below(message)
    if _live(message.conversation_id, set(gone)):
        raise StillAnswering("An answer in it is still being written. Stop it first.")
    name, now = uuid4(), timezone.now()
    for at in range(0, len(gone), BATCH):
        Message.objects.filter(pk__in=gone[at : at + BATCH]).update(deletion=name, deleted_at=now)
    _move_heads(message, name)
    tell(message.conversation_id, "deleted", message.pk)
    return Deletion(name, message.conversation_id, len(gone))


@transaction.atomic
def undo(deletion: UUID, owner: User) -> Deletion | None:
    """Puts all of it back, and those who were inside, unless they went on. None where there is nothing of theirs."""
    found = load_deletion(deletion, owner)
    if found is None:
        return None
    _hold_conversation(found.conversation)
    rows = Message.objects.filter(deletion=deletion)
    top = rows.select_related("parent").order_by("order").first()
    if top is None:
        return None
    if top.parent and top.parent.deletion:
        raise Refused("What it belonged to was deleted after it: that has to come back first.")
    Message.objects.filter(pk=top.pk).update(metadata=_move_back(top))
    rows.update(deletion=None, deleted_at=None)
    tell(found.conversation, "restored", top.pk)
    return found


def load_deletion(deletion: UUID, owner: User) -> Deletion | None:
    """What can still be put back."""
    rows = Message.objects.filter(deletion=deletion, deleted_at__gt=timezone.now() - UNDO)
    mine = rows.filter(conversation__owner=owner, conversation__deleted_at=None)
    conversations = mine.values_list("conversation", flat=True)
    return Deletion(deletion, conversations[0], len(conversations)) if conversations else None


@transaction.atomic
def delete_conversation(conversation: UUID) -> list[UUID]:
    """No turn begins in it from now on; those that still run are told, to be stopped."""
    _hold_conversation(conversation)
    Conversation.objects.filter(pk=conversation).update(deleted_at=timezone.now())
    tell(conversation, "listed")
    running = Message.objects.filter(conversation=conversation, status__in=LIVE)
    return list(running.values_list("pk", flat=True))


@transaction.atomic
def restore_conversation(conversation: UUID, owner: User) -> bool:
    restored = _restorable(owner).filter(pk=conversation).update(deleted_at=None)
    if restored:
        tell(conversation, "listed")
    return bool(restored)


def may_restore(conversation: UUID, owner: User) -> bool:
    return _restorable(owner).filter(pk=conversation).exists()


def purge(older_than: timedelta = KEPT) -> int:
    """Removes for good what was deleted so long ago, and what was begun and never ended, a little at a time with pauses; says how
    many messages that were."""
    for person in long_writes.forget_dead():
        remove_account(person)
    made = long_writes.living().filter(made__isnull=False).values("made")
    before = timezone.now() - older_than
    removed = 0
    for conversation in list(Conversation.objects.filter(deleted_at__lt=before).exclude(pk__in=made)):
        removed += remove(Message.objects.filter(conversation=conversation))
        conversation.delete()
    old = Message.objects.filter(deletion__isnull=False, deleted_at__lt=before)
    for name in list(old.values_list("conversation", flat=True).distinct()):
        removed += remove(old.filter(conversation=name))
    for forget_begun in ALSO:
        forget_begun([pk for (pk,) in made.values_list("made") if pk])
    return removed


def _below(message: Message) -> list[UUID]:
    """Found in the pairs of the whole conversation: a query that goes down step by step can take an hour for a long line."""
    return [message.pk, *load_tree(message.conversation_id).below(message.pk)]


def _live(conversation: UUID, among: Container[UUID]) -> list[UUID]:
    live = Message.objects.filter(conversation=conversation, status__in=LIVE)
    return [pk for pk in live.values_list("pk", flat=True) if pk in among]


def _hold_conversation(conversation: UUID) -> None:
    """Who asks or continues takes the same row first."""
    Conversation.objects.select_for_update().get(pk=conversation)


def _move_heads(top: Message, deletion: UUID) -> None:
    inside = Message.objects.filter(deletion=deletion)
    conversation = Conversation.objects.filter(pk=top.conversation_id, head__in=inside)
    places = Place.objects.filter(conversation=top.conversation_id, head__in=inside)
    heads = {str(pk): str(head) for pk, head in places.values_list("pk", "head")}
    if owners := conversation.values_list("head", flat=True).first():
        heads[""] = str(owners)
    if not heads:
        return
    leaf = load_tree(top.conversation_id).newest_leaf(top.parent_id)
    conversation.update(head=leaf)
    places.update(head=leaf)
    moved = {"to": leaf and str(leaf), "heads": heads}
    metadata = Message.objects.values_list("metadata", flat=True).get(pk=top.pk)
    Message.objects.filter(pk=top.pk).update(metadata=metadata | {MOVED: moved})


def _move_back(top: Message) -> dict[str, Any]:
    """Its metadata without the note."""
    metadata: dict[str, Any] = dict(top.metadata)
    moved = metadata.pop(MOVED, {"to": None, "heads": {}})
    for place, head in moved["heads"].items():
        who = Place.objects.filter(pk=place) if place else Conversation.objects.filter(pk=top.conversation_id)
        who.filter(head=moved["to"]).update(head=head)
    return metadata


def _restorable(owner: User) -> QuerySet[Conversation]:
    return Conversation.objects.filter(owner=owner, deleted_at__gt=timezone.now() - UNDO)


def remove_account(person: User, *, until: float = inf) -> None:
    """With all that is theirs and that nobody sees any more. What is left at that moment is found by the purge."""
    for conversation in Conversation.objects.filter(owner=person).only("pk"):
        remove(Message.objects.filter(conversation=conversation), until=until)
    for remove_theirs in OF_PEOPLE:
        remove_theirs(person, until)
    if time.monotonic() < until:
        with long_writes.giving_way():
            Conversation.objects.filter(owner=person).delete()
            User.objects.filter(pk=person.pk).delete()


def remove(rows: QuerySet[Message], *, until: float = inf) -> int:
    """For good, from the leaves up, since a message is younger than what it answers."""
    removed, size = 0, long_writes.FIRST
    while time.monotonic() < until and (batch := _youngest(rows, size)):
        with long_writes.giving_way() as piece:
            # Damaged rows may stand the other way round.
            Message.objects.filter(parent__in=batch).exclude(pk__in=batch).update(parent=None)
            Message.objects.filter(pk__in=batch).delete()
        removed += len(batch)
        size = piece.next_size(size)
    return removed


def _youngest(rows: QuerySet[Message], size: int) -> list[UUID]:
    return list(rows.order_by("-order").values_list("pk", flat=True)[:size])
