"""The life of a turn in rows. Every write begins with a conditional update of the message: check and lock at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, F
from django.utils import timezone

from ..core.counting import COUNTED
from ..core.draft import Draft
from ..core.history import NO_RESULT
from ..core.items import Item, KeyMaker, Kind, Outcome
from ..core.permission import arguments_hash
from ..models import IS_LIVE, LIVE, Conversation, Message, Role, Status, ToolRun
from ..models import Draft as DraftRow
from .branches import load_items, next_round
from .changes import What
from .figures import count_ending, counted_so_far
from .limits import refuse_beyond
from .rows import Claim, Fenced, Measured, append, hold, note, tell_of

STOPPED_RESULT = "The call was stopped before it had a result."


@dataclass(frozen=True, slots=True)
class Seen:
    """A draft as it was seen, and the moment of the look in the turn's own time."""

    attempt: int
    draft: Draft
    at: float


@transaction.atomic
def claim(message: UUID, *, runner: str, seen: int) -> Claim:
    """Takes the turn over from the attempt that was `seen`; of several who try, one succeeds."""
    rows = Message.objects.filter(pk=message, attempt=seen, status__in=(Status.QUEUED, Status.RUNNING))
    changes = {"attempt": F("attempt") + 1, "tries": F("tries") + 1}
    if not rows.update(status=Status.RUNNING, runner=runner, touched_at=timezone.now(), **changes):
        raise Fenced
    tell_of(message, "turn began")
    return Claim(message, seen + 1)


@transaction.atomic
def append_round(claim: Claim, items: Sequence[Item], measured: Measured) -> None:
    """All items of one response together, so that nothing half-said is ever replayed."""
    hold(claim, tries=1)
    append(claim.message, items, measured)
    DraftRow.objects.filter(message=claim.message).delete()


@transaction.atomic
def begin_call(claim: Claim, call: Item) -> None:
    """Before it runs: whoever finds this and no result knows that it may have run."""
    hold(claim)
    begun = {
        "attempt": claim.attempt,
        "arguments_hash": arguments_hash(call.text),
        "began_at": timezone.now(),
    }
    ToolRun.objects.update_or_create(message_id=claim.message, key=call.key, defaults=begun)


@transaction.atomic
def append_result(claim: Claim, item: Item, measured: Measured) -> None:
    hold(claim)
    append(claim.message, [item], measured)


@transaction.atomic
def finish(claim: Claim, items: Sequence[Item], measured: Measured) -> None:
    """The final answer."""
    hold(claim, status=Status.COMPLETE)
    append(claim.message, items, measured)
    _settle(claim.message, "turn ended")


@transaction.atomic
def give_up(claim: Claim, status: Status, seen: Seen, measured: Measured, ended: dict[str, Any]) -> None:
    """The loop ends the turn without a final answer; what was seen of the open round is kept as cut items."""
    hold(claim, status=status)
    _cut(claim.message, seen, Outcome.STOPPED, STOPPED_RESULT)
    note(claim.message, measured, ended=ended)
    _settle(claim.message, "turn ended")


@transaction.atomic
def stop(message: UUID, seen: Seen | None, *, by: str = "") -> bool:
    """A person stops the turn, whoever runs it. False when it had already ended."""
    return _take(message, LIVE, Status.STOPPED, seen, {"reason": "stopped", "by": by}, Outcome.STOPPED)


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
    refuse_beyond(row.conversation.owner)
    # Nobody may ask below it meanwhile: whoever does takes its number from the same row.
    Conversation.objects.filter(pk=row.conversation_id).update(next_order=F("next_order"))
    if not _may_go_on(row):
        return False
    metadata = {name: value for name, value in row.metadata.items() if name != "ended"}
    metadata["goes_on_at"] = next_round(load_items(message))
    metadata["goes_on_ms"] = metadata.get("elapsed_ms", 0)
    metadata[COUNTED] = counted_so_far(row)
    changes = {"tries": 0, "runner": runner, "metadata": metadata, "touched_at": timezone.now()}
    mine = Message.objects.filter(pk=message, status=row.status, attempt=row.attempt)
    if not mine.update(status=Status.QUEUED, **changes):
        return False
    tell_of(message, "turn queued")
    return True


def _may_go_on(row: Message) -> bool:
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
    Message.objects.filter(pk__in=[claim.message for claim in kept]).update(touched_at=timezone.now())
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


def load_draft(message: UUID) -> Seen | None:
    row = DraftRow.objects.filter(message=message).first()
    return Seen(row.attempt, Draft.from_json(row.saved), row.saved["at"]) if row else None


def load_live_turns() -> list[Message]:
    """Turns that somebody should be working on; no more of each than tells whether somebody is."""
    rows = Message.objects.filter(IS_LIVE, status__in=(Status.QUEUED, Status.RUNNING)).order_by("touched_at")
    return list(rows.only("id", "attempt", "tries", "runner", "touched_at"))


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
    rows = Message.objects.filter(pk=message, status__in=leaves, **(mine or {}))
    if not rows.update(status=status, attempt=F("attempt") + 1, runner="", touched_at=timezone.now()):
        return False
    # Rows that cannot be read must not keep a turn alive: verify_log names them.
    with suppress(ValueError, TypeError, KeyError):
        _keep_what_was_seen(message, seen, outcome, ended)
    _settle(message, "turn ended")
    return True


def _keep_what_was_seen(message: UUID, seen: Seen | None, outcome: Outcome, ended: dict[str, Any]) -> None:
    before = Message.objects.values_list("attempt", flat=True).get(pk=message) - 1
    best = seen if seen and seen.attempt == before else load_draft(message)
    sent = _sent_for_the_open_round(message, best)
    _cut(message, best, outcome, STOPPED_RESULT if outcome is Outcome.STOPPED else NO_RESULT)
    note(message, Measured(round=sent), ended=ended)


def _sent_for_the_open_round(message: UUID, seen: Seen | None) -> dict[str, Any] | None:
    """A round is stored a moment before its draft forgets what was sent for it."""
    facts = seen.draft.facts if seen else None
    return facts if facts and facts["round"] >= next_round(load_items(message)) else None


def _cut(message: UUID, seen: Seen | None, outcome: Outcome, text: str) -> None:
    """Unfinished pieces become cut items, and every call without a result gets one."""
    stored = load_items(message)
    keys = {item.key for item in stored}
    here = next_round(stored)
    maker = _maker(message, seen)
    cut = seen.draft.cut() if seen else []
    items = [replace(item, round=here, **maker) for item in cut if item.key not in keys]
    running = seen.draft.running_results() if seen else {}
    names = KeyMaker(keys | {item.key for item in items} | set(running.values()))
    for call in without_result([*stored, *items]):
        key = running.pop(call.call_id, "")
        items.append(_result(call, names.take() if not key or key in keys else key, outcome, text))
    append(message, items, _measured(seen, [item.key for item in items]))


def _maker(message: UUID, seen: Seen | None) -> dict[str, Any]:
    """Who said what was cut."""
    provider, _, model = Message.objects.values_list("model", flat=True).get(pk=message).partition(":")
    dialect = (seen.draft.facts or {}).get("dialect", "") if seen else ""
    return {"provider": provider, "dialect": dialect, "model": model}


def _measured(seen: Seen | None, keys: list[str]) -> Measured:
    if seen is None:
        return Measured()
    still_open = set(seen.draft.open_keys())
    timings = seen.draft.timings(keys, seen.at)
    timings = {key: span | {"cut": True} if key in still_open else span for key, span in timings.items()}
    return Measured(durations=seen.draft.durations(keys, seen.at), timings=timings, elapsed=seen.at)


def without_result(items: Iterable[Item]) -> list[Item]:
    """Calls of one message that nothing has answered yet, in order."""
    items = list(items)
    answered = Counter((item.round, item.call_id) for item in items if item.kind is Kind.TOOL_RESULT)
    open_calls = []
    for call in (item for item in items if item.kind is Kind.TOOL_CALL):
        if answered[call.round, call.call_id]:
            answered[call.round, call.call_id] -= 1
        else:
            open_calls.append(call)
    return open_calls


def _result(call: Item, key: str, outcome: Outcome, text: str) -> Item:
    return Item(
        key=key,
        kind=Kind.TOOL_RESULT,
        text=text,
        round=call.round,
        call_id=call.call_id,
        name=call.name,
        outcome=outcome,
    )


def _settle(message: UUID, what: What) -> None:
    DraftRow.objects.filter(message=message).delete()
    tell_of(message, what)
    count_ending(message)
