"""Folds what was said before there were folded rows, or by a process that knows nothing of them: a little at a time, from the first item
to the last, and from then on behind those that are written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.db import Error, connection, transaction
from django.db.models import Q
from django.db.models.functions import Now

from ...store.database import long_writes
from ...store.database.table_locks import hold_tables
from ...store.models import Item
from ..models import FoldingMark, GramBits, GramSegment
from .folding import fold_items

# Whoever says nothing for so long does not look after the mark any more.
HELD = timedelta(seconds=30)
# Milliseconds for which others may have to wait behind whoever waits for those that write just now.
PATIENCE = 100


@dataclass(frozen=True, slots=True)
class FoldingProgress:
    """How far the log was looked through, and how far it went when that began: both by the numbers of items."""

    upto: int
    old: int

    @property
    def percent(self) -> int:
        return 100 if self.upto >= self.old else 100 * self.upto // self.old


def progress() -> FoldingProgress:
    known = FoldingMark.objects.values_list("upto", "old").first()
    return FoldingProgress(*known) if known else FoldingProgress(0, newest_item())


def newest_item() -> int:
    return Item.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def begin_mark() -> None:
    """Once: how far the log goes when somebody begins to look through it."""
    if not FoldingMark.objects.exists():
        FoldingMark.objects.bulk_create([FoldingMark(pk=1, old=newest_item())], ignore_conflicts=True)


def begin_anew() -> None:
    """Where other rows came in place of those that were looked through."""
    for kind in (FoldingMark, GramSegment, GramBits):
        kind._default_manager.all().delete()


def hold_mark(holder: str) -> bool:
    """Of several processes one looks after the mark."""
    free = Q(holder=holder) | Q(held_until=None) | Q(held_until__lt=Now())
    held = FoldingMark.objects.filter(free, pk=1)
    return bool(held.update(holder=holder, held_until=Now() + HELD))


class NotHeld(Exception):
    """Another process looks after the mark by now."""


@contextmanager
def held_writing(holder: str) -> Iterator[long_writes.WrittenPiece]:
    """A short piece that gives way, of whoever holds the mark until it stands: nobody else has written in between."""
    with long_writes.giving_way() as piece:
        if not hold_mark(holder):
            raise NotHeld
        yield piece


def leave_mark(holder: str) -> None:
    FoldingMark.objects.filter(pk=1, holder=holder).update(held_until=None)


def settled() -> int | None:
    """A number above which there are items, or none, and below which none will come: whoever was writing one with a smaller number has
    ended. None where somebody would have to be waited for."""
    newest = newest_item()
    try:
        with transaction.atomic():
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute(f"SET LOCAL lock_timeout = {PATIENCE}")
            hold_tables(Item, mode="SHARE")
    except Error:
        return None
    return newest


class Filling:
    """Of one process, which holds the mark. `upto`: how far it has settled that no item will come."""

    def __init__(self) -> None:
        self._upto, self._size = 0, long_writes.FIRST

    def has_more(self) -> bool:
        """Whether there are items above the mark. It writes nothing."""
        return newest_item() > _mark_upto()

    def step(self, holder: str) -> int:
        """A piece of what is left; how many items it was, 0 where there are none or somebody has to be waited for."""
        upto = _mark_upto()
        if upto >= self._upto:
            self._upto = settled() or 0 if newest_item() > upto else 0
        if upto >= self._upto:
            return 0
        items = Item.objects.filter(pk__gt=upto, pk__lte=self._upto)
        ids = list(items.order_by("pk").values_list("pk", flat=True)[: self._size])
        last = ids[-1] if ids else self._upto
        with held_writing(holder) as piece:
            fold_items(Item.objects.filter(pk__gt=upto, pk__lte=last))
            FoldingMark.objects.filter(pk=1).update(upto=last)
        self._size = piece.next_size(self._size)
        return max(len(ids), 1)


def _mark_upto() -> int:
    return FoldingMark.objects.values_list("upto", flat=True).first() or 0
