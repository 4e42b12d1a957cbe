"""Answers as they are read: a text that was cut and went on is one, however many items it came in. It is found in the last of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from ...core.items import Item as Said
from ...core.items import Kind
from ...store.models import Item, Message
from ...thread.items_so_far import items_so_far
from ...thread.whole_text import as_whole_texts

# By message and key.
Texts = dict[tuple[UUID, str], str]


def load_whole_texts(messages: Collection[UUID]) -> Texts:
    """What is to be found by the pieces of texts that were cut and went on: all of it by the last, nothing by those before. What is a
    text by itself is not among them."""
    if not messages:
        return {}
    found: Texts = {}
    said = _load_said(messages)
    for pk, status in Message.objects.filter(pk__in=messages).values_list("pk", "status"):
        for piece in as_whole_texts(items_so_far(Message(pk=pk, status=status), said[pk])):
            if piece.whole:
                found[pk, piece.key] = piece.whole.said[-1] if piece.whole.is_last else ""
    return found


def _load_said(messages: Collection[UUID]) -> dict[UUID, list[Said]]:
    """Without what was measured of them and what is for providers: it may be large, or damaged."""
    rows = Item.objects.filter(message__in=messages).order_by("message_id", "seq")
    said: dict[UUID, list[Said]] = defaultdict(list)
    for message, key, kind, text, cut, round in rows.values_list(
        "message_id", "key", "kind", "text", "cut", "round"
    ):
        said[message].append(Said(key=key, kind=Kind(kind), text=text, cut=cut, round=round))
    return said


def knowing_what_was_cut(items: QuerySet[Item]) -> QuerySet[Item]:
    """Each knows whether it `goes_on` with a text, as far as the text that was cut before it may be its own."""
    before = Item.objects.filter(message=OuterRef("message"), seq__lt=OuterRef("seq"))
    return items.annotate(goes_on=Exists(before.filter(kind=Kind.ASSISTANT_MESSAGE, cut=True)))


def texts_as_read(items: Sequence[Item]) -> dict[int, str]:
    """By the numbers of these, which know what was cut: what each is found by."""
    whole = load_whole_texts(may_be_parted(items))
    return {item.pk: whole.get((item.message_id, item.key), item.text) for item in items}


def may_be_parted(items: Iterable[Item]) -> set[UUID]:
    """Messages in which something may be a piece of a text."""
    return {item.message_id for item in items if vars(item)["goes_on"] or _is_cut(item)}


def _is_cut(item: Item) -> bool:
    return item.cut and item.kind == Kind.ASSISTANT_MESSAGE


def parted_in(rows: Iterable[Item]) -> set[UUID]:
    """The messages of which something was cut and went on among these rows, in their order."""
    cut, parted = set[UUID](), set[UUID]()
    for row in rows:
        if row.kind == Kind.ASSISTANT_MESSAGE:
            parted |= {row.message_id} & cut
        if _is_cut(row):
            cut.add(row.message_id)
    return parted
