"""How every write to a running turn begins, and what its transaction holds: the fence, the items, what was measured, the news."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Now

from ..core.items import Item, clean
from .changes import What, tell_owner
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


def hold(claim: Claim, **changes: Any) -> None:
    rows = Message.objects.filter(pk=claim.message, attempt=claim.attempt, status=Status.RUNNING)
    if not rows.update(touched_at=Now(), **changes):
        raise Fenced


def append(message: UUID, items: Sequence[Item], measured: Measured) -> None:
    Message.objects.filter(pk=message).update(next_seq=F("next_seq") + len(items))
    first = Message.objects.values_list("next_seq", flat=True).get(pk=message) - len(items)
    ItemRow.objects.bulk_create(_row(message, first + n, item) for n, item in enumerate(items))
    note_measured(message, measured)


def _row(message: UUID, seq: int, item: Item) -> ItemRow:
    return ItemRow(
        message_id=message,
        seq=seq,
        key=item.key,
        kind=item.kind,
        round=item.round,
        cut=item.cut,
        text=clean(item.text),
        wire=item.wire,
        provider=item.provider,
        dialect=item.dialect,
        model=item.model,
        call_id=clean(item.call_id),
        name=clean(item.name),
        outcome=item.outcome,
    )


def note_measured(message: UUID, measured: Measured, **facts: Any) -> None:
    """Adds what was measured to the message's metadata; the row is locked by the update before."""
    metadata: dict[str, Any] = Message.objects.only("metadata").get(pk=message).metadata
    Message.objects.filter(pk=message).update(metadata=noted(metadata, measured, **facts))


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


def tell_of(message: UUID, what: What) -> None:
    of = Message.objects.values_list("conversation__owner_id", "conversation_id").get(pk=message)
    tell_owner(*of, what, message)
