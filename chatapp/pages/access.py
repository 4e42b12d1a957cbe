"""Who may do what to their own: asked by the loaded row, here and in what else is called access, and nowhere else.
What one may not see is what does not exist."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User
from django.http import Http404

from ..store.changes import Written
from ..store.models import Conversation, Message


def my_conversation(user: User, pk: UUID) -> Conversation:
    """A conversation of one's own."""
    found = Conversation.objects.filter(pk=pk, owner=user, deleted_at=None).first()
    if found is None:
        raise Http404
    return found


def my_message(user: User, pk: UUID) -> Message:
    """A message in a conversation of one's own."""
    rows = Message.objects.select_related("conversation").filter(deletion=None, conversation__deleted_at=None)
    found = rows.filter(pk=pk, conversation__owner=user).first()
    if found is None:
        raise Http404
    return found


def is_told_of_theirs(user: User, written: Written | None) -> bool:
    """Whether what was written is in a conversation of theirs, by the row as it was loaded to be written below it."""
    if written is None:
        return False
    conversation = written.answer.conversation
    return conversation.owner_id == user.pk and conversation.deleted_at is None


def readable_message(user: User, pk: UUID) -> Message:
    """A message that they may read, whether or not they may do anything with it."""
    return my_message(user, pk)


def only_staff(user: User) -> None:
    """For everybody else there is nothing."""
    if not (user.is_active and user.is_staff):
        raise Http404
