"""Long writes give way: one of each person at a time, in pieces that are short, with pauses in which everybody else gets in.
What is made in this way is hidden until its last piece shows it; what was begun and never ended is removed by the purge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import Error, IntegrityError, connection, transaction
from django.db.models import QuerySet, Sum
from django.db.models.functions import Length, Now

from ...config.patience import patience
from ..models import Conversation, Item
from ..refusal import Refused
from ..running_models import LongWrite

T = TypeVar("T")

# In place of the moment at which something was deleted or taken back: it is not there yet, and nobody can bring it back.
UNSEEN = datetime(1970, 1, 1, tzinfo=UTC)
# Whoever has written nothing for so long is dead.
DEAD = timedelta(seconds=60)
# At once, of all people together.
MOST = 4


@dataclass(frozen=True, slots=True)
class WritePace:
    """How many seconds a piece should take, and how many times as long everybody else has the database afterwards."""

    piece: float
    share: float


# SQLite has one lock for everybody. PostgreSQL locks the rows that are copied from, and most of a small piece is its commit.
PACES = {"sqlite": WritePace(0.02, 2), "postgresql": WritePace(0.15, 0.5)}
LONGEST_PAUSE = 1.0
FIRST, LEAST, LARGEST = 5, 1, 1000
# Messages, and letters in them: fewer are written in one go.
AT_ONCE, HEAVY = 500, 1_000_000
ONE_AT_A_TIME = (
    "Something long of yours is still being written. Try again when it is done; it takes a few seconds."
)
TOO_MANY = "Several long copies are being made at this moment. Try again in a few seconds."
LOST = "It took too long and was given up. Nothing was changed; try again."


def is_long(conversation: UUID) -> bool:
    """Whether it may hold more than is written in one go."""
    if Conversation.objects.filter(pk=conversation, next_order__gt=AT_ONCE).exists():
        return True
    weight = Item.objects.filter(message__conversation=conversation).aggregate(letters=Sum(Length("text")))
    return (weight["letters"] or 0) > HEAVY


@dataclass(slots=True)
class WrittenPiece:
    took: float = 0.0

    def next_size(self, size: int) -> int:
        """How many rows the next one should have, after so many in this one."""
        wanted = int(size * min(2.0, _pace().piece / max(self.took, 0.001)))
        return min(LARGEST, max(LEAST, wanted))


@contextmanager
def giving_way() -> Iterator[WrittenPiece]:
    """What is written inside is one transaction, and then everybody else has the database for longer than that took."""
    piece = WrittenPiece()
    with patience(anew=True):
        with transaction.atomic():
            began, writers = time.monotonic(), LongWrite.objects.count()
            yield piece
        piece.took = time.monotonic() - began
    # SQLite has no queue: who waits looks again and again, and must find it free.
    pace = _pace()
    time.sleep(min(max(piece.took, pace.piece / 4) * pace.share * max(writers, 1), LONGEST_PAUSE))


def _pace() -> WritePace:
    return PACES[connection.vendor]


class Pieces:
    """Of one person's long write."""

    def __init__(self, person: User, key: UUID) -> None:
        self._mine = LongWrite.objects.filter(person=person, key=key)

    @contextmanager
    def piece(self) -> Iterator[WrittenPiece]:
        with giving_way() as piece:
            if not self._mine.update(touched_at=Now()):
                raise Refused(LOST)
            yield piece

    def each(self, rows: Sequence[T], write: Callable[[Sequence[T]], object]) -> None:
        """All of them, so many at a time as fit into a piece."""
        at, size = 0, FIRST
        while at < len(rows):
            with self.piece() as piece:
                write(rows[at : at + size])
            at += size
            size = piece.next_size(size)


@contextmanager
def long_write(person: User, *, made: UUID | None = None, leaves: bool = False) -> Iterator[Pieces]:
    """Refused while another one of theirs is under way."""
    key = uuid4()
    _claim(person, key=key, made=made, leaves=leaves)
    ended = False
    try:
        yield Pieces(person, key)
        ended = True
    finally:
        # Whoever leaves is known by it until they are gone. Where it cannot be removed, it is taken for dead in a while.
        if not (leaves and ended):
            with suppress(Error), patience(anew=True):
                LongWrite.objects.filter(person=person, key=key).delete()


def living() -> QuerySet[LongWrite]:
    return LongWrite.objects.filter(touched_at__gte=Now() - DEAD)


def forget_dead() -> list[Any]:
    """Whoever of them still lived after all writes no further piece. Gives the people who were about to leave."""
    dead = LongWrite.objects.exclude(pk__in=living().values("pk"))
    dead.filter(leaves=False).delete()
    return [row.person for row in dead.filter(leaves=True).select_related("person")]


def give_up_long_write(made: UUID) -> None:
    """Nobody goes on with what was made: whoever still lived after all writes no further piece of it."""
    LongWrite.objects.filter(made=made).delete()


def _claim(person: User, **what: Any) -> None:
    try:
        with transaction.atomic():
            LongWrite.objects.filter(person=person).exclude(pk__in=living().values("pk")).delete()
            if living().exclude(person=person).count() >= MOST:
                raise Refused(TOO_MANY)
            LongWrite.objects.create(person=person, touched_at=Now(), **what)
    except IntegrityError:
        raise Refused(ONE_AT_A_TIME) from None
