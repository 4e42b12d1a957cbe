"""A database that takes nothing for a while: SQLite's file is being written by somebody else, PostgreSQL lets nobody in."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.db import connection, connections

from chatapp import store

# Waiting is no matter of what is tested here: a write that finds the database locked is told so at once.
IMPATIENT = 0.02


@contextmanager
def impatient() -> Iterator[None]:
    """New connections to SQLite wait for nobody, and those to PostgreSQL are told soon that there is none."""
    options = connection.settings_dict["OPTIONS"]
    before = dict(options)
    options.update({"timeout": IMPATIENT} if connection.vendor == "sqlite" else _without_pool(options))
    store.close_threads()
    try:
        yield
    finally:
        options.clear()
        options.update(before)
        store.close_threads()


def _without_pool(options: dict[str, object]) -> dict[str, object]:
    """A pool goes on trying by itself, with pauses that become longer."""
    options.pop("pool", None)
    return {"connect_timeout": 2}


class Lock:
    """The database is shut from `shut` until `open`."""

    def __init__(self) -> None:
        self._holder: sqlite3.Connection | None = None

    def shut(self) -> None:
        if connection.vendor == "postgresql":
            self._let_in(False)
            return
        self._holder = sqlite3.connect(_file(), isolation_level=None, check_same_thread=False, timeout=10)
        self._holder.execute("BEGIN IMMEDIATE")

    def open(self) -> None:
        if connection.vendor == "postgresql":
            self._let_in(True)
        elif self._holder:
            self._holder.execute("ROLLBACK")
            self._holder.close()
            self._holder = None

    def _let_in(self, allowed: bool) -> None:
        import psycopg

        at = connection.settings_dict
        name = str(at["NAME"])
        server = {"host": at["HOST"], "port": at["PORT"], "user": at["USER"], "password": at["PASSWORD"]}
        with psycopg.connect(**server, dbname="postgres", autocommit=True) as admin:
            admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS {str(allowed).lower()}')
            if not allowed:
                own = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
                admin.execute(own, [name])


def _file() -> Path:
    return Path(str(connection.settings_dict["NAME"]))


@contextmanager
def lock() -> Iterator[Lock]:
    made = Lock()
    with impatient():
        try:
            yield made
        finally:
            made.open()
            with suppress(Exception):
                connections.close_all()
