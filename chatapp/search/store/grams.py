"""The index of what everybody said: in which items of a segment a gram of three signs may stand. It is the same on every database, and only
says where nobody need look."""

from __future__ import annotations

import zlib
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice

from ...store.database.worded import Inserted
from ...store.models import Item
from ..models import FoldedItem, GramBits, GramSegment
from .filling import held_writing

# Items by their numbers. A bitmap of a bucket has as many bits; what comes after the last whole segment is looked through.
SIZE = 8192
BUCKETS = 1 << 15
GRAM = 3
# Rows that are read, and buckets that are written, at once.
READ, WRITTEN = 100, 400
_BITS = Inserted(GramBits)
_MOST_KNOWN = 1 << 16


class _Buckets(dict[str, int]):
    """Of grams. Texts hold any number of different ones."""

    def __missing__(self, gram: str) -> int:
        bucket = zlib.crc32(gram.encode("utf-8", "surrogatepass")) % BUCKETS
        if len(self) < _MOST_KNOWN:
            self[gram] = bucket
        return bucket


_buckets = _Buckets()


def segment_of(item: int) -> int:
    return item // SIZE


def span(segment: int) -> tuple[int, int]:
    """The first number of a segment, and the first after it."""
    return segment * SIZE, (segment + 1) * SIZE


def buckets_of(text: str) -> set[int]:
    """Of all grams of a text."""
    grams = set(map("".join, zip(*(text[at:] for at in range(GRAM)), strict=False)))
    return set(map(_buckets.__getitem__, grams))


def oldest_item() -> int | None:
    return Item.objects.order_by("pk").values_list("pk", flat=True).first()


def sealed() -> dict[int, int]:
    """The segments that are indexed, each with how many rows it had."""
    return dict(GramSegment.objects.values_list("number", "rows"))


def next_segment(upto: int) -> int | None:
    """One that is to be indexed: all of its items are there, with their rows, up to this one."""
    known, oldest = sealed().keys(), oldest_item()
    whole = range(segment_of(oldest), segment_of(upto + 1)) if oldest is not None else ()
    return next((number for number in whole if number not in known), None)


class Making:
    """Of one segment: read first and written then, a little at a time. Nobody uses it before it is sealed."""

    def __init__(self, segment: int, holder: str) -> None:
        self._segment, self._holder, self._rows = segment, holder, 0
        self._places: dict[int, array[int]] = defaultdict(partial(array, "H"))
        self._read_from, self._ends = span(segment)
        self._is_cleared = False
        self._bits: Iterator[tuple[int, bytes]] | None = None

    def step(self) -> bool:
        """False when it is sealed."""
        if self._bits is None:
            self._read()
        elif not self._is_cleared:
            self._clear()
        else:
            return self._write()
        return True

    def _read(self) -> None:
        rows = FoldedItem.objects.filter(item__gte=self._read_from, item__lt=self._ends).order_by("item_id")
        begins, _ = span(self._segment)
        some = list(rows.values_list("item_id", "text")[:READ])
        for item, text in some:
            for bucket in buckets_of(text):
                self._places[bucket].append(item - begins)
        self._rows += len(some)
        if len(some) < READ:
            self._bits = ((bucket, packed(self._places.pop(bucket))) for bucket in sorted(self._places))
        else:
            self._read_from = some[-1][0] + 1

    def _clear(self) -> None:
        """What another process left that was interrupted."""
        with held_writing(self._holder):
            GramSegment.objects.filter(number=self._segment).delete()
            first = GramBits.objects.filter(segment=self._segment).order_by("pk").values("pk")
            gone, _ = GramBits.objects.filter(
                pk__in=list(first.values_list("pk", flat=True)[:WRITTEN])
            ).delete()
        self._is_cleared = not gone

    def _write(self) -> bool:
        assert self._bits is not None
        some = [
            GramBits(segment=self._segment, bucket=bucket, bits=bits)
            for bucket, bits in islice(self._bits, WRITTEN)
        ]
        with held_writing(self._holder):
            if some:
                _BITS.write(some)
            else:
                GramSegment.objects.create(number=self._segment, rows=self._rows)
        return bool(some)


def next_sealed(after: int) -> tuple[int, bool]:
    """The next segment after this one, -1 behind the last, and whether rows of it were removed for good."""
    row = GramSegment.objects.filter(number__gt=after).order_by("number").first()
    if row is None:
        return -1, False
    begins, ends = span(row.number)
    return row.number, FoldedItem.objects.filter(item__gte=begins, item__lt=ends).count() != row.rows


def unseal(segment: int, holder: str) -> None:
    """It is to be made anew, so that nothing of what was removed is left."""
    with held_writing(holder):
        GramSegment.objects.filter(pk=segment).delete()


def packed(places: Iterable[int]) -> bytes:
    bits = bytearray(SIZE // 8)
    for place in places:
        bits[place >> 3] |= 1 << (place & 7)
    return zlib.compress(bytes(bits), 1)


def unpacked(bits: bytes) -> int | None:
    """None where they are damaged."""
    opened, size = zlib.decompressobj(), SIZE // 8
    try:
        found = opened.decompress(bits, size + 1)
    except zlib.error:
        return None
    return int.from_bytes(found, "little") if opened.eof and len(found) == size else None


def candidates(segments: Collection[int], terms: Sequence[str]) -> dict[int, Iterator[int]] | None:
    """For each of these segments the items in which all terms may stand, the newest first; none for one whose bits are damaged. None where
    no term has a gram."""
    wanted = sorted({bucket for term in terms for bucket in buckets_of(term)})
    if not wanted:
        return None
    rows = GramBits.objects.filter(segment__in=segments, bucket__in=wanted)
    found: dict[int, list[bytes]] = {segment: [] for segment in segments}
    for segment, bits in rows.values_list("segment", "bits"):
        found[segment].append(bytes(bits))
    together = {
        segment: _together(bits) if len(bits) == len(wanted) else 0 for segment, bits in found.items()
    }
    return {segment: _numbers(segment, bits) for segment, bits in together.items() if bits is not None}


def _together(packed_bits: Iterable[bytes]) -> int | None:
    together = -1
    for each in packed_bits:
        if (bits := unpacked(each)) is None:
            return None
        together &= bits
    return together


def _numbers(segment: int, bits: int) -> Iterator[int]:
    """Sign by sign of its binary number: the first is the newest."""
    begins, _ = span(segment)
    said = f"{bits:b}"
    at = said.find("1")
    while at >= 0:
        yield begins + len(said) - 1 - at
        at = said.find("1", at + 1)
