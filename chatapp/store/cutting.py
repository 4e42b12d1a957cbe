"""What was seen of an answer that will not be finished: unfinished pieces become cut items, and every call without a result
gets one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from ..core.draft import Draft
from ..core.history import NO_RESULT
from ..core.items import Item, KeyMaker, Kind, Outcome
from ..core.model_name import ModelName
from .branches import next_round
from .models import Draft as DraftRow
from .models import Message, Status
from .rows import Measured, noted

STOPPED_RESULT = "The call was stopped before it had a result."


@dataclass(frozen=True, slots=True)
class Seen:
    """A draft as it was seen, and the moment of the look in the turn's own time."""

    attempt: int
    draft: Draft
    at: float


def load_draft(message: UUID) -> Seen | None:
    row = DraftRow.objects.filter(message=message).first()
    return Seen(row.attempt, Draft.from_json(row.saved), row.saved["at"]) if row else None


def best_seen(seen: Seen | None, message: UUID, attempt: int) -> Seen | None:
    """What was seen of this attempt; else what was last saved."""
    return seen if seen and seen.attempt == attempt else load_draft(message)


def as_stopped(
    row: Message, stored: Sequence[Item], seen: Seen | None, by: str
) -> tuple[Message, list[Item]]:
    """The row and the items of a turn that was stopped, as they will stand once that is written."""
    best = best_seen(seen, row.pk, row.attempt)
    cut = cut_off(row.model, stored, best, Outcome.STOPPED)
    stopped = copy(row)
    stopped.status, stopped.attempt = Status.STOPPED, row.attempt + 1
    stopped.next_seq = row.next_seq + len(cut)
    stopped.is_expected = True
    metadata = noted(row.metadata, measured_of(best, [item.key for item in cut]))
    sent = Measured(round=sent_for_the_open_round(stored, best))
    stopped.metadata = noted(metadata, sent, ended=ended_by(by))
    return stopped, [*stored, *cut]


def ended_by(person: str) -> dict[str, Any]:
    return {"reason": "stopped", "by": person}


def sent_for_the_open_round(stored: Sequence[Item], seen: Seen | None) -> dict[str, Any] | None:
    """A round is stored a moment before its draft forgets what was sent for it."""
    facts = seen.draft.facts if seen else None
    return facts if facts and facts["round"] >= next_round(stored) else None


def cut_off(model: str, stored: Sequence[Item], seen: Seen | None, outcome: Outcome) -> list[Item]:
    """The items that are added to those that are stored. `model`: who was asked; `outcome`: that of calls without a result."""
    keys = {item.key for item in stored}
    here = next_round(stored)
    maker = _maker(model, seen)
    cut = seen.draft.cut() if seen else []
    items = [replace(item, round=here, **maker) for item in cut if item.key not in keys]
    running = seen.draft.running_results() if seen else {}
    names = KeyMaker(keys | {item.key for item in items} | set(running.values()))
    for call in without_result([*stored, *items]):
        key = running.pop(call.call_id, "")
        items.append(_result_instead(call, names.take() if not key or key in keys else key, outcome))
    return items


def _maker(model: str, seen: Seen | None) -> dict[str, Any]:
    """Who said what was cut."""
    provider, name = ModelName.of(model)
    dialect = (seen.draft.facts or {}).get("dialect", "") if seen else ""
    return {"provider": provider, "dialect": dialect, "model": name}


def measured_of(seen: Seen | None, keys: list[str]) -> Measured:
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


def _result_instead(call: Item, key: str, outcome: Outcome) -> Item:
    return Item(
        key=key,
        kind=Kind.TOOL_RESULT,
        text=STOPPED_RESULT if outcome is Outcome.STOPPED else NO_RESULT,
        round=call.round,
        call_id=call.call_id,
        name=call.name,
        outcome=outcome,
    )
