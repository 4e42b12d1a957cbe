"""Says inside the transaction what happens in the log, to those whom the log does not know: whoever carries news can carry it on
commit, whoever limits turns can refuse one, and whoever keeps sums can add to them."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from django.dispatch import Signal

from .models import Conversation

# What is told: of a turn, of a tree, of the list, of a person.
What = Literal[
    "turn queued",
    "turn began",
    "turn waits",
    "turn ended",
    "deleted",
    "restored",
    "head moved",
    "titled",
    "listed",
    "share closed",
    "reviews",
    "roles",
]
# Receivers get `conversation` (its id), `owner` (their id), `message` (an id or None) and `what`.
changed = Signal()
# Before a turn is made or goes on. Receivers get `owner`, and raise Refused where it may not be.
turn_starts = Signal()
# Before an ended answer goes on. Receivers get its `row`, and give what its metadata is to keep of what ended.
turn_goes_on = Signal()
# Before an answer's row says that it has ended. Receivers get the `row` as it will stand, and give what its metadata is to keep beside it.
turn_ended = Signal()
NONE = UUID(int=0)


def tell(conversation: UUID, what: What, message: UUID | None = None) -> None:
    owner = Conversation.objects.values_list("owner_id", flat=True).filter(pk=conversation).first()
    tell_owner(owner, conversation, what, message)


def tell_owner(owner: int | None, conversation: UUID, what: What, message: UUID | None = None) -> None:
    """Where it is known who that is."""
    changed.send(sender=None, conversation=conversation, owner=owner, message=message, what=what)


def tell_person(person: int, what: What) -> None:
    """Of no conversation: whoever may see none of it hears it too."""
    changed.send(sender=None, conversation=NONE, owner=person, message=None, what=what)
