"""How every write to a running turn begins, and what its transaction holds: the fence, the items, what was measured, the news."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet, TextField, Value
from django.db.models.functions import Now

from ..core import verbatim
from ..core.items import Item, clean
from ..core.recorded import Recorded
from .changes import What, Written, items_written, tell_owner
from .database.worded import Inserted, Worded
from .models import Item as ItemRow
from .models import Message, Status

# Rows that are written in one statement.
AT_ONCE = 50


class Fenced(Exception):
    """The turn has changed hands: whoever gets this writes nothing more and ends quietly."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to write to one turn, for as long as `attempt` is its newest."""

    message: UUID
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What goes with items in their transaction. `elapsed`: the turn's own time so far, in milliseconds."""

    durations: dict[str, int] = field(default_factory=dict)
    timings: dict[str, Any] = field(default_factory=dict)
    round: dict[str, Any] | None = None
    elapsed: float = 0.0


def hold(claim: Claim) -> Message:
    """The row of the turn, which nobody else writes before this transaction has ended. One conditional update checks, locks and
    reads it."""
    row: Message | None = _HELD.first(claim.message, claim.attempt)
    if row is None:
        raise Fenced
    return row


# Of rows that are given as they were written.
WITH_OWNER = """*,
    (SELECT owner_id FROM chatapp_conversation WHERE id = chatapp_message.conversation_id) AS owner,
    (SELECT deleted_at IS NULL FROM chatapp_conversation WHERE id = chatapp_message.conversation_id) AS stands"""
_HELD = Worded(
    lambda message, attempt: Message.objects.filter(pk=message, attempt=attempt, status=Status.RUNNING),
    UUID,
    int,
    update=lambda *_: {"touched_at": Now()},
    returning=WITH_OWNER,
)


def with_owner(rows: QuerySet[Message]) -> QuerySet[Message]:
    """Each knows whose it is, and whether its conversation is still there."""
    known: Any = {
        "owner": F("conversation__owner"),
        "stands": ExpressionWrapper(Q(conversation__deleted_at=None), BooleanField()),
    }
    return rows.annotate(**known)


def keep(row: Message, **changes: Any) -> None:
    """What has become of a row that is held."""
    for name, value in changes.items():
        setattr(row, name, value)
    metadata = verbatim.dumps(row.metadata)
    _kept(*changes).columns(row.pk, row.next_seq, metadata, *changes.values())


_KINDS: dict[str, type] = {"status": str, "runner": str, "tries": int}


@cache
def _kept(*names: str) -> Worded:
    """`metadata` comes as it is stored: of text that is written in JSON nobody could say where it stands."""
    return Worded(
        lambda pk, *_: Message.objects.filter(pk=pk),
        UUID,
        int,
        str,
        *(_KINDS[name] for name in names),
        update=lambda _, next_seq, metadata, *values: {
            "touched_at": Now(),
            "next_seq": next_seq,
            "metadata": Value(metadata, TextField()),
            **dict(zip(names, values, strict=True)),
        },
        returning="id",
    )


def append(row: Message, items: Sequence[Item], measured: Measured) -> None:
    """Behind the items that it has; the row is kept afterwards."""
    made = map(as_stored, items)
    rows = [item_row(row.pk, row.next_seq + n, item) for n, item in enumerate(made)]
    insert_items(rows, goes_on=Recorded(row.metadata).goes_on_at > 0)
    row.next_seq += len(items)
    row.metadata = noted(row.metadata, measured)


_ITEMS = Inserted(ItemRow)


def insert_items(rows: Sequence[ItemRow], *, goes_on: bool = False) -> None:
    """`goes_on`: they follow others of their message, of which the last may have been cut."""
    for first in range(0, len(rows), AT_ONCE):
        _ITEMS.write(rows[first : first + AT_ONCE])
    items_written.send(sender=None, rows=rows, goes_on=goes_on)


def as_stored(item: Item) -> Item:
    """No database holds everything that a provider can say."""
    return replace(item, text=clean(item.text), call_id=clean(item.call_id), name=clean(item.name))


def item_row(message: UUID, seq: int, item: Item) -> ItemRow:
    return ItemRow(
        message_id=message,
        seq=seq,
        key=item.key,
        kind=item.kind,
        round=item.round,
        cut=item.cut,
        text=item.text,
        wire=item.wire,
        provider=item.provider,
        dialect=item.dialect,
        model=item.model,
        call_id=item.call_id,
        name=item.name,
        outcome=item.outcome,
    )


def noted(metadata: dict[str, Any], measured: Measured, **facts: Any) -> dict[str, Any]:
    """The metadata with what was measured, and these facts."""
    made = metadata | {
        "reasoning_durations_ms": metadata.get("reasoning_durations_ms", {}) | measured.durations,
        "timings_ms": metadata.get("timings_ms", {}) | measured.timings,
        "elapsed_ms": max(round(measured.elapsed), metadata.get("elapsed_ms", 0)),
    }
    if measured.round is not None:
        made["rounds"] = [*metadata.get("rounds", []), measured.round]
    return made | facts


def tell_of(row: Message, what: What, written: Written | None = None) -> None:
    """Of a row that knows whose it is."""
    tell_owner(row.owner, row.conversation_id, what, row.pk, written)
