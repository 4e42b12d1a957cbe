"""Keeps a whole table from changing until a transaction has ended, where transactions do not exclude each other anyway."""

from __future__ import annotations

from django.db import connection
from django.db.models import Model


def hold_tables(*kinds: type[Model], mode: str) -> None:
    """`mode`: what others may still do with them, in PostgreSQL's words. On SQLite nobody else writes meanwhile."""
    if connection.vendor == "postgresql":
        tables = ", ".join(kind._meta.db_table for kind in kinds)
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {tables} IN {mode} MODE")
