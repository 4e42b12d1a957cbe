"""Proves the store: says in words every place where rows contradict what the log promises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from ..core.items import FROM_MODEL, Item, Kind
from ..core.tree import repair
from ..models import ENDED, LIVE, Conversation, Draft, Message, Role
from ..models import Item as ItemRow
from .branches import load_items
from .turns import without_result

SOME = 500


def verify_log() -> Iterator[str]:
    """Every breach, one sentence each; nothing when all is well."""
    for conversation in Conversation.objects.order_by("created_at", "id").iterator(SOME):
        yield from _tree(conversation)
        for message in Message.objects.filter(conversation=conversation).order_by("order").iterator(SOME):
            yield from (f"Message {message.id}: {breach}." for breach in _message(message))
    yield from _drafts()


def _tree(conversation: Conversation) -> Iterator[str]:
    rows = Message.objects.filter(conversation=conversation).order_by("order").values_list("id", "parent_id")
    for problem in repair(rows).problems:
        yield f"Conversation {conversation.id}: {problem}"
    if conversation.head_id and conversation.head_id not in {row[0] for row in rows}:
        yield f"Conversation {conversation.id}: its head {conversation.head_id} is not one of its messages."


def _message(message: Message) -> Iterator[str]:
    seqs = list(ItemRow.objects.filter(message=message).order_by("seq").values_list("seq", flat=True))
    if seqs != list(range(message.next_seq)):
        yield f"its items are numbered {_few(seqs)}, not 0 to {message.next_seq - 1}"
    items = load_items(message.id)
    yield from _keys(message.id, items)
    yield from _rounds(items)
    yield from _measures(message, {item.key: item.kind for item in items})
    yield from _calls(message, items)


def _keys(message: UUID, items: Sequence[Item]) -> Iterator[str]:
    for key, count in Counter(item.key for item in items).items():
        if count > 1:
            yield f"the key {key!r} names {count} items"
        if str(message) in key:
            yield f"the key {key!r} contains the message's id"
    for item in items:
        if item.cut and item.wire is not None:
            yield f"the cut item {item.key!r} has a wire"


def _rounds(items: Sequence[Item]) -> Iterator[str]:
    rounds = [item.round for item in items if item.kind in FROM_MODEL]
    if rounds != sorted(rounds):
        yield f"its rounds are out of order: {_few(rounds)}"


def _measures(message: Message, kinds: dict[str, Kind]) -> Iterator[str]:
    for key, ms in message.metadata.get("reasoning_durations_ms", {}).items():
        if kinds.get(key) is not Kind.REASONING:
            yield f"the duration of {key!r} belongs to no thought"
        if not isinstance(ms, int) or ms < 0:
            yield f"the duration of {key!r} is {ms!r}"
    for key, span in message.metadata.get("timings_ms", {}).items():
        if key not in kinds:
            yield f"the timing of {key!r} belongs to no item"
        if not _is_span(span):
            yield f"the timing of {key!r} is {span!r}"


def _is_span(span: Any) -> bool:
    return isinstance(span, dict) and 0 <= span.get("start", -1) <= span.get("end", -1)


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


def _drafts() -> Iterator[str]:
    for draft in Draft.objects.select_related("message").exclude(message__status__in=LIVE).iterator(SOME):
        yield f"Message {draft.message_id}: it has a draft although its turn has ended."
    for message in Message.objects.filter(role=Role.USER, items__isnull=True).iterator(SOME):
        yield f"Message {message.id}: it is a question without words."


def _few(numbers: Sequence[int]) -> str:
    words = ", ".join(str(number) for number in numbers[:12])
    return words + (", …" if len(numbers) > 12 else "") if numbers else "not at all"
