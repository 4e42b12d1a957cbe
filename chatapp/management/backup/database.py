"""What each of the two databases does in its own way: hold one moment still, give and take rows, count on.

A value on its way is what SQLite keeps of it: whole numbers (flags are 0 and 1), text, and None. Moments are in UTC."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Protocol

from django.db import connection, transaction

from chatapp.core import verbatim

from .failed import BackupFailed
from .schema import Column, Holds, TableShape

Row = Sequence[Any]


class DatabaseRows(Protocol):
    """Of the database that is set up."""

    def one_moment(self, tables: Iterable[TableShape], *, alone: bool) -> AbstractContextManager[None]:
        """Inside, everything that is read is of one moment. Nobody waits for it, unless it is `alone`: then nobody writes meanwhile."""

    def filling(self, tables: Iterable[TableShape]) -> AbstractContextManager[None]:
        """Inside, nobody else writes; what is written stands at the end, or nothing of it."""

    def rows(self, table: TableShape) -> Iterator[Row]:
        """In any order, and never many of them at once in memory."""

    def fill(self, table: TableShape, rows: Iterable[Row]) -> None:
        """All of them are there afterwards, too."""

    def is_empty(self, table: TableShape) -> bool: ...

    def empty(self, table: TableShape) -> None: ...

    def last_number(self, table: TableShape) -> int:
        """The largest that was ever given in a table that counts."""

    def count_on(self, table: TableShape, last: int) -> None:
        """The next number is larger than this one, and than all that are there."""


def database_rows() -> DatabaseRows:
    return PostgresqlRows() if connection.vendor == "postgresql" else SqliteRows()


class _AnyRows:
    def is_empty(self, table: TableShape) -> bool:
        return not _ask(f"SELECT 1 FROM {quoted(table.name)} LIMIT 1")

    def empty(self, table: TableShape) -> None:
        _ask(f"DELETE FROM {quoted(table.name)}")


class SqliteRows(_AnyRows):
    @contextmanager
    def one_moment(self, tables: Iterable[TableShape], *, alone: bool) -> Iterator[None]:
        if alone:
            with transaction.atomic():
                yield
            return
        # Unlike the transactions of those who write, this one takes no lock.
        _ask("BEGIN DEFERRED")
        try:
            yield
        finally:
            _ask("ROLLBACK")

    @contextmanager
    def filling(self, tables: Iterable[TableShape]) -> Iterator[None]:
        with transaction.atomic():
            yield
            connection.check_constraints()

    def rows(self, table: TableShape) -> Iterator[Row]:
        # Without the sign the driver would make values of what is kept, each in its own way.
        wanted = ", ".join(f"+{quoted(name)}" for name in table.names)
        converted = _converters(table, _FROM_SQLITE)
        with closing(connection.cursor()) as cursor:
            cursor.execute(f"SELECT {wanted} FROM {quoted(table.name)}")
            # Row by row: whoever asks for several gets them all at once.
            while row := cursor.fetchone():
                yield _converted(row, converted)

    def fill(self, table: TableShape, rows: Iterable[Row]) -> None:
        names, places = ", ".join(map(quoted, table.names)), ", ".join("?" for _ in table.names)
        # The driver's own takes one row after the other; Django's keeps all that it was given.
        with connection.wrap_database_errors:
            connection.connection.executemany(
                f"INSERT INTO {quoted(table.name)} ({names}) VALUES ({places})", rows
            )

    def last_number(self, table: TableShape) -> int:
        given: list[int] = _ask("SELECT seq FROM sqlite_sequence WHERE name = %s", table.name)
        return max([_largest(table), *given])

    def count_on(self, table: TableShape, last: int) -> None:
        """It counts on from the largest by itself; numbers that were given to rows of days gone by are told to it."""
        if last > _largest(table):
            _ask("DELETE FROM sqlite_sequence WHERE name = %s", table.name)
            _ask("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", table.name, last)


class PostgresqlRows(_AnyRows):
    def __init__(self) -> None:
        self._reading: Generator[Row, None, None] | None = None

    @contextmanager
    def one_moment(self, tables: Iterable[TableShape], *, alone: bool) -> Iterator[None]:
        with transaction.atomic():
            _ask(f"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ{'' if alone else ', READ ONLY'}")
            if alone:
                self._lock(tables, "SHARE")
            with self._long_work():
                yield

    @contextmanager
    def filling(self, tables: Iterable[TableShape]) -> Iterator[None]:
        with transaction.atomic():
            self._lock(tables, "EXCLUSIVE")
            with self._long_work():
                yield
            connection.check_constraints()

    def rows(self, table: TableShape) -> Iterator[Row]:
        self._reading = self._rows(table)
        return self._reading

    def _rows(self, table: TableShape) -> Generator[Row, None, None]:
        wanted = ", ".join(
            _IN_POSTGRESQL.get(each.holds, "{}").format(quoted(each.name)) for each in table.columns
        )
        converted = _converters(table, _FROM_POSTGRESQL)
        with self._copy(f"COPY (SELECT {wanted} FROM {quoted(table.name)}) TO STDOUT") as copy:
            for row in copy.rows():
                yield _converted(row, converted)

    def fill(self, table: TableShape, rows: Iterable[Row]) -> None:
        names = ", ".join(map(quoted, table.names))
        with self._copy(f"COPY {quoted(table.name)} ({names}) FROM STDIN") as copy:
            for row in rows:
                _refuse_what_it_cannot_hold(table, row)
                copy.write_row(row)

    def last_number(self, table: TableShape) -> int:
        (series,) = _ask("SELECT pg_get_serial_sequence(%s, %s)", quoted(table.name), table.counted)
        given: list[int] = _ask(f"SELECT last_value FROM {series} WHERE is_called")
        return max([_largest(table), *given])

    def count_on(self, table: TableShape, last: int) -> None:
        if last := max(last, _largest(table)):
            _ask("SELECT setval(pg_get_serial_sequence(%s, %s), %s)", quoted(table.name), table.counted, last)

    @contextmanager
    def _long_work(self) -> Iterator[None]:
        """Whoever reads what is written, or sends what is read, may be slow, and may leave in the middle."""
        _ask("SET LOCAL idle_in_transaction_session_timeout = 0")
        try:
            yield
        finally:
            # No transaction ends while something is still being read in it.
            if self._reading:
                self._reading.close()

    def _lock(self, tables: Iterable[TableShape], mode: str) -> None:
        _ask(f"LOCK TABLE {', '.join(quoted(table.name) for table in tables)} IN {mode} MODE")

    @contextmanager
    def _copy(self, statement: str) -> Iterator[Any]:
        with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
            yield copy


def quoted(name: str) -> str:
    return connection.ops.quote_name(name)


def _ask(sql: str, *values: Any) -> list[Any]:
    """The first column of what comes, if anything does."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values or None)
        return [row[0] for row in cursor.fetchall()] if cursor.description else []


def _largest(table: TableShape) -> int:
    (largest,) = _ask(f"SELECT max({quoted(table.counted)}) FROM {quoted(table.name)}")
    return int(largest or 0)


Convert = Callable[[Column, Any], Any]


def _converters(table: TableShape, kinds: dict[Holds, Convert]) -> list[tuple[int, Column, Convert]]:
    return [
        (place, column, kinds[column.holds])
        for place, column in enumerate(table.columns)
        if column.holds in kinds
    ]


def _converted(row: Row, converters: list[tuple[int, Column, Convert]]) -> Row:
    values = list(row)
    for place, column, convert in converters:
        if values[place] is not None:
            try:
                values[place] = convert(column, values[place])
            except (ValueError, ArithmeticError, TypeError):
                raise BackupFailed(f"{column.name} holds {values[place]!r:.80}, which is none.") from None
    return values


def _json(column: Column, text: str) -> str:
    """As Django writes it. PostgreSQL keeps the value alone, and its own order of keys."""
    return json.dumps(_sorted(verbatim.loads(text)))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


# As Django writes it: no more digits than there are.
WITH_MICROSECONDS = len("2000-01-01 00:00:00.000000")


def _moment(column: Column, text: str) -> str:
    return text if len(text) == WITH_MICROSECONDS else str(datetime.fromisoformat(text))


def _moment_in_full(column: Column, text: str) -> str:
    return text.removesuffix(".000000")


def _decimal(column: Column, number: float | str) -> str:
    return str(
        Decimal(repr(number) if isinstance(number, float) else number).quantize(Decimal(10) ** -column.places)
    )


def _whole(column: Column, text: str) -> int:
    return int(text)


_FROM_SQLITE: dict[Holds, Convert] = {Holds.MOMENT: _moment, Holds.DECIMAL: _decimal, Holds.JSON: _json}
_IN_POSTGRESQL = {
    Holds.FLAG: "{}::int",
    Holds.UUID: "replace({}::text, '-', '')",
    Holds.MOMENT: "to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')",
}
_FROM_POSTGRESQL: dict[Holds, Convert] = {
    Holds.WHOLE: _whole,
    Holds.FLAG: _whole,
    Holds.MOMENT: _moment_in_full,
    Holds.JSON: _json,
}


def _refuse_what_it_cannot_hold(table: TableShape, row: Row) -> None:
    """SQLite takes into any column whatever it is given."""
    for column, value in zip(table.columns, row, strict=True):
        if value is not None and (why := _why_not(column, value)):
            key = row[table.names.index(table.key)]
            raise BackupFailed(
                f"PostgreSQL cannot hold {column.name} of the row {key!r:.80} in {table.name}: {why}."
            )


def _why_not(column: Column, value: Any) -> str:
    if column.holds in (Holds.WHOLE, Holds.FLAG):
        least, most = column.range or (0, 1)
        fits = type(value) is int and least <= value <= most
        return "" if fits else f"{value!r:.40} is no whole number from {least} to {most}"
    if not isinstance(value, str):
        return f"{value!r:.40} is no text"
    if "\0" in value:
        return "it holds U+0000"
    if column.longest and len(value) > column.longest:
        return f"it is {len(value)} letters long, and {column.longest} is the most"
    return (
        ""
        if column.holds in (Holds.TEXT, Holds.DECIMAL) or _is_read(column.holds, value)
        else f"{value!r:.40} is none"
    )


def _is_read(holds: Holds, text: str) -> bool:
    try:
        match holds:
            case Holds.UUID:
                return len(text) == 32 and int(text, 16) >= 0
            case Holds.MOMENT:
                datetime.fromisoformat(text)
            case Holds.DAY:
                date.fromisoformat(text)
            case Holds.JSON:
                return not any("\0" in words for words in _words(verbatim.loads(text)))
            case _:
                return True
    except ValueError:
        return False
    return True


def _words(value: Any) -> Iterator[str]:
    """ValueError where some are no text that can be written."""
    if isinstance(value, str):
        value.encode()
        yield value
    elif isinstance(value, dict):
        yield from _words([*value, *value.values()])
    elif isinstance(value, list):
        for each in value:
            yield from _words(each)
