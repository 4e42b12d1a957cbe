"""A small file that was made beforehand, so that a full disk takes it too: what is to be written to the database is noted
there first. It outlives its process; whoever opens it next finds what was left to do."""

from __future__ import annotations

import fcntl
import os
from bisect import insort
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from zlib import crc32

from ..locks import alone_in

BLOCK = 4096
BLOCKS = 512
# Records are ASCII, so none holds what begins one.
MAGIC = b"\xfe\xedT1"
# The magic, the number, the length and the checksum of what follows.
HEAD = Struct("<4sQII")
NAMES = "{}.journal"
MOST_FILES = 1000


@dataclass(frozen=True, slots=True)
class Record:
    """`place`: the block at which it begins; `number`: they rise in the order in which records were noted."""

    place: int
    number: int
    text: str

    @property
    def blocks(self) -> int:
        return _blocks_for(len(self.text))


class Journal:
    """One file, held by this process alone: each record lies in blocks that follow each other, and is forgotten by wiping its head."""

    def __init__(self, file: int, path: Path) -> None:
        self.path = path
        self._file = file
        left = list(_records(os.pread(file, BLOCK * BLOCKS, 0)))
        self._number = max((record.number for record in left), default=0)
        self._used = [(record.place, record.blocks) for record in left]
        self.left = sorted(left, key=lambda record: record.number)

    def note(self, text: str) -> Record | None:
        """None where there is no room for it, or the file takes nothing."""
        place = self._room_for(_blocks_for(len(text)))
        if place is None:
            return None
        self._number += 1
        body = text.encode("ascii")
        head = HEAD.pack(MAGIC, self._number, len(body), _checksum(self._number, body))
        record = Record(place, self._number, text)
        if not self._put(head + body, place):
            self.forget(record)
            return None
        insort(self._used, (place, record.blocks))
        return record

    def forget(self, record: Record) -> None:
        with suppress(ValueError):
            self._used.remove((record.place, record.blocks))
        self._put(bytes(HEAD.size), record.place)

    def sync(self) -> None:
        """What was noted outlives the machine, too."""
        with suppress(OSError):
            os.fdatasync(self._file)

    def close(self) -> None:
        os.close(self._file)

    def _put(self, content: bytes, place: int) -> bool:
        try:
            return os.pwrite(self._file, content, place * BLOCK) == len(content)
        except OSError:
            return False

    def _room_for(self, blocks: int) -> int | None:
        """The first gap that is wide enough."""
        free = 0
        for place, used in self._used:
            if place - free >= blocks:
                return free
            free = place + used
        return free if BLOCKS - free >= blocks else None


def take_journal(folder: Path) -> Journal:
    """The first file of the folder that no living process holds; made where there is none. OSError where that cannot be."""
    folder.mkdir(parents=True, exist_ok=True)
    with alone_in(folder):
        for number in range(1, MOST_FILES):
            path = folder / NAMES.format(number)
            if not path.exists():
                _make(path)
            with suppress(BlockingIOError):
                return Journal(_hold(path), path)
    raise OSError("too many processes")


def journals_in(folder: Path) -> list[Path]:
    return sorted(folder.glob(NAMES.format("*")))


@contextmanager
def left_behind(path: Path) -> Iterator[Journal]:
    """The journal of a process that is gone; nobody else gets it while the block lasts. BlockingIOError where it is not gone."""
    journal = Journal(_hold(path), path)
    try:
        yield journal
    finally:
        journal.close()


def read_all(folder: Path) -> Iterator[str]:
    """Everything that is noted in this folder, by whomever."""
    for path in journals_in(folder):
        with suppress(OSError):
            yield from (record.text for record in _records(path.read_bytes()))


def _make(path: Path) -> None:
    """Its blocks are written, not only promised: then they can be written again when the disk is full."""
    fresh = path.with_suffix(".new")
    try:
        fresh.touch(mode=0o600)
        with fresh.open("wb") as file:
            file.write(bytes(BLOCK * BLOCKS))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def _hold(path: Path) -> int:
    file = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise
    return file


def _records(content: bytes) -> Iterator[Record]:
    """What is whole; a record that was torn is none."""
    place = 0
    while place * BLOCK + HEAD.size <= len(content):
        record = _record_at(content, place)
        if record:
            yield record
        place += record.blocks if record else 1


def _record_at(content: bytes, place: int) -> Record | None:
    start = place * BLOCK
    magic, number, length, total = HEAD.unpack_from(content, start)
    body = content[start + HEAD.size : start + HEAD.size + length]
    if magic != MAGIC or len(body) < length or _checksum(number, body) != total:
        return None
    return Record(place, number, body.decode("ascii"))


def _checksum(number: int, body: bytes) -> int:
    return crc32(body, number & 0xFFFFFFFF)


def _blocks_for(length: int) -> int:
    return -(-(HEAD.size + length) // BLOCK)
