"""Writes the folded rows of items, in the transaction in which these are written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import connection, models
from django.dispatch import receiver

from ...core.items import Kind
from ...core.signs.folded import fold
from ...store.changes import items_written, messages_copied
from ...store.models import Item, Message
from ..models import SPOKEN, FoldedItem
from .as_read import (
    Texts,
    knowing_what_was_cut,
    load_whole_texts,
    may_be_parted,
    parted_in,
)

# Items that are read before any of them is written, and rows of one statement.
AT_ONCE, WRITTEN = 200, 50
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
def _fold_written(rows: Sequence[Item], goes_on: bool, **_: Any) -> None:
    parted = {row.message_id for row in rows} if goes_on else parted_in(rows)
    whole = load_whole_texts(parted)
    _forget_beginnings(whole)
    said = [
        (row.message_id, row.seq, SPOKEN[Kind(row.kind)], folded)
        for row in rows
        if row.kind in SPOKEN and (folded := fold(whole.get((row.message_id, row.key), row.text)))
    ]
    for first in range(0, len(said), WRITTEN):
        _write(said[first : first + WRITTEN])


def _write(said: Sequence[tuple[UUID, int, str, str]]) -> None:
    values = [
        value
        for message, seq, kind, text in said
        for value in (_UUID.get_db_prep_value(message, connection), seq, str(kind), text)
    ]
    with connection.cursor() as cursor:
        cursor.execute(_INTO.format(rows=", ".join([_ROW] * len(said))), values)


def _forget_beginnings(whole: Texts) -> None:
    """Of texts that went on: they are found by their last piece."""
    begun: dict[UUID, list[str]] = defaultdict(list)
    for (message, key), text in whole.items():
        if not text:
            begun[message].append(key)
    for message, keys in begun.items():
        FoldedItem.objects.filter(item__message=message, item__key__in=keys).delete()


@receiver(messages_copied, dispatch_uid="folded")
def _fold_copied(messages: Collection[UUID], **_: Any) -> None:
    fold_items(Item.objects.filter(message__in=messages))


def fold_items(items: models.QuerySet[Item]) -> int:
    """In a transaction: of those among these that have no folded row and need one. How many that were."""
    unfolded = items.filter(kind__in=SPOKEN, folded=None).exclude(text="").select_related("message")
    named = ("message", "key", "kind", "text", "cut", "message__conversation")
    found = knowing_what_was_cut(unfolded).only(*named).iterator(AT_ONCE)
    written = 0
    while some := list(islice(found, AT_ONCE)):
        parted = may_be_parted(some)
        _hold(parted)
        whole = load_whole_texts(parted)
        _forget_beginnings(whole)
        rows = [
            _row_of(item, folded)
            for item in some
            if (folded := fold(whole.get((item.message_id, item.key), item.text)))
        ]
        FoldedItem.objects.bulk_create(rows, ignore_conflicts=True)
        written += len(rows)
    return written


def _hold(parted: Collection[UUID]) -> None:
    """None of them goes on before this transaction has ended."""
    if parted:
        held = Message.objects.select_for_update().filter(pk__in=parted).order_by("pk")
        list(held.values_list("pk"))


def _row_of(item: Item, folded: str) -> FoldedItem:
    conversation, kind = item.message.conversation_id, SPOKEN[Kind(item.kind)]
    return FoldedItem(item_id=item.pk, conversation_id=conversation, kind=kind, text=folded)
