"""Deletes an account with everything that is its owner's."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from ..models import LIVE, Conversation, Draft, Item, Message, Place, Submission
from .accounts import TERMINAL_USER
from .tree import Refused

ONLY_ADMINISTRATOR = (
    "You are the only administrator, and there are other accounts. Make somebody else an administrator first."
)


def load_live_answers(user: Any) -> list[UUID]:
    """What is still being written in their conversations."""
    rows = Message.objects.filter(conversation__owner=user, status__in=LIVE)
    return list(rows.values_list("pk", flat=True))


@transaction.atomic
def leave(user: Any) -> None:
    """Everything or nothing. A turn that still runs finds its rows gone and ends quietly."""
    # Two administrators who leave at once must not both see the other one staying.
    administrators = list(User.objects.select_for_update().filter(is_superuser=True).order_by("pk"))
    if refusal := _refusal(user, administrators):
        raise Refused(refusal)
    _delete_conversations(user)
    with suppress(User.DoesNotExist):
        User.objects.get(pk=user.pk).delete()


def why_not(user: Any) -> str:
    """Why they cannot leave, in words; "" where they can."""
    return _refusal(user, list(User.objects.filter(is_superuser=True)))


def _refusal(user: Any, administrators: list[User]) -> str:
    others = User.objects.exclude(pk=user.pk).exclude(username=TERMINAL_USER)
    rules = any(one.pk == user.pk for one in administrators)
    replaced = any(one.pk != user.pk and one.is_active for one in administrators)
    return ONLY_ADMINISTRATOR if rules and not replaced and others.exists() else ""


def _delete_conversations(user: Any) -> None:
    """From the leaves up, so that Django need not look for what depends on each row."""
    theirs = Message.objects.filter(conversation__owner=user)
    Conversation.objects.filter(forked_from__in=theirs).update(forked_from=None)
    Conversation.objects.filter(owner=user).update(head=None)
    Submission.objects.filter(conversation__owner=user).delete()
    Item.objects.filter(message__in=theirs).delete()
    Draft.objects.filter(message__in=theirs).delete()
    Place.objects.filter(conversation__owner=user).delete()
    theirs.delete()
    Conversation.objects.filter(owner=user).delete()
