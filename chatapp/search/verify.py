"""Proves that every item is found by what it says, and by nothing else: its folded row, and the index of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from django.db.models import F, QuerySet

from ..core.items import Kind
from ..core.signs.folded import fold
from ..store.models import Item
from ..store.verify import ALSO
from .models import SPOKEN, FoldedItem, GramBits
from .store.as_read import knowing_what_was_cut, texts_as_read
from .store.filling import progress
from .store.grams import buckets_of, sealed, span, unpacked

SOME = 200


def folding_breaches() -> Iterator[str]:
    yield from _not_found()
    yield from _found_otherwise()
    elsewhere = FoldedItem.objects.exclude(conversation=F("item__message__conversation"))
    for message, key in islice(elsewhere.values_list("item__message_id", "item__key"), SOME):
        yield f"Message {message}: its item {key!r} is found in another conversation."


def _not_found() -> Iterator[str]:
    # What is younger than the mark has a row as well, but where it was written by a version that knows of none.
    unfolded = Item.objects.filter(pk__lte=progress().upto, kind__in=SPOKEN, folded=None).exclude(text="")
    for item, text in _as_read(unfolded):
        if fold(text):
            yield f"Message {item.message_id}: its item {item.key!r} is not found by what it says."


def _found_otherwise() -> Iterator[str]:
    for item, text in _as_read(Item.objects.filter(folded__isnull=False).select_related("folded")):
        named = f"Message {item.message_id}: its item {item.key!r}"
        if SPOKEN.get(Kind(item.kind)) != item.folded.kind:
            yield f"{named} is a {item.kind}, and is found as {item.folded.kind}."
        if fold(text) != item.folded.text:
            yield f"{named} is found by other words than it says."


def _as_read(items: QuerySet[Item]) -> Iterator[tuple[Item, str]]:
    """Each with what it is to be found by."""
    found = knowing_what_was_cut(items.defer("wire")).iterator(SOME)
    while some := list(islice(found, SOME)):
        texts = texts_as_read(some)
        yield from ((item, texts[item.pk]) for item in some)


def index_breaches() -> Iterator[str]:
    """What stands in a segment that is indexed, and would not be looked at; and bits that nobody can read."""
    for segment in sorted(sealed()):
        begins, ends = span(segment)
        packed = GramBits.objects.filter(segment=segment).values_list("bucket", "bits")
        known = {bucket: unpacked(bytes(bits)) for bucket, bits in packed}
        yield from (
            f"Segment {segment}: bucket {bucket} of the index is damaged."
            for bucket, bits in known.items()
            if bits is None
        )
        rows = FoldedItem.objects.filter(item__gte=begins, item__lt=ends)
        for item, text in rows.values_list("item_id", "text").iterator(SOME):
            bits_there = (known.get(bucket, 0) for bucket in buckets_of(text))
            if any(bits is not None and not bits >> (item - begins) & 1 for bits in bits_there):
                yield f"Item {item}: the index does not lead to it."


ALSO.append(folding_breaches)
ALSO.append(index_breaches)
