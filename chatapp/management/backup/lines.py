"""The form of a backup: lines of JSON. The first says what it is; each table is a line with its columns, a line for each row, and a line
that counts them; what was still to be written follows; the last line says that it is whole. Whoever reads it finds out what is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from hashlib import blake2b, sha256
from typing import Any, TypeVar

from .database import Row
from .failed import BackupFailed

FORMAT = 1
NO_BACKUP = "This is no backup of Thoughtline."
DAMAGED = "This backup is damaged: {}. Nothing was written."
CUT = "This backup is cut off: its end is missing. Nothing was written."
_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """`secret_key`: a sign by which the secret key is known, and no more of it."""

    made_at: str
    database: str
    migrations: list[str]
    secret_key: str


@dataclass(slots=True)
class RowSum:
    """Of the rows of a table, in whatever order they come: how many, and the sum of their digests."""

    rows: int = 0
    _sum: int = 0

    def add(self, line: bytes) -> None:
        self.rows += 1
        self._sum += int.from_bytes(blake2b(line, digest_size=_DIGEST_BYTES).digest(), "big")

    @property
    def digest(self) -> str:
        return f"{self._sum % 2 ** (8 * _DIGEST_BYTES):0{2 * _DIGEST_BYTES}x}"

    @classmethod
    def of(cls, lines: Iterable[bytes]) -> RowSum:
        total = cls()
        for line in lines:
            total.add(line)
        return total


@dataclass(slots=True)
class SavedTable:
    """`lines`: of its rows, to be read once. `last`: the largest number that the table ever gave. Where it is read, that and the sum
    are known after the last line."""

    name: str
    columns: list[str]
    lines: Iterable[bytes]
    last: int = 0
    sum: RowSum = field(default_factory=RowSum)

    @property
    def rows(self) -> Iterator[Row]:
        return (_row(line, len(self.columns)) for line in self.lines)


Count = Callable[[str], None]
T = TypeVar("T")


def counted(rows: Iterable[T], table: str, count: Count) -> Iterator[T]:
    for row in rows:
        count(table)
        yield row


def row_lines(table: str, rows: Iterable[Row]) -> Iterator[bytes]:
    for row in rows:
        try:
            line = _encoder.encode(row).encode()
        except (TypeError, UnicodeEncodeError):
            raise BackupFailed(f"A row of {table} holds bytes that are no text: {row!r:.200}") from None
        yield line + b"\n"


def saved_lines(heading: Heading, tables: Iterable[SavedTable], unwritten: Iterable[str]) -> Iterator[bytes]:
    whole = sha256()
    for line in _all_but_the_last(heading, tables, unwritten):
        whole.update(line)
        yield line
    yield _line({"whole": whole.hexdigest()})


def _all_but_the_last(
    heading: Heading, tables: Iterable[SavedTable], unwritten: Iterable[str]
) -> Iterator[bytes]:
    yield _line({"thoughtline": "backup", "format": FORMAT} | asdict(heading))
    for table in tables:
        yield _line({"table": table.name, "columns": table.columns})
        for line in table.lines:
            table.sum.add(line)
            yield line
        yield _line({"rows": table.sum.rows, "digest": table.sum.digest, "last": table.last})
    yield from (_line({"unwritten": text}) for text in unwritten)


def _line(said: dict[str, Any]) -> bytes:
    return _encoder.encode(said).encode() + b"\n"


class SavedLines:
    """A backup as it is read, from its first line to its last. `unwritten` is known at its end."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self._whole = sha256()
        self.heading = self._heading()
        self.unwritten: list[str] = []

    def tables(self) -> Iterator[SavedTable]:
        """The lines of each are read before the next one is asked for. BackupFailed as soon as something is not as it was saved."""
        while "whole" not in (said := self._next()):
            match said:
                case {"table": str(name), "columns": list(columns)}:
                    table = SavedTable(name, columns, ())
                    table.lines = self._rows(table)
                    yield table
                case {"unwritten": str(text)}:
                    self.unwritten.append(text)
                case _:
                    raise BackupFailed(DAMAGED.format("it holds a line of no known kind"))
        self._end()

    def read_through(self) -> int:
        """Whether it is whole; gives the number of its rows."""
        rows = 0
        for table in self.tables():
            rows += sum(1 for _ in table.lines)
        return rows

    def _rows(self, table: SavedTable) -> Iterator[bytes]:
        for line in self._lines:
            if not line.startswith(b"["):
                self._end_of(table, self._understood(line))
                return
            if not line.endswith(b"\n"):
                break
            self._whole.update(line)
            table.sum.add(line)
            yield line
        raise BackupFailed(CUT)

    def _end_of(self, table: SavedTable, said: dict[str, Any]) -> None:
        match said:
            case {"rows": table.sum.rows, "digest": table.sum.digest, "last": int(last)}:
                table.last = last
            case _:
                raise BackupFailed(DAMAGED.format(f"the rows of {table.name} are not those that were saved"))

    def _next(self) -> dict[str, Any]:
        return self._understood(next(self._lines, b""))

    def _understood(self, line: bytes) -> dict[str, Any]:
        if not line.endswith(b"\n"):
            raise BackupFailed(CUT)
        said = _said(line)
        if "whole" not in said:
            self._whole.update(line)
        elif said["whole"] != self._whole.hexdigest():
            raise BackupFailed(DAMAGED.format("its last line does not fit the others"))
        return said

    def _end(self) -> None:
        if next(self._lines, None) is not None:
            raise BackupFailed(DAMAGED.format("something follows its end"))

    def _heading(self) -> Heading:
        line = next(self._lines, b"")
        said = _said(line, otherwise=NO_BACKUP)
        if said.pop("thoughtline", None) != "backup":
            raise BackupFailed(NO_BACKUP)
        if said.pop("format", None) != FORMAT:
            raise BackupFailed("This backup was made by a newer version. Update this one first.")
        self._whole.update(line)
        try:
            return Heading(**said)
        except TypeError:
            raise BackupFailed(DAMAGED.format("its first line is not whole")) from None


def _row(line: bytes, length: int) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, list) or len(row) != length:
        raise BackupFailed(DAMAGED.format("it holds a row that cannot be read"))
    return row


def _said(
    line: bytes, otherwise: str = DAMAGED.format("it holds a line that cannot be read")
) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise BackupFailed(otherwise)
    return said
