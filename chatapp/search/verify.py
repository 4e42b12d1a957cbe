"""Proves that every item is found by what it says, and by nothing else: its folded row, and the index of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from django.db.models import F

from ..core.items import Kind
from ..core.signs.folded import fold
from ..store.models import Item
from ..store.verify import ALSO
from .models import SPOKEN, FoldedItem, GramBits
from .store.filling import progress
from .store.grams import buckets_of, sealed, span, unpacked

SOME = 200


def folding_breaches() -> Iterator[str]:
    known = progress()
    # What is younger than the mark has a row as well, but where it was written by a version that knows of none.
    unfolded = Item.objects.filter(pk__lte=known.upto, kind__in=SPOKEN, folded=None).exclude(text="")
    for message, key, text in unfolded.values_list("message_id", "key", "text").iterator(SOME):
        if fold(text):
            yield f"Message {message}: its item {key!r} is not found by what it says."
    rows = FoldedItem.objects.values_list(
        "item__message_id", "item__key", "item__kind", "item__text", "kind", "text"
    )
    for message, key, kind, text, folded_as, folded in rows.iterator(SOME):
        if SPOKEN.get(Kind(kind)) != folded_as:
            yield f"Message {message}: its item {key!r} is a {kind}, and is found as {folded_as}."
        if fold(text) != folded:
            yield f"Message {message}: its item {key!r} is found by other words than it says."
    elsewhere = FoldedItem.objects.exclude(conversation=F("item__message__conversation"))
    for message, key in islice(elsewhere.values_list("item__message_id", "item__key"), SOME):
        yield f"Message {message}: its item {key!r} is found in another conversation."


def index_breaches() -> Iterator[str]:
    """What stands in a segment that is indexed, and would not be looked at."""
    for segment in sorted(sealed()):
        begins, ends = span(segment)
        bits = dict(GramBits.objects.filter(segment=segment).values_list("bucket", "bits"))
        known = {bucket: unpacked(bytes(packed)) for bucket, packed in bits.items()}
        rows = FoldedItem.objects.filter(item__gte=begins, item__lt=ends)
        for item, text in rows.values_list("item_id", "text").iterator(SOME):
            if any(not known.get(bucket, 0) >> (item - begins) & 1 for bucket in buckets_of(text)):
                yield f"Item {item}: the index does not lead to it."


ALSO.append(folding_breaches)
ALSO.append(index_breaches)
