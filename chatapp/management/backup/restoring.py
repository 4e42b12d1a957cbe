"""Puts a backup into an empty place: all of it, as it was, or nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from chatapp.store import Fenced
from chatapp.turns.keep.journal import read_all
from chatapp.turns.keep.writes import understood
from chatapp.turns.locks import is_anybody_here

from .database import DatabaseRows, database_rows
from .failed import BackupFailed
from .lines import DAMAGED, Count, Heading, RowSum, SavedLines, SavedTable, counted, row_lines
from .saving import OF_THE_MOMENT, SESSIONS, folder
from .schema import TableShape, applied_migrations, bring_to, known_migrations, tables_after

log = logging.getLogger(__name__)

# What is there although nobody has used it yet; what was saved takes its place.
FROM_THE_START = {
    "auth_group",
    "auth_group_permissions",
    "auth_permission",
    "chatapp_dailylimit",
    "chatapp_installation",
    "django_content_type",
}
IN_USE = "A server, or a question in a terminal, is at work in this DATA_DIR. Stop it first."
UNWRITTEN = (
    "This DATA_DIR keeps what a server had still to write into its database. Start that server once more, or name "
    "another DATA_DIR."
)
NOT_EMPTY = "This database is not empty: {} holds rows. A backup is restored into an empty one alone."
NEWER = "This backup was made by a newer version, which has {}. Update this one first."
OLDER = (
    "This backup was made by an older version, without {}, and this database has its tables already. Name one that "
    "has none: they are made as they were, and then brought up to date."
)


def refuse_unless_fit(heading: Heading) -> None:
    """Before anything is made here: this place is empty, and this version the right one."""
    if is_anybody_here(folder()):
        raise BackupFailed(IN_USE)
    if any(read_all(folder())):
        raise BackupFailed(UNWRITTEN)
    if unknown := sorted({*heading.migrations} - known_migrations()):
        raise BackupFailed(NEWER.format(unknown[0]))
    there = applied_migrations()
    if later := sorted(there - {*heading.migrations}):
        raise BackupFailed(OLDER.format(later[-1]))
    if there:
        _refuse_unless_empty(database_rows(), tables_after(there))


def restore(saved: SavedLines, count: Count) -> list[SavedTable]:
    """The tables that were saved: each was read again here, and is as it was saved. `count` is told the table of each row that is written
    or read."""
    migrations, database = saved.heading.migrations, database_rows()
    bring_to(migrations)
    tables = {table.name: table for table in tables_after(migrations)}
    with database.filling(tables.values()):
        _refuse_unless_empty(database, tables.values())
        for name in FROM_THE_START & tables.keys():
            database.empty(tables[name])
        filled = [_filled(database, table, tables, count) for table in saved.tables()]
        _refuse_unless_all(filled, tables)
        for table in filled:
            _refuse_unless_equal(database, table, tables[table.name], count)
    return filled


def write_what_was_unwritten(saved: SavedLines) -> None:
    """As a server does that finds it at its start."""
    for write in understood(saved.unwritten):
        try:
            write.carry_out()
        except Fenced:
            log.info("turn %s attempt %s went on elsewhere", write.claim.message, write.claim.attempt)


def _refuse_unless_empty(database: DatabaseRows, tables: Iterable[TableShape]) -> None:
    for table in tables:
        beside = table.name in FROM_THE_START | OF_THE_MOMENT or table.name == SESSIONS
        if not beside and not database.is_empty(table):
            raise BackupFailed(NOT_EMPTY.format(table.name))


def _filled(
    database: DatabaseRows, saved: SavedTable, tables: Mapping[str, TableShape], count: Count
) -> SavedTable:
    table = tables.get(saved.name)
    if table is None or table.names != saved.columns:
        raise BackupFailed(DAMAGED.format(f"its table {saved.name} is another one than its version had"))
    if table.name == SESSIONS:
        database.empty(table)
    database.fill(table, counted(saved.rows, table.name, count))
    if table.counted:
        database.count_on(table, saved.last)
    return saved


def _refuse_unless_all(filled: Iterable[SavedTable], tables: Mapping[str, TableShape]) -> None:
    missing = tables.keys() - {table.name for table in filled} - OF_THE_MOMENT - {SESSIONS}
    if missing:
        raise BackupFailed(DAMAGED.format(f"its table {min(missing)} is missing"))


def _refuse_unless_equal(database: DatabaseRows, saved: SavedTable, table: TableShape, count: Count) -> None:
    found = RowSum.of(counted(row_lines(table.name, database.rows(table)), table.name, count))
    if found != saved.sum:
        raise BackupFailed(
            f"{table.name} did not arrive as it was saved: {found.rows} rows of {saved.sum.rows}, "
            f"{found.digest} instead of {saved.sum.digest}. Nothing was written."
        )
