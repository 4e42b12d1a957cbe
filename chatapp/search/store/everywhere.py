"""What administrators find in everything that was said: the newest first, by the index where it leads, for as long as a page may take."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, groupby, islice

from django.db.models import QuerySet

from ...store.models import Item
from ..models import FoldedItem
from .as_read import knowing_what_was_cut
from .finding import containing
from .grams import buckets_of, candidates, oldest_item, sealed, segment_of, span

MOST = 20
# Seconds that a page looks for; it then says how far it came. With what an index led to it does not wait for more.
LONGEST, SOON = 1.0, 0.25
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
    began, soon = time.monotonic(), SOON if any(map(buckets_of, terms)) else longest
    newest = FoldedItem.objects.order_by("-item_id").values_list("item_id", flat=True).first() or 0
    top = min(newest + 1, before) if before is not None else newest + 1
    found, lowest = list[int](), top
    for some, lowest in _places(terms, top):  # noqa: B007  (how far it came)
        found += some
        took = time.monotonic() - began
        if len(found) >= MOST or took > (soon if found else longest):
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
        yield from _in_segments(terms, group, leads or {}, top)


def _in_segments(
    terms: tuple[str, ...], group: Iterable[int], leads: Mapping[int, Iterator[int]], top: int
) -> Iterator[tuple[list[int], int]]:
    """Those that an index leads into are judged together."""
    for is_led, some in groupby(group, leads.__contains__):
        numbers = list(some)
        if is_led:
            yield from _led_to(terms, chain.from_iterable(leads[number] for number in numbers), top)
        for begins, ends in map(span, () if is_led else numbers):
            yield from _looked_through(terms, begins, min(ends, top))
        yield [], span(numbers[-1])[0]


def _led_to(terms: tuple[str, ...], items: Iterator[int], top: int) -> Iterator[tuple[list[int], int]]:
    below = (item for item in items if item < top)
    while some := list(islice(below, JUDGED)):
        yield _judged(FoldedItem.objects.filter(item__in=some), terms), some[-1]


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
