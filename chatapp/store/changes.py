"""Says inside the transaction what happens in the log, to those whom the log does not know: whoever carries news can carry it on
commit, whoever limits turns can refuse one, and whoever keeps sums can add to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.dispatch import Signal

from ..core.items import Item
from .models import Conversation, Message

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
    "next question",
    "share closed",
    "reviews",
    "roles",
    # Nobody knows what was told meanwhile.
    "missed",
]


@dataclass(frozen=True, slots=True)
class Begun:
    """A question, the only one below the answer that it follows, and the answer that is made to it, as their rows stand now.
    `above` says no more of the answer before than its role and status. `is_only_turn`: nothing else is answered in its conversation,
    whose row the question has."""

    question: Message
    words: Item
    answer: Message
    above: Message | None
    is_only_turn: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """An answer as its row stands now, and all of its items."""

    answer: Message
    items: Sequence[Item]


Written = Begun | Ended
# Receivers get `conversation` (its id), `owner` (their id), `message` (an id or None), `what`, and what was `written`, for those
# who would have to read it back, or None.
changed = Signal()
# Before a turn is made or goes on. Receivers get `owner`, and raise Refused where it may not be.
turn_starts = Signal()
# Before an ended answer goes on. Receivers get its `row`, and give what its metadata is to keep of what ended.
turn_goes_on = Signal()
# Before an answer's row says that it has ended. Receivers get the `row` as it will stand, and give what its metadata is to keep beside it.
turn_ended = Signal()
# Nothing is heard any more of the process that was at work on a turn. Receivers get the `turn`, and whether it `goes_on` elsewhere; they
# may be told of an attempt more than once.
turn_lost = Signal()
# Receivers get the `rows` of items that were just written, which do not know the numbers that they were given, and whether their answer
# `goes_on` after it was cut.
items_written = Signal()
# Receivers get the ids of `messages` that the database has just copied with their items.
messages_copied = Signal()
NONE = UUID(int=0)


def tell(conversation: UUID, what: What, message: UUID | None = None) -> None:
    owner = Conversation.objects.values_list("owner_id", flat=True).filter(pk=conversation).first()
    tell_owner(owner, conversation, what, message)


def tell_owner(
    owner: int | None,
    conversation: UUID,
    what: What,
    message: UUID | None = None,
    written: Written | None = None,
) -> None:
    """Where it is known who that is."""
    changed.send(
        sender=None, conversation=conversation, owner=owner, message=message, what=what, written=written
    )


def tell_person(person: int, what: What) -> None:
    """Of no conversation: whoever may see none of it hears it too."""
    changed.send(sender=None, conversation=NONE, owner=person, message=None, what=what, written=None)
