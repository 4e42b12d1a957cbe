"""How many turns of one person run at the same time. What waits for their word runs not, and is not counted."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import connection

from .changes import turn_starts
from .database.worded import Worded
from .models import IS_LIVE, LIVE, Message, Status
from .refusal import BeyondLimit

MOST = 8
LIVE_ONES = "r.status IN ({})".format(", ".join(f"'{status}'" for status in LIVE))
TOO_MANY = f"{MOST} answers are being written for you already. Wait until one has ended, or stop one; then try again."


_RUNNING_OF = Worded(
    lambda owner: Message.objects.filter(
        IS_LIVE, status__in=(Status.QUEUED, Status.RUNNING), conversation__owner=owner
    ).values("pk")[:MOST],
    int,
)
# The same beside a row of the conversation.
RUNNING_OF_ITS_OWNER = f"""(SELECT COUNT(*) FROM (
    SELECT 1 FROM chatapp_message r JOIN chatapp_conversation c ON c.id = r.conversation_id
    WHERE {LIVE_ONES} AND r.status IN ('{Status.QUEUED}', '{Status.RUNNING}')
    AND c.owner_id = chatapp_conversation.owner_id LIMIT {MOST}
) AS running_ones)"""


def refuse_another(user: User | None) -> None:
    """Called in the transaction that sets a turn going, before anything else of it is locked."""
    if user is not None:
        hold_person(user)
        refuse_beside(_running_of(user), user)


def refuse_beside(running: int, user: User) -> None:
    """`running`: how many do, as it was counted after they were held."""
    if running >= MOST:
        raise BeyondLimit(TOO_MANY)
    turn_starts.send(sender=None, owner=user)


def room_for(user: User) -> int:
    """How many more may run."""
    hold_person(user)
    return MOST - _running_of(user)


def _running_of(user: User) -> int:
    return len(_RUNNING_OF.columns(user.pk))


def hold_person(user: User) -> None:
    """From here to the end of the transaction nobody else sets a turn going for them."""
    if connection.features.has_select_for_update:
        _PERSON.first(user.pk)


_PERSON = Worded(lambda pk: User.objects.select_for_update(no_key=True).only("pk").filter(pk=pk), int)
