"""The life of a turn in rows. Every write begins with a conditional update of the message: check and lock at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, cast
from uuid import UUID

from django.db import transaction
from django.db.models import Count, F
from django.db.models.functions import Now
from django.utils import timezone

from ..core.decision import arguments_hash
from ..core.items import Item, Outcome
from ..core.recorded import BY_PROGRAM, BY_PROGRAM_BEFORE, Recorded
from ..core.values import fields
from .branches import load_items, next_round
from .changes import Ended, tell_owner, turn_ended, turn_goes_on
from .cutting import Seen, best_seen, cut_off, ended_by, measured_of, sent_for_the_open_round
from .database.worded import Worded
from .models import IS_LIVE, LIVE, Conversation, Message, Role, Status, ToolRun
from .models import Draft as DraftRow
from .models import Item as ItemRow
from .rows import (
    WITH_OWNER,
    Claim,
    Fenced,
    Measured,
    append,
    as_stored,
    hold,
    keep,
    noted,
    tell_of,
)
from .turns_at_once import refuse_another

# In the metadata of a turn that waits: not for a person's word, but for results.
WAITS_FOR_PROGRAM = {"asks": [], "waits_for": "program"}


def is_with_program(row: Message) -> bool:
    """Whether the turn waits for what its program makes of its calls."""
    waits_for = fields(row.metadata).get("waits_for")
    return row.status == Status.WAITING and waits_for == WAITS_FOR_PROGRAM["waits_for"]


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """A turn that somebody should be working on. `untouched`: for how long nobody wrote to it, by the database's clock."""

    id: UUID
    attempt: int
    tries: int
    runner: str
    untouched: timedelta | None


@transaction.atomic
def claim_turn(message: UUID, *, runner: str, seen: int) -> Claim:
    """Takes the turn over from the attempt that was `seen`; of several who try, one succeeds."""
    row: Message | None = _CLAIMED.first(message, seen, runner)
    if row is None:
        raise Fenced
    tell_of(row, "turn began")
    return Claim(message, row.attempt)


_CLAIMED = Worded(
    lambda message, seen, _: Message.objects.filter(
        pk=message, attempt=seen, status__in=(Status.QUEUED, Status.RUNNING)
    ),
    UUID,
    int,
    str,
    update=lambda _, __, runner: {
        "status": Status.RUNNING,
        "runner": runner,
        "attempt": F("attempt") + 1,
        "tries": F("tries") + 1,
        "touched_at": Now(),
    },
    returning=WITH_OWNER,
)


@transaction.atomic
def append_round(claim: Claim, items: Sequence[Item], measured: Measured) -> None:
    """All items of one response together, so that nothing half-said is ever replayed."""
    row = hold(claim)
    append(row, items, measured)
    keep(row, tries=1)
    DraftRow.objects.filter(message=claim.message).delete()


@transaction.atomic
def hand_over(claim: Claim, items: Sequence[Item], measured: Measured) -> None:
    """A round whose calls are made by the program that asked: the turn waits for it, without a task and without a lock."""
    row = hold(claim)
    append(row, items, measured)
    row.metadata = {**row.metadata, **WAITS_FOR_PROGRAM}
    keep(row, status=Status.WAITING, runner="")
    DraftRow.objects.filter(message=claim.message).delete()
    tell_of(row, "turn waits")


@transaction.atomic
def begin_call(claim: Claim, call: Item) -> None:
    """Before it runs: whoever finds this and no result knows that it may have run."""
    keep(hold(claim))
    begun = {
        "attempt": claim.attempt,
        "arguments_hash": arguments_hash(call.text),
        "began_at": timezone.now(),
    }
    ToolRun.objects.update_or_create(message_id=claim.message, key=call.key, defaults=begun)


@transaction.atomic
def append_result(claim: Claim, item: Item, measured: Measured) -> None:
    row = hold(claim)
    append(row, [item], measured)
    keep(row)


@transaction.atomic
def finish(claim: Claim, items: Sequence[Item], measured: Measured, *, has_draft: bool = True) -> None:
    """The final answer. `has_draft`: False where it is known that none was stored, and none will be."""
    row = hold(claim)
    append(row, items, measured)
    _end(row, Status.COMPLETE, items, has_draft=has_draft)


@transaction.atomic
def give_up(
    claim: Claim,
    status: Status,
    seen: Seen,
    measured: Measured,
    ended: dict[str, Any],
    *,
    has_draft: bool = True,
) -> None:
    """The loop ends the turn without a final answer; what was seen of the open round is kept as cut items."""
    row = hold(claim)
    _append_cut(row, load_items(claim.message), seen, Outcome.STOPPED)
    row.metadata = noted(row.metadata, measured, ended=ended)
    _end(row, status, has_draft=has_draft)


@transaction.atomic
def stop(message: UUID, seen: Seen | None, *, by: str = "", attempt: int | None = None) -> bool:
    """A person stops the turn, whoever runs it. False when it had already ended. `attempt`: the one that was running when
    they said so; what was told to go on since then is not what they meant."""
    if attempt is not None and _went_on_after(message, attempt):
        return False
    return _take(message, LIVE, Status.STOPPED, seen, ended_by(by), Outcome.STOPPED)


def _went_on_after(message: UUID, attempt: int) -> bool:
    rows = Message.objects.select_for_update().filter(pk=message)
    metadata = rows.values_list("metadata", flat=True).first()
    since = metadata.get("goes_on_after") if isinstance(metadata, dict) else None
    return isinstance(since, int) and since > attempt


@transaction.atomic
def interrupt(message: UUID, *, attempt: int) -> bool:
    """Gives up a turn whose processes died too often or too long ago."""
    mine = {"attempt": attempt}
    ended = {"reason": "interrupted"}
    return _take(
        message, (Status.QUEUED, Status.RUNNING), Status.INTERRUPTED, None, ended, Outcome.UNKNOWN, mine
    )


@transaction.atomic
def requeue(message: UUID, *, runner: str = "") -> bool:
    """Continue, or Retry where nothing was kept: the same message goes on. With questions below it, it stays as they read it."""
    rows = Message.objects.select_related("conversation__owner").defer("conversation__tools")
    row = rows.filter(pk=message, role=Role.ASSISTANT, deletion=None).first()
    if row is None or not _may_go_on(row):
        return False
    refuse_another(row.conversation.owner)
    # Nobody may ask below it meanwhile: whoever does takes its number from the same row.
    Conversation.objects.filter(pk=row.conversation_id).update(next_order=F("next_order"))
    if not _may_go_on(row):
        return False
    metadata = {name: value for name, value in row.metadata.items() if name not in ("ended", BY_PROGRAM)}
    metadata["goes_on_at"] = next_round(load_items(message))
    if row.metadata.get(BY_PROGRAM):
        # A fork of it goes on here, and is counted like all that does.
        metadata[BY_PROGRAM_BEFORE] = metadata["goes_on_at"]
    metadata["goes_on_ms"] = metadata.get("elapsed_ms", 0)
    metadata["goes_on_after"] = row.attempt
    metadata["gaps"] = _with_gap(metadata, row.touched_at)
    for _, kept in turn_goes_on.send(sender=None, row=row):
        metadata |= cast(dict[str, Any], kept)
    changes = {"tries": 0, "runner": runner, "metadata": metadata, "touched_at": Now()}
    mine = Message.objects.filter(pk=message, status=row.status, attempt=row.attempt)
    if not mine.update(status=Status.QUEUED, **changes):
        return False
    tell_owner(row.conversation.owner_id, row.conversation_id, "turn queued", message)
    return True


def _with_gap(metadata: dict[str, Any], stopped: datetime | None) -> dict[str, Any]:
    """When it stopped and when it goes on, by the round with which it does. What brought nothing in between is no end of it."""
    gaps, number, now = metadata.get("gaps"), str(metadata["goes_on_at"]), int(timezone.now().timestamp())
    known = gaps if isinstance(gaps, dict) else {}
    before = Recorded({"gaps": known}).gaps.get(metadata["goes_on_at"])
    since = before.stopped if before else int(stopped.timestamp()) if stopped else now
    return {**known, number: {"stopped": since, "went_on": now}}


def _may_go_on(row: Message) -> bool:
    if row.conversation.program:
        return False
    if row.status == Status.FAILED and row.next_seq:
        return False
    return (
        row.status in (Status.STOPPED, Status.INTERRUPTED, Status.FAILED)
        and not row.children.filter(deletion=None).exists()
    )


@transaction.atomic
def save_drafts(drafts: Sequence[tuple[Claim, dict[str, Any]]]) -> set[Claim]:
    """Many at once cost little more than one. Returns the claims that still hold; of the others nothing is written."""
    claimed = Message.objects.select_for_update().order_by("pk").filter(status=Status.RUNNING)
    holding = set(claimed.filter(pk__in=[claim.message for claim, _ in drafts]).values_list("pk", "attempt"))
    kept = {claim: saved for claim, saved in drafts if (claim.message, claim.attempt) in holding}
    Message.objects.filter(pk__in=[claim.message for claim in kept]).update(touched_at=Now())
    DraftRow.objects.bulk_create(
        [
            DraftRow(message_id=claim.message, attempt=claim.attempt, n=saved["n"], saved=saved)
            for claim, saved in kept.items()
        ],
        update_conflicts=True,
        unique_fields=["message"],
        update_fields=["attempt", "n", "saved"],
    )
    return set(kept)


def load_live_turns() -> list[LiveTurn]:
    """No more of each than tells whether somebody is at work on it."""
    rows = Message.objects.filter(IS_LIVE, status__in=(Status.QUEUED, Status.RUNNING)).order_by("touched_at")
    found = rows.values_list("id", "attempt", "tries", "runner", "touched_at", Now())
    return [
        LiveTurn(pk, attempt, tries, runner, now - touched_at if touched_at else None)
        for pk, attempt, tries, runner, touched_at, now in found
    ]


def attempt_at(message: UUID) -> int | None:
    """The number of its newest attempt; None where there is no such turn."""
    return Message.objects.filter(pk=message).values_list("attempt", flat=True).first()


def has_ended(claim: Claim) -> bool:
    """Whether this very attempt brought the turn to its end, or to wait: nobody else can without raising the number."""
    status = Message.objects.filter(pk=claim.message, attempt=claim.attempt).values_list("status", flat=True)
    return status.first() not in (None, Status.RUNNING)


def has_been_stopped(claim: Claim) -> bool:
    """Whether this very attempt is the one that was stopped."""
    rows = Message.objects.filter(pk=claim.message, attempt=claim.attempt + 1, status=Status.STOPPED)
    return rows.exists()


def has_claimed(message: UUID, *, runner: str, attempt: int) -> bool:
    mine = Message.objects.filter(pk=message, attempt=attempt, runner=runner, status=Status.RUNNING)
    return mine.exists()


def has_items(message: UUID, keys: Collection[str]) -> bool:
    return ItemRow.objects.filter(message=message, key__in=keys).count() == len(keys)


def count_turns() -> dict[str, int]:
    answers = Message.objects.filter(role=Role.ASSISTANT)
    return dict(answers.values_list("status").annotate(Count("id")).order_by("status"))


def _take(
    message: UUID,
    leaves: Sequence[str],
    status: Status,
    seen: Seen | None,
    ended: dict[str, Any],
    outcome: Outcome,
    mine: dict[str, Any] | None = None,
) -> bool:
    row: Any = _taken(tuple(leaves), *(mine or ())).first(message, status, *(mine or {}).values())
    if row is None:
        return False
    # Rows that cannot be read must not keep a turn alive: verify_log names them.
    with suppress(ValueError, TypeError, KeyError):
        _keep_what_was_seen(row, seen, outcome, ended)
    _end(row, status)
    return True


@cache
def _taken(leaves: tuple[str, ...], *mine: str) -> Worded:
    return Worded(
        lambda pk, _, *values: Message.objects.filter(
            pk=pk, status__in=leaves, **dict(zip(mine, values, strict=True))
        ),
        UUID,
        str,
        *(int for _ in mine),
        update=lambda _, status, *__: {
            "status": status,
            "attempt": F("attempt") + 1,
            "runner": "",
            "touched_at": Now(),
        },
        returning=WITH_OWNER,
    )


def _keep_what_was_seen(row: Message, seen: Seen | None, outcome: Outcome, ended: dict[str, Any]) -> None:
    stored = load_items(row.pk)
    best = best_seen(seen, row.pk, row.attempt - 1)
    _append_cut(row, stored, best, outcome)
    sent = Measured(round=sent_for_the_open_round(stored, best))
    row.metadata = noted(row.metadata, sent, ended=ended)


def _append_cut(row: Message, stored: Sequence[Item], seen: Seen | None, outcome: Outcome) -> None:
    items = cut_off(row.model, stored, seen, outcome)
    append(row, items, measured_of(seen, [item.key for item in items]))


def _end(row: Message, status: Status, items: Sequence[Item] = (), *, has_draft: bool = True) -> None:
    """`items`: what was written last."""
    row.status = status
    for _, kept in turn_ended.send(sender=None, row=row):
        row.metadata = {**row.metadata, **cast(dict[str, Any], kept)} if kept else row.metadata
    keep(row, status=status)
    if has_draft:
        DraftRow.objects.filter(message=row.pk).delete()
    written = Ended(row, list(map(as_stored, items))) if row.next_seq == len(items) else None
    tell_of(row, "turn ended", written)
