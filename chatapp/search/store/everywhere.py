"""What administrators find in everything that was said: the newest first, by the index where it leads, for as long as a page may take."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from ...store.models import Item
from ..models import FoldedItem
from .as_read import knowing_what_was_cut
from .finding import containing
from .grams import candidates, oldest_item, sealed, segment_of, span

MOST = 20
# Seconds that a page looks for; it then says how far it came.
LONGEST = 1.0
# Segments whose bitmaps are read at once, and items that are judged at once.
SEGMENTS, JUDGED = 16, 200
# Of items that no index leads past: fewer, since all of their texts are read.
WINDOW = 1000


@dataclass(frozen=True, slots=True)
class FoundEverywhere:
    """`before`: where looking goes on; None where everything was looked at. `back_to`: when that was said."""

    items: Sequence[Item]
    before: int | None = None
    back_to: datetime | None = None


def find_everywhere(
    terms: tuple[str, ...], *, before: int | None = None, longest: float = LONGEST
) -> FoundEverywhere:
    """All terms in one item. Below the number `before`, where one went on."""
    until = time.monotonic() + longest
    newest = FoldedItem.objects.order_by("-item_id").values_list("item_id", flat=True).first() or 0
    top = min(newest + 1, before) if before is not None else newest + 1
    found, lowest = list[int](), top
    for some, lowest in _places(terms, top):  # noqa: B007  (how far it came)
        found += some
        if len(found) >= MOST:
            break
        if time.monotonic() > until:
            break
    else:
        lowest = 0
    if len(found) > MOST or (len(found) == MOST and lowest):
        found, lowest = found[:MOST], found[MOST - 1]
    return FoundEverywhere(_load(found), lowest or None, _said_at(lowest) if lowest else None)


def _places(terms: tuple[str, ...], top: int) -> Iterator[tuple[list[int], int]]:
    """What is found, the newest first, and the number down to which everything was looked at with that."""
    oldest = oldest_item()
    if oldest is None or top <= oldest:
        return
    known, none_below = sealed(), segment_of(oldest) - 1
    for first in range(segment_of(top - 1), none_below, -SEGMENTS):
        group = range(first, max(first - SEGMENTS, none_below), -1)
        leads = candidates([number for number in group if number in known], terms)
        for number in group:
            begins, ends = span(number)
            if leads is None or number not in leads:
                yield from _looked_through(terms, begins, min(ends, top))
                continue
            numbers = [item for item in leads[number] if item < top]
            for at in range(0, len(numbers), JUDGED):
                some = numbers[at : at + JUDGED]
                yield _judged(FoldedItem.objects.filter(item__in=some), terms), some[-1]
            yield [], begins


def _looked_through(terms: tuple[str, ...], begins: int, ends: int) -> Iterator[tuple[list[int], int]]:
    for top in range(ends, begins, -WINDOW):
        low = max(top - WINDOW, begins)
        yield _judged(FoldedItem.objects.filter(item__gte=low, item__lt=top), terms), low


def _judged(rows: QuerySet[FoldedItem], terms: tuple[str, ...]) -> list[int]:
    found = list(rows.filter(containing(terms)).values_list("item_id", flat=True))
    # Read and not asked for: SQLite would begin with all conversations that are not deleted.
    there = Item.objects.filter(pk__in=found).order_by("-pk")
    facts = there.values_list("pk", "message__deletion", "message__conversation__deleted_at") if found else ()
    return [pk for pk, deletion, deleted_at in facts if deletion is None and deleted_at is None]


def _load(items: Sequence[int]) -> list[Item]:
    rows = Item.objects.select_related("message__conversation__owner")
    unread = rows.defer("wire", "message__metadata", "message__conversation__tools")
    known = knowing_what_was_cut(unread).in_bulk(items)
    return [known[pk] for pk in items if pk in known]


def _said_at(item: int) -> datetime | None:
    rows = Item.objects.filter(pk__gte=item).order_by("pk")
    return rows.values_list("message__created_at", flat=True).first()
