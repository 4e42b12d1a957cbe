"""The list of one's conversations: pages of it, one row of it, and what a person does to a row or to its instructions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, Exists, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from ..core.items import clean
from ..core.titles import one_line
from ..store.changes import Begun, Written, tell
from ..store.database.worded import Worded
from ..store.models import IS_LIVE, LIVE, Conversation, Message, Status
from ..store.refusal import Refused
from ..store.tree import refuse_to_write

PAGE = 40
MOST_WORDS = 8


class ConversationState(StrEnum):
    """What happens in a conversation now; whoever waits for a person, or for the program that drives it, goes first."""

    CALM = ""
    ANSWERS = "running"
    WAITS = "waiting"


@dataclass(frozen=True, slots=True)
class ListRow:
    id: UUID
    title: str
    updated_at: datetime
    pinned: bool
    archived: bool
    state: ConversationState = ConversationState.CALM
    program: str = ""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last row of a page: what comes after it is older, or not pinned."""

    pinned: bool
    updated_at: datetime
    id: UUID


@dataclass(frozen=True, slots=True)
class Page:
    rows: tuple[ListRow, ...]
    older: Cursor | None = None


def load_page(
    owner: User,
    *,
    words: str = "",
    archived: bool = False,
    after: Cursor | None = None,
    over: Collection[UUID] = (),
) -> Page:
    """The pinned ones first, then the others, the newest first; in as many queries whatever there is. `over`: the turns that
    were stopped, which no row says yet."""
    mine = Conversation.objects.filter(owner=owner, deleted_at=None, archived_at__isnull=not archived)
    if not words and not archived and after is None:
        rows = _with_pinned_first(_FIRST_PAGE.rows(owner.pk))
    else:
        rows = _rows_of_page(_titled(mine, words), after)
    page = _list_rows(rows[:PAGE], _LIVE_OF.rows(owner.pk) if rows else (), over)
    last = page[-1] if len(rows) > PAGE else None
    return Page(page, Cursor(last.pinned, last.updated_at, last.id) if last else None)


def _in_this(*statuses: Status) -> Exists:
    return Exists(_live_turns([OuterRef("pk")]).filter(status__in=statuses))


_LISTED = Worded(
    lambda pk: (
        Conversation.objects.filter(pk=pk, deleted_at=None)
        .defer("tools", "instructions")
        .annotate(
            state=Case(
                When(_in_this(Status.WAITING), then=Value(ConversationState.WAITS)),
                When(_in_this(Status.QUEUED, Status.RUNNING), then=Value(ConversationState.ANSWERS)),
                default=Value(ConversationState.CALM),
            )
        )
    ),
    UUID,
)


def load_row(conversation: UUID, *, over: Collection[UUID] = ()) -> ListRow | None:
    """A conversation as the list shows it; None where it is in no list any more."""
    if not over:
        row: Any = _LISTED.first(conversation)
        return row and replace(_list_row(row), state=ConversationState(row.state))
    rows = Conversation.objects.filter(pk=conversation, deleted_at=None)
    return next(iter(_list_rows(rows, _live_turns([conversation]), over)), None)


def row_as_written(written: Written | None) -> ListRow | None:
    """The same of a conversation in which nothing else was going on when a question was written; None where it has to be loaded."""
    if not isinstance(written, Begun) or not written.is_only_turn:
        return None
    return replace(_list_row(written.question.conversation), state=ConversationState.ANSWERS)


@transaction.atomic
def pin(conversation: UUID, *, pinned: bool) -> None:
    _change_and_tell(conversation, pinned_at=timezone.now() if pinned else None)


@transaction.atomic
def archive(conversation: UUID, *, archived: bool) -> None:
    _change_and_tell(conversation, archived_at=timezone.now() if archived else None)


@transaction.atomic
def save_instructions(conversation: UUID, text: str) -> None:
    """Not while an answer is written: its rounds must all begin alike."""
    row = Conversation.objects.select_for_update().get(pk=conversation)
    refuse_to_write(row)
    if Message.objects.filter(conversation=row, status__in=LIVE).exists():
        raise Refused("An answer is being written here. Change the instructions when it has ended.")
    row.instructions = clean(text)
    row.save(update_fields=["instructions"])


def _change_and_tell(conversation: UUID, **fields: datetime | None) -> None:
    Conversation.objects.filter(pk=conversation).update(**fields)
    tell(conversation, "listed")


def _titled(rows: QuerySet[Conversation], words: str) -> QuerySet[Conversation]:
    """Those whose title has all of these words, or beginnings of words, in any order."""
    for word in one_line(words).split()[:MOST_WORDS]:
        # SQLite compares letters beyond ASCII without regard to case in patterns alone.
        rows = rows.filter(title__iregex=re.escape(word))
    return rows


def _rows_of_page(found: QuerySet[Conversation], after: Cursor | None) -> list[Conversation]:
    listed = found.order_by("-updated_at", "-id")
    if after and not after.pinned:
        return list(_after(listed.filter(pinned_at=None), after)[: PAGE + 1])
    return _with_pinned_first(_of_both(listed, after))


def _of_both(listed: QuerySet[Conversation], after: Cursor | None = None) -> QuerySet[Conversation]:
    """Pinned ones, and others, in one query: each of both is found by its index."""
    pinned = _after(listed.filter(pinned_at__isnull=False), after)[: PAGE + 1]
    others = listed.filter(pinned_at=None)[: PAGE + 1]
    found = Conversation.objects.filter(Q(pk__in=pinned.values("pk")) | Q(pk__in=others.values("pk")))
    return found.defer("tools", "instructions").order_by("-updated_at", "-id")


def _with_pinned_first(rows: Iterable[Conversation]) -> list[Conversation]:
    return sorted(rows, key=lambda row: row.pinned_at is None)


# What stands beside every page.
_FIRST_PAGE = Worded(
    lambda owner: _of_both(
        Conversation.objects.filter(owner=owner, deleted_at=None, archived_at=None).order_by(
            "-updated_at", "-id"
        )
    ),
    int,
)


def _after(rows: QuerySet[Conversation], cursor: Cursor | None) -> QuerySet[Conversation]:
    if cursor is None:
        return rows
    older = Q(updated_at__lt=cursor.updated_at) | Q(id__lt=cursor.id)
    return rows.filter(older, updated_at__lte=cursor.updated_at)


def _list_rows(
    conversations: Iterable[Conversation], turns: Iterable[Message], over: Collection[UUID]
) -> tuple[ListRow, ...]:
    """`turns`: those of these conversations that have not ended; of others too, for all that this asks."""
    rows = [_list_row(conversation) for conversation in conversations]
    states = _states(turns, over)
    return tuple(replace(row, state=states.get(row.id, ConversationState.CALM)) for row in rows)


def _list_row(row: Conversation) -> ListRow:
    return ListRow(
        row.id,
        row.title,
        row.updated_at,
        row.pinned_at is not None,
        row.archived_at is not None,
        program=row.program,
    )


def _states(turns: Iterable[Message], over: Collection[UUID]) -> dict[UUID, ConversationState]:
    states: dict[UUID, ConversationState] = {}
    for turn in turns:
        if turn.pk not in over and states.get(turn.conversation_id) is not ConversationState.WAITS:
            states[turn.conversation_id] = (
                ConversationState.WAITS if turn.status == Status.WAITING else ConversationState.ANSWERS
            )
    return states


def _live_turns(conversations: Collection[UUID | OuterRef]) -> QuerySet[Message]:
    # Not a bare column: SQLite would rather read whole conversations than begin with the few live turns.
    place = Coalesce("conversation_id", "conversation_id")
    return Message.objects.filter(IS_LIVE).alias(place=place).filter(place__in=conversations)


# In all that is in somebody's lists.
_LIVE_OF = Worded(
    lambda owner: Message.objects.filter(
        IS_LIVE,
        Exists(Conversation.objects.filter(pk=OuterRef("conversation_id"), owner=owner, deleted_at=None)),
    ).only("conversation", "status"),
    int,
)
