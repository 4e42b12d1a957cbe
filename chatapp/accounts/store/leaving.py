"""Deletes an account with everything that is its owner's."""

from __future__ import annotations

import time
from uuid import UUID

from django.contrib.auth.models import User

from ...store.database.long_writes import UNSEEN, long_write
from ...store.deleting import remove_account
from ...store.models import LIVE, Conversation, Message
from ...store.tree import Refused
from .accounts import TERMINAL_USER

# So long whoever leaves waits for the end of it.
SECONDS = 3.0

ONLY_ADMINISTRATOR = (
    "You are the only administrator, and there are other accounts. Make somebody else an administrator first."
)


def load_live_answers(user: User) -> list[UUID]:
    """What is still being written in their conversations."""
    rows = Message.objects.filter(conversation__owner=user, status__in=LIVE)
    return list(rows.values_list("pk", flat=True))


def leave(user: User) -> None:
    """At once nobody sees anything of theirs any more, and they cannot sign in. What is there goes for good in pieces: now as far as
    that takes seconds, the rest with the next purge. A turn that still runs finds its rows gone and ends quietly."""
    with long_write(user, leaves=True) as write, write.piece():
        # Two administrators who leave at once must not both see the other one staying.
        administrators = list(User.objects.select_for_update().filter(is_superuser=True).order_by("pk"))
        if refusal := _why_not(user, administrators):
            raise Refused(refusal)
        Conversation.objects.filter(owner=user).update(deleted_at=UNSEEN, head=None)
        User.objects.filter(pk=user.pk).update(is_active=False)
    remove_account(user, until=time.monotonic() + SECONDS)


def why_not_leave(user: User) -> str:
    """Why they cannot leave, in words; "" where they can."""
    return _why_not(user, list(User.objects.filter(is_superuser=True)))


def _why_not(user: User, administrators: list[User]) -> str:
    others = User.objects.exclude(pk=user.pk).exclude(username=TERMINAL_USER)
    rules = any(one.pk == user.pk for one in administrators)
    replaced = any(one.pk != user.pk and one.is_active for one in administrators)
    return ONLY_ADMINISTRATOR if rules and not replaced and others.exists() else ""
