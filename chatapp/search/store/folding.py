"""Writes the folded rows of items, in the transaction in which these are written."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import connection, models
from django.dispatch import receiver

from ...core.items import Kind
from ...core.signs.folded import fold
from ...store.changes import items_written, messages_copied
from ...store.models import Item
from ..models import SPOKEN, FoldedItem

# Items that are read before any of them is written.
AT_ONCE = 200
_UUID = models.UUIDField()
# Items know neither the number that they were given nor their conversation: the database looks for both. SQLite must not begin with the
# other tables, and reads in the order of a CROSS JOIN.
_INTO = """WITH said(message, seq, kind, text) AS (VALUES {rows})
INSERT INTO chatapp_foldeditem (item_id, conversation_id, kind, text)
SELECT i.id, m.conversation_id, said.kind, said.text
FROM said CROSS JOIN chatapp_item i CROSS JOIN chatapp_message m
WHERE i.message_id = said.message AND i.seq = said.seq AND m.id = i.message_id"""
_ROW = "(%s, %s, %s, %s)"


@receiver(items_written, dispatch_uid="folded")
def _fold_written(rows: Sequence[Item], **_: Any) -> None:
    said = [
        (row.message_id, row.seq, SPOKEN[Kind(row.kind)], folded)
        for row in rows
        if row.kind in SPOKEN and (folded := fold(row.text))
    ]
    if said:
        values = [
            value
            for message, seq, kind, text in said
            for value in (_UUID.get_db_prep_value(message, connection), seq, kind.value, text)
        ]
        with connection.cursor() as cursor:
            cursor.execute(_INTO.format(rows=", ".join([_ROW] * len(said))), values)


@receiver(messages_copied, dispatch_uid="folded")
def _fold_copied(messages: Collection[UUID], **_: Any) -> None:
    fold_items(Item.objects.filter(message__in=messages))


def fold_items(items: models.QuerySet[Item]) -> int:
    """Of those among these that have no folded row and need one. How many that were."""
    unfolded = items.filter(kind__in=SPOKEN, folded=None).exclude(text="")
    found = unfolded.values_list("pk", "message__conversation_id", "kind", "text").iterator(AT_ONCE)
    written = 0
    while some := list(islice(found, AT_ONCE)):
        rows = [
            FoldedItem(item_id=pk, conversation_id=conversation, kind=SPOKEN[Kind(kind)], text=folded)
            for pk, conversation, kind, text in some
            if (folded := fold(text))
        ]
        if rows:
            FoldedItem.objects.bulk_create(rows, ignore_conflicts=True)
        written += len(rows)
    return written
