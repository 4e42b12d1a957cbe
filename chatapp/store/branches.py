"""Reads a branch: its messages from the root down with their items, and its conversation where that is not known, in a query for each,
whatever the size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import connection

from ..core import verbatim
from ..core.history import Logged, Repair
from ..core.items import FROM_MODEL, Item, Kind
from .database.worded import RowReader, Worded
from .models import Conversation, Message
from .models import Item as ItemRow

# A branch is never longer than its conversation, so a cycle in damaged rows ends there.
_BRANCH = """
WITH RECURSIVE branch(id, parent_id, conversation_id, depth, bound) AS (
    SELECT m.id, m.parent_id, m.conversation_id, 0, c.next_order
    FROM chatapp_message m JOIN chatapp_conversation c ON c.id = m.conversation_id WHERE m.id = %s
    UNION ALL
    SELECT m.id, m.parent_id, m.conversation_id, branch.depth + 1, branch.bound
    FROM chatapp_message m JOIN branch ON m.id = branch.parent_id AND m.conversation_id = branch.conversation_id
    WHERE branch.depth < branch.bound AND branch.depth + 1 < %s
)
"""
WHOLE = 2**31 - 1
_COUNTS = """(SELECT COUNT(*) FROM branch) AS length,
(SELECT COUNT(*) FROM chatapp_message q WHERE q.conversation_id = %s AND q.role = 'user' AND q.deletion IS NULL) AS asked"""
_COLUMNS = (
    "key",
    "kind",
    "text",
    "wire",
    "provider",
    "dialect",
    "model",
    "round",
    "cut",
    "call_id",
    "name",
    "outcome",
)
_WIRE = _COLUMNS.index("wire")
# What was measured of a message is long, and stands with the first of its items alone.
_OF_MESSAGE = [str(field.column) for field in Message._meta.concrete_fields if field.column != "metadata"]
_FIRST = "i.seq IS NULL OR i.seq = (SELECT MIN(f.seq) FROM chatapp_item f WHERE f.message_id = m.id)"
_SAID = ", ".join(
    [f'm."{column}"' for column in _OF_MESSAGE]
    + [f"CASE WHEN {_FIRST} THEN m.metadata END"]
    + [f"i.{name}" for name in ("message_id", *_COLUMNS)]
)
_BELOW = """FROM branch JOIN chatapp_message m ON m.id = branch.id LEFT JOIN chatapp_item i ON i.message_id = m.id
WHERE branch.depth < %s ORDER BY branch.depth, i.seq"""
_MESSAGES = f"{_BRANCH} SELECT {_SAID} {_BELOW}"
_COUNTED = f"{_BRANCH} SELECT {_SAID}, {_COUNTS} {_BELOW}"

_CHARACTERS = f"""{_BRANCH} SELECT COALESCE(SUM(LENGTH(i.text)), 0)
FROM chatapp_item i JOIN chatapp_message m ON m.id = i.message_id
WHERE m.id IN (SELECT id FROM branch) AND m."order" >= COALESCE((
    SELECT s."order" FROM chatapp_message s JOIN chatapp_message leaf ON leaf.sent_from_id = s.id WHERE leaf.id = %s
), 0)"""


@dataclass(frozen=True, slots=True)
class Branch:
    """The messages from the root to the one asked for, with what each of them says."""

    conversation: Conversation
    messages: Sequence[Message]
    items: dict[UUID, list[Item]]

    @property
    def leaf(self) -> Message:
        return self.messages[-1]

    @property
    def sent(self) -> Sequence[Message]:
        """What is sent of it: all, or what somebody left when the oldest turns were left out."""
        places = [n for n, row in enumerate(self.messages) if row.id == self.leaf.sent_from_id]
        return self.messages[places[0] :] if places else self.messages

    @property
    def answer(self) -> Answer:
        """What is asked for by itself."""
        return Answer(self.leaf, self.items.get(self.leaf.id, []))

    def log(self) -> list[Logged]:
        """The branch as the fold reads it."""
        return [Logged(row.role, self.items.get(row.id, []), repairs(row)) for row in self.sent]


@dataclass(frozen=True, slots=True)
class Answer:
    """One message by itself, with its items."""

    row: Message
    items: list[Item]


def load_answer(message: UUID) -> Answer:
    return Answer(Message.objects.get(pk=message), load_items(message))


def load_message_rows(messages: Collection[UUID]) -> list[tuple[Message, bool]]:
    """Each row with the one above it, and whether nothing is below it."""
    rows = Message.objects.select_related("parent").in_bulk(messages)
    if missing := set(messages) - rows.keys():
        raise Message.DoesNotExist(f"There is no message {missing.pop()}.")
    below = Message.objects.filter(parent__in=messages, deletion=None).values_list("parent_id", flat=True)
    has_more = set(below.distinct())
    return [(rows[message], message not in has_more) for message in messages]


@dataclass(frozen=True, slots=True)
class Questions:
    """How many a branch has, and how many all branches of its conversation have."""

    here: int = 0
    anywhere: int = 0

    @classmethod
    def of(cls, length: int, asked: int) -> Questions:
        """A branch begins with a question, and then they take turns with answers."""
        return cls(here=(length + 1) // 2, anywhere=asked)

    def one_more(self) -> Questions:
        return Questions(self.here + 1, self.anywhere + 1)


def count_questions(conversation: UUID, leaf: UUID) -> Questions:
    with connection.cursor() as cursor:
        cursor.execute(f"{_BRANCH} SELECT {_COUNTS}", [_database_id(leaf), WHOLE, _database_id(conversation)])
        return Questions.of(*cursor.fetchone())


_CONVERSATION = Worded(lambda pk: Conversation.objects.filter(pk=pk), UUID)


def load_branch(leaf: UUID, *, newest: int = WHOLE, of: Conversation | None = None) -> Branch:
    """From the root to the leaf, or only its `newest` messages. `of`: its conversation, where that is known."""
    messages, items = _said_by(_queried(_MESSAGES, leaf, newest, newest), leaf)
    return Branch(of or _CONVERSATION.rows(messages[-1].conversation_id)[0], messages, items)


def load_counted_branch(leaf: UUID, *, newest: int, of: Conversation) -> tuple[Branch, Questions]:
    """The newest messages of a branch, and how many questions all of it has."""
    rows = _queried(_COUNTED, leaf, WHOLE, _database_id(of.pk), newest)
    messages, items = _said_by(rows, leaf)
    return Branch(of, messages, items), Questions.of(*rows[0][-2:])


def load_stretches(of: Conversation, *stretches: Sequence[UUID]) -> list[Branch | None]:
    """Messages that are known by name, each stretch by itself, in two queries for all of them. None for an empty one."""
    named = {pk for stretch in stretches for pk in stretch}
    rows, items = Message.objects.in_bulk(named), load_items_of(named)
    found = ([rows[pk] for pk in stretch if pk in rows] for stretch in stretches)
    return [Branch(of, messages, items) if messages else None for messages in found]


def count_characters(leaf: UUID) -> int:
    """How much is said on what is sent of this branch."""
    with connection.cursor() as cursor:
        cursor.execute(_CHARACTERS, [_database_id(leaf), WHOLE, _database_id(leaf)])
        return int(cursor.fetchone()[0])


def load_conversation(pk: UUID) -> Conversation:
    return Conversation.objects.select_related("owner").get(pk=pk)


def load_items(message: UUID) -> list[Item]:
    """The items of one message, in order."""
    return [_item_of(row) for row in _ITEMS_OF.rows(message)]


_ITEMS_OF = Worded(lambda message: ItemRow.objects.filter(message=message).order_by("seq"), UUID)


def load_items_of(messages: Collection[UUID]) -> dict[UUID, list[Item]]:
    rows = ItemRow.objects.filter(message__in=messages).order_by("seq")
    items: dict[UUID, list[Item]] = {message: [] for message in messages}
    for row in rows:
        items[row.message_id].append(_item_of(row))
    return items


def _item_of(row: ItemRow) -> Item:
    return _item((row.message_id, *(getattr(row, name) for name in _COLUMNS)))


def next_round(items: Iterable[Item]) -> int:
    """The number of the round to come: rounds are counted inside the message."""
    return max((item.round for item in items if item.kind in FROM_MODEL), default=-1) + 1


def repairs(row: Message) -> dict[int, tuple[str, tuple[Repair, ...]]]:
    rounds = row.metadata.get("rounds", [])
    taught = ((facts["round"], facts["model"], facts.get("repaired", ())) for facts in rounds)
    return {number: (model, tuple(Repair(how) for how in hows)) for number, model, hows in taught if hows}


_readers: dict[str, RowReader] = {}


def _queried(sql: str, leaf: UUID, *named: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, [_database_id(leaf), *named])
        return list(cursor.fetchall())


def _said_by(rows: Sequence[Sequence[Any]], leaf: UUID) -> tuple[list[Message], dict[UUID, list[Item]]]:
    """The messages of rows that begin at the leaf, and the items of each."""
    width, once = len(_OF_MESSAGE) + 1, dict[Any, Message]()
    items: dict[UUID, list[Item]] = defaultdict(list)
    read = _reader().row
    for name, group in groupby(rows, key=itemgetter(0)):
        # A cycle in damaged rows brings it again.
        if name in once:
            continue
        for n, row in enumerate(group):
            message = once[name] if n else once.setdefault(name, read(row[:width]))
            _, *said = row[width : width + 1 + len(_COLUMNS)]
            if said[0] is not None:
                said[_WIRE] = _wire_of(said[_WIRE])
                items[message.id].append(_item((message.id, *said)))
    if not once:
        raise Message.DoesNotExist(f"There is no message {leaf}.")
    return _from_the_root(once.values()), items


def _reader() -> RowReader:
    if connection.vendor not in _readers:
        _readers[connection.vendor] = RowReader(Message, [*_OF_MESSAGE, "metadata"])
    return _readers[connection.vendor]


def _from_the_root(rows: Iterable[Message]) -> list[Message]:
    """From the leaf up, turned round. Each knows the one above it."""
    messages = list(reversed(list(rows)))
    for above, row in pairwise(messages):
        if row.parent_id == above.id:
            row.parent = above
    return messages


def _item(row: Sequence[object]) -> Item:
    _, key, kind, text, wire, provider, dialect, model, number, cut, call_id, name, outcome = row
    return Item(
        key=str(key),
        kind=Kind(str(kind)),
        text=str(text),
        wire=wire,
        provider=str(provider),
        dialect=str(dialect),
        model=str(model),
        round=int(str(number)),
        cut=bool(cut),
        call_id=str(call_id),
        name=str(name),
        outcome=str(outcome),
    )


def _wire_of(text: str | None) -> object:
    return None if text is None else verbatim.loads(text)


def _database_id(pk: UUID) -> Any:
    return Message._meta.pk.get_db_prep_value(pk, connection)
