"""Copies messages with their items inside the database, so that every text stays the text it was and none passes through here."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection, models

from ...core.items import Kind
from ...store.changes import messages_copied
from ...store.models import Conversation, Item, Message

BATCH = 200
NOT_SHARED = "What this call gave was not shared."
_UUID = models.UUIDField()

# What belongs to the turn that made a message, and not to what it says.
_ANEW = {
    "attempt": "0",
    "tries": "0",
    "job_id": "NULL",
    "runner": "''",
    "touched_at": "NULL",
    "submission": "NULL",
    "deletion": "NULL",
    "deleted_at": "NULL",
}
# A root stands as its own parent there, and what has no beginning as its own: a column needs a type.
_COPIES = 'WITH copies(old, new, parent, sent_from, "order") AS (VALUES {rows})'
_ROW = "(%s, %s, %s, %s, %s)"
# SQLite must not begin with the other table, and reads in the order of a CROSS JOIN.
_INTO = "{copies} INSERT INTO {table} ({names}) SELECT {values} FROM copies CROSS JOIN {table} old WHERE old.{id} = copies.old"


@dataclass(frozen=True, slots=True)
class Copy:
    """A message, the id of its copy, and where the copy stands."""

    old: UUID
    new: UUID
    parent: UUID | None
    sent_from: UUID | None
    order: int

    def values(self) -> list[Any]:
        ids = (self.old, self.new, self.parent or self.new, self.sent_from or self.new)
        return [*(_UUID.get_db_prep_value(pk, connection) for pk in ids), self.order]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What of a conversation goes along. Without thoughts their times stay and their words go, and so does everything in which a
    provider may have packed them; without tools what was given to them and what they gave."""

    thoughts: bool = True
    tools: bool = True
    instructions: bool = True


def copy_messages(copies: Sequence[Copy], *, into: UUID, by: User, parts: Parts) -> None:
    """Only what whoever copies wrote keeps its author: the rest came from the source, which is on record."""
    messages = _ANEW | {
        "id": "copies.new",
        "conversation_id": "%s",
        "parent_id": "NULLIF(copies.parent, copies.new)",
        "sent_from_id": "NULLIF(copies.sent_from, copies.new)",
        "order": 'copies."order"',
        "author_id": "CASE WHEN old.author_id = %s THEN old.author_id END",
    }
    items = {"message_id": "copies.new"} | _words_instead(parts)
    with connection.cursor() as cursor:
        for at in range(0, len(copies), BATCH):
            batch = copies[at : at + BATCH]
            rows = [value for copy in batch for value in copy.values()]
            mine = {"conversation_id": _UUID.get_db_prep_value(into, connection), "author_id": by.pk}
            names = [name for name in _columns(Message) if name in mine]
            statement = _statement(Message, "id", messages, len(batch))
            cursor.execute(statement, [*rows, *(mine[name] for name in names)])
            cursor.execute(_statement(Item, "message_id", items, len(batch)), rows)
            messages_copied.send(sender=None, messages=[copy.new for copy in batch])


def copy_settings(source: Conversation, into: UUID, *, parts: Parts) -> None:
    """What its models are told and offered."""
    before = Conversation.objects.filter(pk=source.pk)
    named = {"instructions": parts.instructions, "tools": parts.tools}
    taken = {name: models.Subquery(before.values(name)[:1]) for name, along in named.items() if along}
    if taken:
        Conversation.objects.filter(pk=into).update(**taken)


def forget_arguments(messages: Collection[UUID]) -> None:
    """Whoever does not know what a call was given could still guess it and compare."""
    forget_in_decisions(messages, "arguments_hash")


def forget_in_decisions(messages: Collection[UUID], *names: str) -> None:
    changed = []
    for row in Item.objects.filter(message__in=messages, kind=Kind.PERMISSION_DECISION).only("wire"):
        if isinstance(row.wire, dict):
            row.wire = row.wire | dict.fromkeys(names, "")
            changed.append(row)
    Item.objects.bulk_update(changed, ["wire"], batch_size=BATCH)


def _words_instead(parts: Parts) -> dict[str, str]:
    if parts.thoughts and parts.tools:
        return {}
    words: dict[Kind, str] = {}
    if not parts.thoughts:
        words[Kind.REASONING] = ""
    if not parts.tools:
        words |= {Kind.TOOL_CALL: "{}", Kind.TOOL_RESULT: NOT_SHARED}
    cases = " ".join(f"WHEN '{kind}' THEN '{said}'" for kind, said in words.items())
    return {
        "text": f"CASE old.kind {cases} ELSE old.text END",
        "wire": f"CASE WHEN old.kind = '{Kind.PERMISSION_DECISION}' THEN old.wire END",
    }


def _statement(model: type[models.Model], key: str, changed: Mapping[str, str], count: int) -> str:
    columns = _columns(model)
    return _INTO.format(
        copies=_COPIES.format(rows=", ".join([_ROW] * count)),
        table=model._meta.db_table,
        names=", ".join(f'"{name}"' for name in columns),
        values=", ".join(changed.get(name, f'old."{name}"') for name in columns),
        id=key,
    )


def _columns(model: type[models.Model]) -> list[str]:
    """All but the numbers that the database gives."""
    fields = [field for field in model._meta.concrete_fields if not isinstance(field, models.AutoField)]
    return [str(field.column) for field in fields]
