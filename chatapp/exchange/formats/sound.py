"""Makes a message sound, whoever told it: afterwards it holds what the log promises of every message, and what it says of a provider goes
back to it only where a model can have said it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...core.contracts import Repair
from ...core.decision import read_decision
from ...core.history import NO_RESULT
from ...core.items import FROM_MODEL, Item, KeyMaker, Kind, Outcome, clean
from ...core.recorded import BY_PROGRAM, BY_PROGRAM_BEFORE, TOLD_ROUNDS, count
from ...core.values import fields, rows
from ...store import without_result
from ...store.models import LIVE, Role, Status
from .imported import for_show
from .shape import Remark, ToldConversation, ToldMessage
from .wires import is_small, may_go_back

NO_WORDS = "(There were no words in the file.)"
MOST_ROUNDS = 100_000
# A duration is rounded once, a timing at both of its ends.
_ROUNDING_MS = 2
_COUNTS = ("elapsed_ms", "goes_on_at", "copied", BY_PROGRAM_BEFORE)
_FLAGS = (BY_PROGRAM, "whole_seconds")


def made_sound(told: ToldMessage, of: ToldConversation, *, wires: bool) -> ToldMessage:
    """`wires`: whether this format tells them as they were."""
    role = Role(told.role)
    items = _keyed(_of_role(told.items, role, of))
    items = [_judged(item, of) if wires else _without_wire(item) for item in items]
    if role is Role.USER:
        status, items = Status.COMPLETE, items or [_no_words(of)]
    else:
        status, items = _status(told, of), _answered(_in_rounds(items), of)
    recorded = _recorded(told.recorded, items, of) if role is Role.ASSISTANT else _of_program(told.recorded)
    return replace(told, role=role, status=status, items=items, recorded=recorded)


def _no_words(of: ToldConversation) -> Item:
    of.note(Remark.EMPTY)
    return Item(key="part-0", kind=Kind.USER_MESSAGE, text=NO_WORDS)


def _of_role(items: Sequence[Item], role: Role, of: ToldConversation) -> Iterator[Item]:
    for item in items:
        if (item.kind is Kind.USER_MESSAGE) != (role is Role.USER):
            of.note(Remark.UNKNOWN)
        elif not is_small(item):
            of.note(Remark.TOO_LARGE)
        else:
            yield item


def _keyed(items: Iterator[Item]) -> list[Item]:
    """With names of their own, and in signs that any database can hold."""
    keys = KeyMaker()
    return [
        replace(
            item,
            key=keys.take(item.key),
            wire=None if item.cut else item.wire,
            text=clean(item.text),
            provider=clean(item.provider),
            dialect=clean(item.dialect),
            model=clean(item.model),
            call_id=clean(item.call_id),
            name=clean(item.name),
        )
        for item in items
    ]


def _judged(item: Item, of: ToldConversation) -> Item:
    item = replace(item, dialect=item.dialect if not item.dialect.startswith("imported:") else "")
    if may_go_back(item):
        return item
    of.note(Remark.FOR_SHOW)
    return for_show(item)


def _without_wire(item: Item) -> Item:
    return for_show(replace(item, wire=None))


def _status(told: ToldMessage, of: ToldConversation) -> Status:
    if told.status in LIVE:
        of.note(Remark.ENDED)
        return Status.INTERRUPTED
    return Status(told.status) if told.status in Status.values else Status.COMPLETE


def _in_rounds(items: Sequence[Item]) -> Iterator[Item]:
    """What came from a model never goes back to an earlier round."""
    newest = 0
    for item in items:
        number = min(max(item.round, 0), MOST_ROUNDS)
        if item.kind in FROM_MODEL:
            newest = number = max(number, newest)
        yield replace(item, round=number)


def _answered(items: Iterator[Item], of: ToldConversation) -> list[Item]:
    """Every result has its call, and every call a result; a permission was about a call of its own, and is none any more."""
    kept: list[Item] = []
    open_calls: Counter[tuple[int, str]] = Counter()
    calls, decided = dict[str, Item](), set[str]()
    for item in items:
        place = item.round, item.call_id
        match item.kind:
            case Kind.TOOL_CALL:
                open_calls[place] += 1
                calls[item.key] = item
            case Kind.TOOL_RESULT if not open_calls[place]:
                of.note(Remark.UNKNOWN)
                continue
            case Kind.TOOL_RESULT:
                open_calls[place] -= 1
            case Kind.PERMISSION_DECISION:
                decision = read_decision(item)
                if decision is None or decision.call not in calls or decision.call in decided:
                    of.note(Remark.UNKNOWN)
                    continue
                decided.add(decision.call)
            case _:
                pass
        kept.append(item)
    return kept + list(_never_came(kept, of))


def _never_came(items: Sequence[Item], of: ToldConversation) -> Iterator[Item]:
    keys = KeyMaker(item.key for item in items)
    for call in without_result(items):
        of.note(Remark.NO_RESULT)
        yield Item(
            key=keys.take(),
            kind=Kind.TOOL_RESULT,
            text=NO_RESULT,
            round=call.round,
            call_id=call.call_id,
            name=call.name,
            outcome=Outcome.UNKNOWN,
        )


# What was recorded


def _of_program(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """What a program said around a question, which only a reader sees."""
    program = recorded.get("program")
    return {"program": program} if isinstance(program, dict) else {}


def _recorded(told: Mapping[str, Any], items: Sequence[Item], of: ToldConversation) -> dict[str, Any]:
    """In the order in which it was told."""
    durations = _durations(fields(told.get("reasoning_durations_ms")), items, of)
    made: dict[str, Any] = {
        "reasoning_durations_ms": durations,
        "timings_ms": _timings(fields(told.get("timings_ms")), durations, items, of),
        "rounds": [facts for facts in rows(told.get("rounds")) if _is_round(facts)],
        "gaps": {name: gap for name, gap in fields(told.get("gaps")).items() if _is_gap(gap)},
        "ended": {name: value for name, value in fields(told.get("ended")).items() if isinstance(value, str)},
        **{name: number for name in _COUNTS if (number := count(told.get(name))) is not None},
        **{name: True for name in _FLAGS if told.get(name) is True},
        **_of_program(told),
    }
    kept = {name: made[name] for name in told if name in made}
    rounds = count(told.get(TOLD_ROUNDS)) or 0
    unmeasured = [
        item.round
        for item in items
        if durations and item.kind is Kind.REASONING and not item.cut and item.key not in durations
    ]
    if whole := max(rounds, *(number + 1 for number in unmeasured), 0):
        kept[TOLD_ROUNDS] = min(whole, MOST_ROUNDS + 1)
    return kept


def _durations(told: Mapping[str, Any], items: Sequence[Item], of: ToldConversation) -> dict[str, int]:
    thoughts = {item.key for item in items if item.kind is Kind.REASONING}
    known = {key: ms for key, value in told.items() if key in thoughts and (ms := count(value)) is not None}
    of.note(Remark.DURATION, len(told) - len(known))
    return known


def _timings(
    told: Mapping[str, Any], durations: Mapping[str, int], items: Sequence[Item], of: ToldConversation
) -> dict[str, Any]:
    keys = {item.key for item in items}
    known = {key: span for key, span in told.items() if key in keys and _is_span(span, durations.get(key))}
    of.note(Remark.TIME, len(told) - len(known))
    return known


def _is_span(span: Any, ms: int | None) -> bool:
    start, end = count(fields(span).get("start")), count(fields(span).get("end"))
    if start is None or end is None or start > end:
        return False
    return ms is None or abs(end - start - ms) <= _ROUNDING_MS


def _is_round(facts: Mapping[str, Any]) -> bool:
    repaired = facts.get("repaired", [])
    known = isinstance(repaired, list) and all(how in list(Repair) for how in repaired)
    return known and count(facts.get("round")) is not None and isinstance(facts.get("model"), str)


def _is_gap(gap: Any) -> bool:
    return all(count(fields(gap).get(name)) is not None for name in ("stopped", "went_on"))
