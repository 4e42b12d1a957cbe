"""What of this database, and of the folder beside it, belongs into a backup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils.crypto import salted_hmac

from chatapp.turns.keep.journal import read_all

from .database import DatabaseRows, database_rows
from .failed import BackupFailed
from .lines import Count, Heading, SavedTable, counted, row_lines, saved_lines
from .schema import TableShape, applied_migrations, known_migrations, tables_after

# Which processes are alive, how often somebody tried something in the last hour, and when this very database was last saved or proved.
OF_THE_MOMENT = {"chatapp_heartbeat", "chatapp_knownprocess", "chatapp_throttle", "chatapp_upkeep"}
# Who is signed in: what was ended meanwhile must not begin again.
SESSIONS = "django_session"
NO_TABLES = "There is nothing to save: this database has no tables yet."
UNKNOWN = "These tables are of a newer version than this one, which knows nothing of {}. Use that version."


@contextmanager
def saved(count: Count, *, to_move: bool = False) -> Iterator[Iterator[bytes]]:
    """The lines of this database as it is now. It goes on meanwhile, unless it is `to_move`: then nobody writes until the block ends,
    and who is signed in stays so. `count` is told the table of each row."""
    # Before the rows: what is written meanwhile would otherwise stand in neither.
    unwritten = list(read_all(folder()))
    database, migrations = database_rows(), applied_migrations()
    _refuse_unknown(migrations)
    left_out = OF_THE_MOMENT if to_move else {*OF_THE_MOMENT, SESSIONS}
    tables = [table for table in tables_after(migrations) if table.name not in left_out]
    with database.one_moment(tables, alone=to_move):
        if applied_migrations() != migrations:
            raise BackupFailed("The tables are being changed just now. Try again when that is done.")
        yield saved_lines(_heading(migrations), _saved_tables(database, tables, count), unwritten)


def folder() -> Path:
    """Where processes note what they have still to write."""
    return Path(settings.DATA_DIR) / "run"


def sign_of_secret_key() -> str:
    """Enough to tell two keys apart."""
    return salted_hmac("backup", "which key", algorithm="sha256").hexdigest()[:8]


def _refuse_unknown(migrations: Iterable[str]) -> None:
    if not migrations:
        raise BackupFailed(NO_TABLES)
    if unknown := sorted({*migrations} - known_migrations()):
        raise BackupFailed(UNKNOWN.format(unknown[0]))


def _heading(migrations: Iterable[str]) -> Heading:
    return Heading(
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        database=connection.vendor,
        migrations=sorted(migrations),
        secret_key=sign_of_secret_key(),
    )


def _saved_tables(database: DatabaseRows, tables: Iterable[TableShape], count: Count) -> Iterator[SavedTable]:
    for table in tables:
        lines = counted(row_lines(table.name, database.rows(table)), table.name, count)
        last = database.last_number(table) if table.counted else 0
        yield SavedTable(table.name, table.names, lines, last)
