"""Proves the store: says in words every place where rows contradict what the log promises.
It reads JSON as the text it is, so that a damaged row is named like any other breach."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from uuid import UUID

from django.db.models import TextField
from django.db.models.functions import Cast

from ..core import verbatim
from ..core.contracts import Repair
from ..core.decision import read_decision
from ..core.draft import Draft
from ..core.items import FROM_MODEL, Item, Kind
from ..core.recorded import TOLD_ROUNDS
from ..core.tree import repair
from ..core.values import count_in, fields
from .cutting import without_result
from .models import ENDED, LIVE, Conversation, Message, Role, ToolRun
from .models import Draft as DraftRow
from .models import Item as ItemRow

SOME = 500
FEW = 16
# Messages that are looked at together.
BATCH = 100
# A duration is rounded once, a timing at both of its ends.
ROUNDING_MS = 2
# What stands around the log is proved where it is written; it adds itself here.
ALSO: list[Callable[[], Iterator[str]]] = []


def verify_log() -> Iterator[str]:
    """Every breach, one sentence each; nothing when all is well."""
    rows = Conversation.objects.order_by("created_at", "id")
    for conversation, head, tools in rows.values_list("id", "head_id", _unread("tools")).iterator(SOME):
        yield from _breaches_of(f"Conversation {conversation}", _tool_list(tools))
        yield from _tree(conversation, head)
        messages = Message.objects.filter(conversation=conversation).order_by("order")
        yield from _messages(messages.only("role", "status", "next_seq").iterator(SOME))
    yield from _drafts()
    for breaches in ALSO:
        yield from breaches()
    for question in Message.objects.filter(role=Role.USER, items=None).values_list("id", flat=True):
        yield f"Message {question}: it is a question without words."


def _unread(field: str) -> Cast:
    """A field of JSON, unread."""
    return Cast(field, TextField())


def _breaches_of(owner: str, breaches: Iterable[str]) -> Iterator[str]:
    yield from (f"{owner}: {breach}." for breach in _guarded("it", breaches))


def _guarded(what: str, breaches: Iterable[str]) -> Iterator[str]:
    """Whatever a damaged row does to its reader is one more breach, and the check goes on."""
    try:
        yield from breaches
    except Exception as problem:
        yield f"{what} cannot be read: {problem}"


def _tool_list(text: str) -> Iterator[str]:
    tools = verbatim.loads(text)
    if not isinstance(tools, list) or not all(map(_is_tool, tools)):
        yield "its tools are not a list of names and descriptions"


def _is_tool(tool: Any) -> bool:
    return isinstance(tool, str) or (isinstance(tool, dict) and isinstance(tool.get("name"), str))


def _tree(conversation: UUID, head: UUID | None) -> Iterator[str]:
    rows = Message.objects.filter(conversation=conversation).order_by("order").values_list("id", "parent_id")
    for problem in repair(rows, head=head).problems:
        yield f"Conversation {conversation}: {problem}"


@dataclass(frozen=True, slots=True)
class _Around:
    """What stands around some messages, by theirs: to ask for each by itself takes several times as long."""

    items: Mapping[UUID, Sequence[tuple[int, Item]]]
    wires: Mapping[UUID, Sequence[str]]
    began: Mapping[UUID, Sequence[str]]
    decisions: Mapping[UUID, Sequence[tuple[str, str | None]]]
    metadata: Mapping[UUID, str]


def _messages(messages: Iterator[Message]) -> Iterator[str]:
    while some := list(islice(messages, BATCH)):
        try:
            around = _around(some)
        except Exception:
            # One of them cannot be read: each by itself says which.
            around = None
        for message in some:
            yield from _breaches_of(f"Message {message.id}", _message(message, around))


def _around(messages: Sequence[Message]) -> _Around:
    rows = ItemRow.objects.filter(message__in=messages).order_by("message_id", "seq")
    items: dict[UUID, list[tuple[int, Item]]] = defaultdict(list)
    for message, seq, key, kind, n, cut, call in rows.values_list(
        "message_id", "seq", "key", "kind", "round", "cut", "call_id"
    ):
        items[message].append((seq, Item(key=key, kind=Kind(kind), round=n, cut=cut, call_id=call)))
    wires: dict[UUID, list[str]] = defaultdict(list)
    unread = rows.values_list("message_id", "key", "cut", _unread("wire"))
    for message, key, cut, wire in unread.iterator(FEW):
        wires[message] += _wire(key, cut, wire)
    decisions: dict[UUID, list[tuple[str, str | None]]] = defaultdict(list)
    decided = rows.filter(kind=Kind.PERMISSION_DECISION)
    for message, key, wire in decided.values_list("message_id", "key", _unread("wire")):
        decisions[message].append((key, wire))
    began: dict[UUID, list[str]] = defaultdict(list)
    for message, key in ToolRun.objects.filter(message__in=messages).values_list("message_id", "key"):
        began[message].append(key)
    metadata = Message.objects.filter(pk__in=[message.pk for message in messages])
    return _Around(items, wires, began, decisions, dict(metadata.values_list("pk", _unread("metadata"))))


def _message(message: Message, around: _Around | None) -> Iterator[str]:
    around = around or _around([message])
    pk, said = message.pk, around.items.get(message.pk, [])
    items = [item for _, item in said]
    yield from _guarded("the order of its items", _numbers(message, [seq for seq, _ in said]))
    yield from around.wires.get(pk, [])
    yield from _keys(pk, items)
    yield from _places(message, items)
    yield from _calls(message, items)
    yield from _permissions(items, around.began.get(pk, []), around.decisions.get(pk, []))
    yield from _guarded("its metadata", _metadata(around.metadata[pk], items))


def _numbers(message: Message, seqs: Sequence[int]) -> Iterator[str]:
    if seqs != list(range(message.next_seq)):
        yield f"its items are numbered {_few(seqs)}, not 0 to {message.next_seq - 1}"


def _wire(key: str, cut: bool, text: str | None) -> Iterator[str]:
    if cut and text is not None:
        yield f"the cut item {key!r} has a wire"
    yield from _guarded(f"the wire of {key!r}", _json(text))


def _json(text: str | None) -> Iterator[str]:
    """No breach, or a ValueError."""
    if text is not None:
        verbatim.loads(text)
    yield from ()


def _keys(message: UUID, items: Sequence[Item]) -> Iterator[str]:
    for key, count in Counter(item.key for item in items).items():
        if count > 1:
            yield f"the key {key!r} names {count} items"
        if str(message) in key:
            yield f"the key {key!r} contains the message's id"


def _places(message: Message, items: Sequence[Item]) -> Iterator[str]:
    for item in items:
        if (item.kind is Kind.USER_MESSAGE) != (message.role == Role.USER):
            yield f"the item {item.key!r} ({item.kind}) does not belong in a message of the {message.role}"
    rounds = [item.round for item in items if item.kind in FROM_MODEL]
    if rounds != sorted(rounds):
        yield f"its rounds are out of order: {_few(rounds)}"


def _calls(message: Message, items: Sequence[Item]) -> Iterator[str]:
    called: Counter[tuple[int, str]] = Counter()
    for item in items:
        place = (item.round, item.call_id)
        if item.kind is Kind.TOOL_CALL:
            called[place] += 1
        elif item.kind is Kind.TOOL_RESULT:
            called[place] -= 1
            if called[place] < 0:
                yield f"the result {item.key!r} has no call before it"
    if message.status in ENDED:
        for call in without_result(items):
            yield f"the turn has ended, but its call {call.key!r} has no result"


def _permissions(
    items: Sequence[Item], began: Sequence[str], decisions: Sequence[tuple[str, str | None]]
) -> Iterator[str]:
    calls = {item.key for item in items if item.kind is Kind.TOOL_CALL}
    for key in began:
        if key not in calls:
            yield f"a call {key!r} began that it does not have"
    decided: set[str] = set()
    for key, text in decisions:
        wire = None if text is None else verbatim.loads(text)
        decision = read_decision(Item(key=key, kind=Kind.PERMISSION_DECISION, wire=wire))
        if decision is None:
            yield f"the decision {key!r} cannot be read"
        elif decision.call not in calls or decision.call in decided:
            yield f"the decision {key!r} is about no call of its own"
        else:
            decided.add(decision.call)


def _metadata(text: str, items: Sequence[Item]) -> Iterator[str]:
    metadata = verbatim.loads(text)
    if not isinstance(metadata, dict):
        yield f"its metadata is not a map: {_short(metadata)}"
        return
    maps = {
        name: metadata.get(name, {}) for name in ("reasoning_durations_ms", "timings_ms", "gaps", "ended")
    }
    for name, value in maps.items():
        if not isinstance(value, dict):
            yield f"its {name} is not a map: {_short(value)}"
    for name in ("elapsed_ms", "goes_on_at"):
        if not _is_count(metadata.get(name, 0)):
            yield f"its {name} is {_short(metadata[name])}"
    durations, timings = (fields(maps[name]) for name in ("reasoning_durations_ms", "timings_ms"))
    yield from _durations(durations, items, count_in(metadata.get(TOLD_ROUNDS)) or 0)
    yield from _timings(timings, durations, {item.key for item in items})
    yield from _round_breaches(metadata.get("rounds", []))


def _durations(durations: Mapping[str, Any], items: Sequence[Item], told: int) -> Iterator[str]:
    thoughts = {item.key: item for item in items if item.kind is Kind.REASONING}
    for key, ms in durations.items():
        if key not in thoughts:
            yield f"the duration of {key!r} belongs to no thought"
        if not _is_count(ms):
            yield f"the duration of {key!r} is {_short(ms)}"
    # A turn that nobody measured is whole; one that was measured was measured throughout, but for what a program told of it.
    if thoughts.keys() & durations.keys():
        for key, thought in thoughts.items():
            if key not in durations and not thought.cut and thought.round >= told:
                yield f"the thought {key!r} has no duration, and others have one"


def _timings(timings: Mapping[str, Any], durations: Mapping[str, Any], keys: set[str]) -> Iterator[str]:
    for key, span in timings.items():
        if key not in keys:
            yield f"the timing of {key!r} belongs to no item"
        if not _is_span(span):
            yield f"the timing of {key!r} is {_short(span)}"
        elif _is_count(ms := durations.get(key)) and abs(span["end"] - span["start"] - ms) > ROUNDING_MS:
            yield f"the duration of {key!r} is {ms}, and its timing says {span['end'] - span['start']}"


def _round_breaches(rounds: Any) -> Iterator[str]:
    if not isinstance(rounds, list):
        yield f"its rounds are not a list: {_short(rounds)}"
        return
    for n, facts in enumerate(rounds):
        if not _is_round(facts):
            yield f"entry {n} of its rounds is {_short(facts)}"


def _is_round(facts: Any) -> bool:
    if not isinstance(facts, dict) or not _is_count(facts.get("round")):
        return False
    repaired = facts.get("repaired", [])
    known = isinstance(repaired, list) and all(how in list(Repair) for how in repaired)
    return known and isinstance(facts.get("model"), str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_span(span: Any) -> bool:
    if not isinstance(span, dict) or not (_is_count(span.get("start")) and _is_count(span.get("end"))):
        return False
    return bool(span["start"] <= span["end"])


def _drafts() -> Iterator[str]:
    rows = DraftRow.objects.values_list("message_id", "message__status", _unread("saved"))
    for message, status, saved in rows.iterator(FEW):
        if status not in LIVE:
            yield f"Message {message}: it has a draft although its turn has ended."
        yield from (f"Message {message}: {breach}." for breach in _guarded("its draft", _draft(saved)))


def _draft(text: str) -> Iterator[str]:
    saved = verbatim.loads(text)
    draft = Draft.from_json(saved)
    draft.cut()
    draft.timings(list(draft.pieces), draft.at)
    if not _is_count(draft.n) or not isinstance(draft.at, int | float):
        yield f"its draft stands at {_short(draft.n)}, {_short(draft.at)}"
    if draft.facts is not None and not _is_round(draft.facts):
        yield f"the round of its draft is {_short(draft.facts)}"


def _few(numbers: Sequence[int]) -> str:
    words = ", ".join(str(number) for number in numbers[:12])
    return words + (", …" if len(numbers) > 12 else "") if numbers else "not at all"


def _short(value: Any) -> str:
    return f"{value!r:.80}"
