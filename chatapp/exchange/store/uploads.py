"""Files that somebody brings, in pieces: each piece is a row, so that any process can take the next one and look through all of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from io import SEEK_CUR, SEEK_END, RawIOBase
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from ...core.plural import many
from ...core.titles import one_line
from ...store import Refused
from ...store.turns_at_once import hold_person
from ..models import NAME_CAP, Import, ImportFile, ImportPiece

MB = 1024 * 1024
PIECE = 8 * MB
MOST_BYTES, MOST_FILES = 2048 * MB, 100
DAY = timedelta(days=1)
# Read at once, by whoever looks through it.
_CHUNK = 64 * 1024
# More than this nobody reads at once of a file that is in order.
_AT_ONCE = 16 * MB
TOO_MUCH = f"That is more than {MOST_BYTES // MB // 1024} GB in one day. Bring the rest tomorrow."
NOT_CHOOSING = "These files are being looked through already. Take the import back first."
ELSEWHERE = "That piece does not go on where the file ended. Ask how far it has come, and go on there."


def open_import(owner: User) -> Import | None:
    """The one that has not ended."""
    ended = (Import.State.CAME, Import.State.STOPPED, Import.State.UNDONE)
    return Import.objects.filter(owner=owner).exclude(state__in=ended).order_by("-created_at").first()


@transaction.atomic
def add_file(owner: User, name: str, size: int) -> ImportFile:
    """A place for it, before its first piece comes. The same file goes on where it ended."""
    hold_person(owner)
    brought = open_import(owner) or Import.objects.create(owner=owner)
    if brought.state != Import.State.CHOOSING:
        raise Refused(NOT_CHOOSING)
    name = one_line(name)[-NAME_CAP:] or "file"
    begun = brought.files.filter(name=name, size=size, received__lt=size).first()
    if begun:
        return begun
    if brought.files.count() >= MOST_FILES:
        raise Refused(f"At most {many(MOST_FILES, 'file')} come at once.")
    if size <= 0:
        raise Refused(f"“{name}” is empty.")
    if brought_today(owner) + size > MOST_BYTES:
        raise Refused(TOO_MUCH)
    return ImportFile.objects.create(brought=brought, name=name, size=size)


def brought_today(owner: User, now: datetime | None = None) -> int:
    """Bytes, whatever became of them."""
    since = (now or timezone.now()) - DAY
    rows = ImportFile.objects.filter(brought__owner=owner, created_at__gt=since)
    return rows.aggregate(size=Sum("size"))["size"] or 0


@transaction.atomic
def add_piece(file: ImportFile, begins: int, data: bytes) -> int:
    """Gives how much of it is here. A piece that came before is not taken twice."""
    row = ImportFile.objects.select_for_update().select_related("brought").get(pk=file.pk)
    if row.brought.state != Import.State.CHOOSING:
        raise Refused(NOT_CHOOSING)
    if begins < row.received and ImportPiece.objects.filter(file=row, begins=begins).exists():
        return row.received
    if begins != row.received or not data or len(data) > PIECE or begins + len(data) > row.size:
        raise Refused(ELSEWHERE)
    ImportPiece.objects.create(file=row, begins=begins, data=data)
    ImportFile.objects.filter(pk=row.pk).update(received=begins + len(data))
    return begins + len(data)


@transaction.atomic
def remove_file(file: ImportFile) -> None:
    """Its bytes count all the same: they were brought today."""
    brought = Import.objects.select_for_update().get(pk=file.brought_id)
    if brought.state not in (Import.State.CHOOSING, Import.State.CHECKED):
        raise Refused(NOT_CHOOSING)
    forget_pieces([file.pk])
    file.found.all().delete()
    ImportFile.objects.filter(pk=file.pk).update(brought=_put_away(brought), report={}, is_read=True)
    if not brought.files.exists():
        Import.objects.filter(pk=brought.pk).update(state=Import.State.CHOOSING)


def _put_away(brought: Import) -> Import:
    """What was taken away again is kept as its size for a day."""
    now = timezone.now()
    return Import.objects.create(owner=brought.owner, state=Import.State.UNDONE, ended_at=now)


def forget_pieces(files: list[UUID]) -> None:
    ImportPiece.objects.filter(file__in=files).delete()


class UploadedFile(RawIOBase):
    """The bytes of a file, from wherever one asks. It holds one piece."""

    def __init__(self, row: ImportFile) -> None:
        self._row, self._at = row, 0
        self._begins, self._piece = 0, b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = max(0, offset + {SEEK_CUR: self._at, SEEK_END: self._row.size}.get(whence, 0))
        return self._at

    def read(self, size: int = -1) -> bytes:
        wanted = self._row.size - self._at if size < 0 else min(size, self._row.size - self._at)
        if wanted > _AT_ONCE:
            raise Refused("it holds a list of too many files")
        taken = list[bytes]()
        while wanted > 0 and (some := self._some(wanted)):
            taken.append(some)
            self._at += len(some)
            wanted -= len(some)
        return b"".join(taken)

    def _some(self, wanted: int) -> bytes:
        offset = self._at - self._begins
        if not 0 <= offset < len(self._piece):
            rows = ImportPiece.objects.filter(file=self._row, begins__lte=self._at).order_by("-begins")
            found = rows.values_list("begins", "data").first()
            self._begins, self._piece = (found[0], bytes(found[1])) if found else (0, b"")
            offset = self._at - self._begins
        return self._piece[offset : offset + wanted]

    def pieces(self) -> Iterator[bytes]:
        self.seek(0)
        while some := self.read(_CHUNK):
            yield some
