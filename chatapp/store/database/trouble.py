"""Tells a database that cannot do its work just now from a mistake of ours: the first is a 503 with words, the other stays a 500."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.exceptions import SessionInterrupted
from django.db import Error, OperationalError


class DatabaseTrouble(StrEnum):
    """What keeps the database from its work, as a sentence for whoever waits for it."""

    BUSY = "The database is busy, and this had to wait too long."
    FULL = "The disk of the database is full."
    READ_ONLY = "The database can only be read just now."
    AWAY = "The database cannot be reached just now."


class Waited(OperationalError):
    """Everybody who could have asked the database waits for it."""


# By the code of the error, without its details.
_SQLITE = {
    sqlite3.SQLITE_BUSY: DatabaseTrouble.BUSY,
    sqlite3.SQLITE_LOCKED: DatabaseTrouble.BUSY,
    sqlite3.SQLITE_PROTOCOL: DatabaseTrouble.BUSY,
    sqlite3.SQLITE_FULL: DatabaseTrouble.FULL,
    sqlite3.SQLITE_READONLY: DatabaseTrouble.READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: DatabaseTrouble.AWAY,
    sqlite3.SQLITE_IOERR: DatabaseTrouble.AWAY,
    sqlite3.SQLITE_NOMEM: DatabaseTrouble.AWAY,
}
# By how the SQLSTATE begins: what is longer is looked for first.
_POSTGRESQL = {
    "53100": DatabaseTrouble.FULL,
    "53": DatabaseTrouble.BUSY,
    "55P03": DatabaseTrouble.BUSY,
    "57014": DatabaseTrouble.BUSY,
    "40001": DatabaseTrouble.BUSY,
    "40P01": DatabaseTrouble.BUSY,
    "25006": DatabaseTrouble.READ_ONLY,
    "25P03": DatabaseTrouble.AWAY,
    "08": DatabaseTrouble.AWAY,
    "57P": DatabaseTrouble.AWAY,
    "58": DatabaseTrouble.AWAY,
}
# Django's sessions tell of any failure in words of their own.
_DRESSED = (SessionInterrupted, UpdateError)


def trouble_in(error: BaseException | None) -> DatabaseTrouble | None:
    """None where the error is no trouble of the database."""
    return next(filter(None, map(_trouble, _chain(error))), None)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or (error.__context__ if isinstance(error, _DRESSED) else None)


def _trouble(error: BaseException) -> DatabaseTrouble | None:
    if isinstance(error, Waited):
        return DatabaseTrouble.BUSY
    if not isinstance(error, Error):
        return None
    driver: Any = error.__cause__
    if isinstance(driver, sqlite3.Error):
        return _SQLITE.get(getattr(driver, "sqlite_errorcode", 0) & 0xFF)
    if not hasattr(driver, "sqlstate"):
        return None
    state: str | None = driver.sqlstate
    if state is None:
        # Before the server has said anything, or after it went away.
        return DatabaseTrouble.AWAY if isinstance(error, OperationalError) else None
    return next((found for begin, found in _POSTGRESQL.items() if state.startswith(begin)), None)
