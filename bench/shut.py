"""A database that takes nothing for a while: SQLite's file is being written by somebody else, PostgreSQL lets nobody in."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


class Lock:
    """The database is shut from `shut` until `open`."""

    def __init__(self) -> None:
        self._holder: sqlite3.Connection | None = None

    def shut(self, *, but: int = 0) -> None:
        """`but`: the number of a PostgreSQL process that goes on."""
        if connection.vendor == "postgresql":
            _let_in(False, but)
            return
        file = str(connection.settings_dict["NAME"])
        self._holder = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=10)
        self._holder.execute("BEGIN IMMEDIATE")

    def open(self) -> None:
        if connection.vendor == "postgresql":
            _let_in(True)
        elif self._holder:
            self._holder.execute("ROLLBACK")
            self._holder.close()
            self._holder = None


@contextmanager
def impatient(seconds: float) -> Iterator[None]:
    """New connections to SQLite wait no longer than this, and those to PostgreSQL come from no pool: one would go on trying by
    itself, with pauses that become longer."""
    options = connection.settings_dict["OPTIONS"]
    before = dict(options)
    if connection.vendor == "sqlite":
        options["timeout"] = seconds
    elif "pool" in options:
        connection.close()
        connection.close_pool()
        del options["pool"]
    try:
        yield
    finally:
        options.clear()
        options.update(before)


def _let_in(allowed: bool, but: int = 0) -> None:
    import psycopg

    at = connection.settings_dict
    name = str(at["NAME"])
    server = {"host": at["HOST"], "port": at["PORT"], "user": at["USER"], "password": at["PASSWORD"]}
    with psycopg.connect(**server, dbname="postgres", autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS {str(allowed).lower()}')
        if not allowed:
            others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> %s"
            admin.execute(others, [name, but])
