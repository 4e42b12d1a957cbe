"""How every write to a running turn begins, and what its transaction holds: the fence, the items, what was measured, the news."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet
from django.db.models.functions import Now

from ..core.items import Item, clean
from .changes import What, Written, tell_owner
from .database.worded import Worded
from .models import Item as ItemRow
from .models import Message, Status


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


_HELD = Worded(
    lambda message, attempt: Message.objects.filter(pk=message, attempt=attempt, status=Status.RUNNING),
    UUID,
    int,
    update=lambda *_: {"touched_at": Now()},
    returning="""*,
        (SELECT owner_id FROM chatapp_conversation WHERE id = chatapp_message.conversation_id) AS owner,
        (SELECT deleted_at IS NULL FROM chatapp_conversation WHERE id = chatapp_message.conversation_id) AS stands""",
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
    kept = {name: getattr(row, name) for name in ("next_seq", "metadata", *changes)}
    Message.objects.filter(pk=row.pk).update(touched_at=Now(), **kept)


def append(row: Message, items: Sequence[Item], measured: Measured) -> None:
    """Behind the items that it has; the row is kept afterwards."""
    made = map(as_stored, items)
    ItemRow.objects.bulk_create(item_row(row.pk, row.next_seq + n, item) for n, item in enumerate(made))
    row.next_seq += len(items)
    row.metadata = noted(row.metadata, measured)


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
