"""What administrators browse by: the figures of some conversations and people. Each read is bounded, however many rows there are."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import (
    Count,
    Exists,
    F,
    Func,
    Max,
    OuterRef,
    Q,
    QuerySet,
    TextField,
)
from django.db.models.functions import Coalesce

from ...core.counting import portions
from ...core.items import Item, Kind
from ...core.recorded import Recorded, count
from ...store.models import IS_LIVE, IS_UNFINISHED, LIVE, Conversation, Message, Role
from ...store.models import Item as ItemRow

# So many of the newest are looked at where only their rows can tell.
NEWEST_TIMED = 2000
NEWEST_ANSWERS = 1000
MOST_MODELS = 200
# Answers of a model that is looked for from its answers on.
FEW = 20_000
# What was used is read answer by answer: so many of a conversation, and so many for a page.
MOST_ADDED, MOST_OF_A_PAGE = 400, 4000


class Thoughts(Func):
    """How long each thought of a message took, as JSON, taken out by the database: the rest of its metadata is large."""

    output_field = TextField()

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = "json_extract(%(expressions)s, '$.reasoning_durations_ms')"
        return self.as_sql(compiler, connection, template=template, **more)

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = "((%(expressions)s)::json -> 'reasoning_durations_ms')::text"
        return self.as_sql(compiler, connection, template=template, **more)


@dataclass(slots=True)
class ConversationFigures:
    """Of one conversation. `thinking` is None where no thought was measured. `used`: tokens and cost, of the newest answers alone where
    `more` is set."""

    messages: int = 0
    branches: int = 0
    models: set[str] = field(default_factory=set)
    states: set[str] = field(default_factory=set)
    last: datetime | None = None
    thinking: int | None = None
    used: Counter[str] = field(default_factory=Counter)
    more: bool = False


def load_figures(conversations: Collection[UUID]) -> dict[UUID, ConversationFigures]:
    found: dict[UUID, ConversationFigures] = defaultdict(ConversationFigures)
    rows = _messages_there().filter(conversation__in=conversations)
    groups = rows.values_list("conversation", "model", "status")
    for pk, model, status, number, last in groups.annotate(
        number=Count("pk"), last=Max(Coalesce("touched_at", "created_at"))
    ):
        figures = found[pk]
        figures.messages += number
        figures.models |= {model} - {""}
        figures.states.add(status)
        figures.last = max(filter(None, (figures.last, last)))
    for pk, leaves in _load_leaves(rows):
        found[pk].branches = leaves
    for pk, ms in load_thinking(conversations).items():
        found[pk].thinking = ms
    sizes = {pk: found[pk].messages for pk in conversations if pk in found}
    for pk, metadata in _load_newest(sizes):
        found[pk].used.update(used_by(metadata))
    for pk, size in sizes.items():
        found[pk].more = size // 2 > _most_of_each(sizes)
    return found


def _load_leaves(rows: QuerySet[Message]) -> Iterator[tuple[UUID, int]]:
    """A branch ends with each message that is nobody's parent."""
    sums = rows.values_list("conversation").annotate(Count("pk"), Count("parent", distinct=True))
    return ((pk, messages - parents) for pk, messages, parents in sums)


def _most_of_each(sizes: Mapping[UUID, int]) -> int:
    long = sum(size // 2 > MOST_ADDED for size in sizes.values())
    return min(MOST_ADDED, MOST_OF_A_PAGE // max(1, long))


def _load_newest(sizes: Mapping[UUID, int]) -> Iterator[tuple[UUID, object]]:
    """What was recorded of answers, conversation by conversation where there are many."""
    most, answers = _most_of_each(sizes), _messages_there().filter(role=Role.ASSISTANT)
    short = [pk for pk, size in sizes.items() if size // 2 <= most]
    yield from answers.filter(conversation__in=short).values_list("conversation", "metadata")
    for pk in sizes.keys() - short:
        newest = answers.filter(conversation=pk).order_by("-order")
        yield from newest.values_list("conversation", "metadata")[:most]


def used_by(metadata: object) -> Counter[str]:
    """Tokens of one answer, and its cost in millionths of a dollar as far as prices were known when it ended."""
    used: Counter[str] = Counter()
    for facts in Recorded(metadata).rounds:
        used.update({name: facts.usage.get(name, 0) for name in ("input", "output")})
    for portion in portions(metadata):
        used["cost"] += portion.cost or 0
        used["unpriced"] += int(bool(portion.day) and portion.cost is None)
    return used


def load_thinking(conversations: Collection[UUID]) -> dict[UUID, int]:
    """The sum of all thoughts, in milliseconds, of those that have any."""
    sums: dict[UUID, int] = {}
    answers = _messages_there().filter(conversation__in=conversations, role=Role.ASSISTANT)
    for pk, text in answers.values_list("conversation", Thoughts(F("metadata"))):
        durations = json.loads(text) if text else {}
        known = [ms for ms in map(count, durations.values()) if ms is not None]
        if known:
            sums[pk] = sums.get(pk, 0) + sum(known)
    return sums


def with_thinking(rows: QuerySet[Conversation], least: int, most: int | None) -> QuerySet[Conversation]:
    """Of the newest of these the ones that thought so long, in milliseconds; `most` is left out where there is no end."""
    newest = list(rows.order_by("-updated_at", "-pk").values_list("pk", flat=True)[:NEWEST_TIMED])
    fitting: list[UUID] = []
    for at in range(0, len(newest), 500):
        sums = load_thinking(newest[at : at + 500])
        fitting += [pk for pk, ms in sums.items() if ms >= least and (most is None or ms < most)]
    return rows.filter(pk__in=fitting)


def of_models(rows: QuerySet[Conversation], names: Collection[str]) -> QuerySet[Conversation]:
    """With an answer of one of these models."""
    theirs = _messages_there().filter(model__in=names)
    if theirs.values("conversation")[: FEW + 1].count() > FEW:
        # Soon found from the newest conversation on; few would be looked for through all of them.
        return rows.filter(Exists(theirs.filter(conversation=OuterRef("pk"))))
    return rows.filter(pk__in=theirs.values("conversation"))


def in_state(rows: QuerySet[Conversation], *statuses: str) -> QuerySet[Conversation]:
    """Live, or ended without having finished: both have an index of their own."""
    indexed = IS_LIVE if set(statuses) <= set(LIVE) else IS_UNFINISHED
    return rows.filter(pk__in=_messages_there().filter(indexed, status__in=statuses).values("conversation"))


def neighbour(rows: QuerySet[Conversation], of: Conversation, *, older: bool) -> UUID | None:
    """The next of these, by the order in which they are listed."""
    way = "lt" if older else "gt"
    here = Q(updated_at=of.updated_at, **{f"pk__{way}": of.pk})
    beyond = rows.filter(here | Q(**{f"updated_at__{way}": of.updated_at}))
    order = ("-updated_at", "-pk") if older else ("updated_at", "pk")
    return beyond.order_by(*order).values_list("pk", flat=True).first()


def load_models() -> list[str]:
    """All that have answered, from one to the next in the index."""
    names: list[str] = []
    rows = _messages_there().order_by("model").values_list("model", flat=True)
    while len(names) < MOST_MODELS and (name := rows.filter(model__gt=names[-1] if names else "").first()):
        names.append(name)
    return names


@dataclass(frozen=True, slots=True)
class PersonUsage:
    """`turns` and tokens are those of the newest answers where `more` is set."""

    conversations: int = 0
    turns: int = 0
    input: int = 0
    output: int = 0
    more: bool = False


def load_usage(user: User) -> PersonUsage:
    """What one person used, in the conversations that are theirs."""
    answers = _messages_there().filter(
        conversation__owner=user, conversation__deleted_at=None, role=Role.ASSISTANT
    )
    newest = answers.order_by("-created_at").values_list("metadata", flat=True)[: NEWEST_ANSWERS + 1]
    metadata = list(newest)
    rounds = [facts for each in metadata[:NEWEST_ANSWERS] for facts in Recorded(each).rounds]
    return PersonUsage(
        conversations=Conversation.objects.filter(owner=user, deleted_at=None).count(),
        turns=min(len(metadata), NEWEST_ANSWERS),
        input=sum(facts.usage.get("input", 0) for facts in rounds),
        output=sum(facts.usage.get("output", 0) for facts in rounds),
        more=len(metadata) > NEWEST_ANSWERS,
    )


@dataclass(frozen=True, slots=True)
class Replay:
    """What became of the thoughts in all requests of a conversation, and what these used; or of its newest answers where `more` is set."""

    requests: int
    replayed: int
    dropped: dict[str, int]
    used: Counter[str]
    more: bool


def load_replay(conversation: UUID) -> Replay:
    answers = _messages_there().filter(conversation=conversation, role=Role.ASSISTANT)
    metadata = list(answers.order_by("-order").values_list("metadata", flat=True)[: NEWEST_ANSWERS + 1])
    rounds = [facts for each in metadata[:NEWEST_ANSWERS] for facts in Recorded(each).rounds]
    dropped: dict[str, int] = defaultdict(int)
    for facts in rounds:
        for reason, number in facts.dropped.items():
            dropped[reason] += number
    replayed = sum(facts.replayed or 0 for facts in rounds)
    used = sum(map(used_by, metadata[:NEWEST_ANSWERS]), Counter())
    return Replay(len(rounds), replayed, dict(dropped), used, len(metadata) > NEWEST_ANSWERS)


def load_written(messages: Sequence[UUID]) -> list[tuple[Message, list[Item]]]:
    """These messages in the order asked for, each with its items as people read them."""
    rows = Message.objects.select_related("author").in_bulk(messages)
    items: dict[UUID, list[Item]] = defaultdict(list)
    written = ItemRow.objects.filter(message__in=messages)
    # Who decided what stands in the wire, and nothing else there is for people.
    decisions = dict(written.filter(kind=Kind.PERMISSION_DECISION).values_list("pk", "wire"))
    for row in written.defer("wire").order_by("message_id", "seq"):
        items[row.message_id].append(_item_of(row, decisions.get(row.pk)))
    return [(rows[pk], items[pk]) for pk in messages if pk in rows]


def _item_of(row: ItemRow, wire: Any) -> Item:
    return Item(
        key=row.key,
        kind=Kind(row.kind),
        text=row.text,
        wire=wire,
        round=row.round,
        cut=row.cut,
        call_id=row.call_id,
        name=row.name,
        outcome=row.outcome,
    )


def _messages_there() -> QuerySet[Message]:
    return Message.objects.filter(deletion=None)
