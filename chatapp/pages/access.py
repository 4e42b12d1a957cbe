"""Who may do what to their own: asked by the loaded row, here and in what else is called access, and nowhere else.
What one may not see is what does not exist."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Exists, QuerySet
from django.http import Http404

from ..store.changes import Written
from ..store.database.worded import Worded
from ..store.models import Conversation, Message
from ..store.places import remembered

_CONVERSATION_OF = Worded(
    lambda pk, owner: Conversation.objects.filter(pk=pk, owner=owner, deleted_at=None), UUID, int
)


def my_conversation(user: User, pk: UUID) -> Conversation:
    """A conversation of one's own."""
    found: Conversation | None = _CONVERSATION_OF.first(pk, user.pk)
    if found is None:
        raise Http404
    return found


def only_in_theirs(user: User) -> Callable[[Conversation], None]:
    """The same for whoever loads its row to write to it."""

    def look(row: Conversation) -> None:
        if row.owner_id != user.pk:
            raise Http404

    return look


def conversation_to_open(user: User, pk: UUID, **columns: Callable[[int], Exists]) -> Conversation:
    """The same with what its page begins with: its head, what the owner chose in the settings, where they were (`forks`), and what a room
    asks of it (`columns`)."""
    found: Conversation | None = _to_open(*columns.items()).first(pk, user.pk)
    if found is None:
        raise Http404
    return found


@cache
def _to_open(*columns: tuple[str, Callable[[int], Exists]]) -> Worded:
    return Worded(
        lambda pk, owner: (
            Conversation.objects.select_related("head", "owner__preference")
            .defer("head__metadata")
            .annotate(forks=remembered(owner), **{name: column(owner) for name, column in columns})
            .filter(pk=pk, owner=owner, deleted_at=None)
        ),
        UUID,
        int,
    )


def my_message(user: User, pk: UUID, **columns: Exists) -> Message:
    """A message in a conversation of one's own, with what a room asks of it."""
    found = _my_messages(user).annotate(**columns).filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def is_told_of_theirs(user: User, written: Written | None) -> bool:
    """Whether what was written is in a conversation of theirs, by the row as it was loaded to be written below it."""
    return written is not None and written.answer.owner == user.pk and written.answer.stands


def readable_message(user: User, pk: UUID) -> Message:
    """A message that they may read, whether or not they may do anything with it."""
    return readable_messages(user, pk)[0]


def readable_messages(user: User, *pks: UUID) -> list[Message]:
    """Each of these, which may be the same ones."""
    found = _my_messages(user).in_bulk(pks)
    if len(found) < len(set(pks)):
        raise Http404
    return [found[pk] for pk in pks]


def _my_messages(user: User) -> QuerySet[Message]:
    rows = Message.objects.select_related("conversation").filter(deletion=None, conversation__deleted_at=None)
    return rows.filter(conversation__owner=user)


def only_staff(user: User) -> None:
    """For everybody else there is nothing."""
    if not (user.is_active and user.is_staff):
        raise Http404
