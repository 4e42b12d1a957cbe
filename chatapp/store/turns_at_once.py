"""How many turns of one person run at the same time. What waits for their word runs not, and is not counted."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import connection

from .changes import turn_starts
from .database.worded import Worded
from .models import IS_LIVE, Message, Status
from .refusal import BeyondLimit

MOST = 8
TOO_MANY = f"{MOST} answers are being written for you already. Wait until one has ended, or stop one; then try again."


_RUNNING_OF = Worded(
    lambda owner: Message.objects.filter(
        IS_LIVE, status__in=(Status.QUEUED, Status.RUNNING), conversation__owner=owner
    ).values("pk")[:MOST],
    int,
)


def refuse_another(user: User | None) -> None:
    """Called in the transaction that sets a turn going, before anything else of it is locked."""
    if user is None:
        return
    if room_for(user) < 1:
        raise BeyondLimit(TOO_MANY)
    turn_starts.send(sender=None, owner=user)


def room_for(user: User) -> int:
    """How many more may run. From here to the end of the transaction nobody else sets one going for them."""
    if connection.features.has_select_for_update:
        User.objects.select_for_update(no_key=True).filter(pk=user.pk).first()
    return MOST - len(_RUNNING_OF.columns(user.pk))
