"""What happens to databases: somebody else keeps the lock, nothing can be written, or nobody answers. All of it is real."""

from __future__ import annotations

import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from threading import Event, Thread
from typing import Any

from django.apps import apps
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from chatapp.config import patience
from chatapp.store import close_threads


@contextmanager
def short_patience(seconds: float = 0.1) -> Iterator[None]:
    """Nobody waits two seconds, many times over."""
    usual, patience.SECONDS = patience.SECONDS, seconds
    with _short_pool(seconds) if connection.vendor == "postgresql" else nullcontext():
        try:
            yield
        finally:
            patience.SECONDS = usual


@contextmanager
def _short_pool(seconds: float) -> Iterator[None]:
    pool = connection.settings_dict["OPTIONS"]["pool"]
    usual, pool["timeout"] = pool["timeout"], seconds
    with _every_connection(f"SET lock_timeout = {seconds * 1000:.0f}"):
        yield
    pool["timeout"] = usual


@contextmanager
def locked() -> Iterator[None]:
    """Another process writes, and does not end."""
    with _locked_file() if connection.vendor == "sqlite" else _locked_tables():
        yield


@contextmanager
def _locked_file() -> Iterator[None]:
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.rollback()
        other.close()


@contextmanager
def _locked_tables() -> Iterator[None]:
    """Everybody may still read."""
    with beside() as other:
        tables = [model._meta.db_table for model in apps.get_models(include_auto_created=True)]
        other.execute("BEGIN")
        other.execute(f"LOCK TABLE {', '.join(tables)} IN EXCLUSIVE MODE")
        other.execute("SET idle_in_transaction_session_timeout = 0")
        yield


@contextmanager
def beside(name: str = "") -> Iterator[Any]:
    """A connection to PostgreSQL that is not of the pool."""
    import psycopg

    given = connection.settings_dict
    where = {
        "host": given["HOST"],
        "port": given["PORT"],
        "user": given["USER"],
        "password": given["PASSWORD"],
    }
    with psycopg.connect(
        dbname=name or given["NAME"], autocommit=True, **{key: value for key, value in where.items() if value}
    ) as other:
        yield other


@contextmanager
def read_only() -> Iterator[None]:
    sqlite, postgresql = "PRAGMA query_only = 1", "SET default_transaction_read_only = on"
    with _every_connection(sqlite if connection.vendor == "sqlite" else postgresql):
        yield


@contextmanager
def full() -> Iterator[None]:
    """No page can be added to the file; PostgreSQL says what it would say then."""
    with _full_file() if connection.vendor == "sqlite" else _full_tables():
        yield


@contextmanager
def _full_file() -> Iterator[None]:
    """Without the room that rows left when they went."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
    with _every_connection("PRAGMA max_page_count = 1"):
        yield


@contextmanager
def _full_tables() -> Iterator[None]:
    tables = [model._meta.db_table for model in apps.get_models(include_auto_created=True)]
    with beside() as other:
        other.execute(
            "CREATE FUNCTION is_full() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$"
        )
        for table in tables:
            other.execute(
                f"CREATE TRIGGER is_full BEFORE INSERT OR UPDATE ON {table} EXECUTE FUNCTION is_full()"
            )
        try:
            yield
        finally:
            other.execute("DROP FUNCTION is_full CASCADE")


@contextmanager
def _every_connection(words: str) -> Iterator[None]:
    """Those that are made from now on; there are no others."""

    def tell(connection: BaseDatabaseWrapper, **_: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(words)

    _close_all()
    connection_created.connect(tell)
    try:
        yield
    finally:
        connection_created.disconnect(tell)
        _close_all()


@contextmanager
def away() -> Iterator[None]:
    with _lost_file() if connection.vendor == "sqlite" else _closed_door():
        yield


@contextmanager
def _lost_file() -> Iterator[None]:
    """Of the settings alone: the file that is there stays what it is."""
    _close_all()
    usual = connection.settings_dict["NAME"]
    connection.settings_dict["NAME"] = f"{usual}.gone/file.sqlite3"
    try:
        yield
    finally:
        _close_all()
        connection.settings_dict["NAME"] = usual


@contextmanager
def _closed_door() -> Iterator[None]:
    """The server ends who is there and lets nobody in."""
    name = connection.settings_dict["NAME"]
    with beside("postgres") as other:
        other.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        try:
            other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
            yield
        finally:
            other.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')


class Line:
    """A network between us and PostgreSQL that can swallow everything for a while, without closing anything."""

    def __init__(self, host: str, port: int) -> None:
        self._there = (host, port)
        self._flows = Event()
        self._flows.set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._sockets = [self._listening]
        Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listening.getsockname()[1])

    @contextmanager
    def held(self) -> Iterator[None]:
        self._flows.clear()
        yield
        self._flows.set()

    def close(self) -> None:
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                far = socket.create_connection(self._there)
                self._sockets += [near, far]
                for ends in ((near, far), (far, near)):
                    Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65536):
                self._flows.wait()
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)


@contextmanager
def through_a_line() -> Iterator[Line]:
    given = connection.settings_dict
    line = Line(given["HOST"] or "127.0.0.1", int(given["PORT"] or 5432))
    usual = {name: given[name] for name in ("HOST", "PORT")}
    _close_all()
    given |= {"HOST": "127.0.0.1", "PORT": line.port}
    try:
        yield line
    finally:
        _close_all()
        given |= usual
        line.close()


def _close_all() -> None:
    close_threads()
    connections.close_all()
    if connection.vendor == "postgresql":
        connection.close_pool()


FAULTS: dict[str, Callable[[], Any]] = {"locked": locked, "read only": read_only, "full": full, "away": away}
