"""How PostgreSQL is emptied after a test that commits: of the few tables that hold rows, row by row. To truncate all of them makes
some hundred files anew each time, which takes as long as the test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import connection


def empty_what_holds_rows() -> None:
    operations: Any = connection.ops
    operations.sql_flush = _statements


def _statements(style: Any, tables: Sequence[str], **_: bool) -> list[str]:
    """In any order: references are looked at when all is gone."""
    return [f'DELETE FROM "{table}"' for table in _filled([*tables, *_of_jobs()])]


def _of_jobs() -> tuple[str, ...]:
    """Which Django does not know for its own."""
    return ("procrastinate_jobs", "procrastinate_workers") if settings.REDIS_URL else ()


def _filled(tables: Sequence[str]) -> list[str]:
    if not tables:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT FROM \"{table}\")" for table in tables)
        )
        return [table for (table,) in cursor.fetchall()]
