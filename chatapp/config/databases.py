"""DATABASE_URL as Django's settings want it: SQLite as several threads need it, or PostgreSQL with a pool."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import dj_database_url

from . import patience
from .environment import Misconfigured
from .places import INSTALL_SCALE

_SQLITE = {
    # Each thread's connection has a cache; the system's own holds the same pages for all of them.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-500",
    # Without it, a transaction that reads before it writes fails at once when another one writes.
    "transaction_mode": "IMMEDIATE",
    "timeout": patience.SECONDS,
}
_POSTGRESQL = {
    # A writer that freezes inside its transaction must not keep its locks, and nobody waits for them for ever.
    "options": f"-c idle_in_transaction_session_timeout=5000 -c lock_timeout={patience.SECONDS * 1000:.0f}",
    "connect_timeout": 3,
    # A network that is cut is noticed in five seconds, by whoever sends and by whoever waits. In milliseconds, and in seconds.
    "tcp_user_timeout": 5000,
    "keepalives_idle": 5,
    "keepalives_interval": 1,
    "keepalives_count": 3,
}
# A server that is away is asked for again by whoever needs it next, not after a pause that has grown meanwhile.
_POOL = {"min_size": 1, "max_size": 10, "timeout": patience.SECONDS * 0.9, "reconnect_timeout": 1.0}


def database(url: str, *, data_dir: Path) -> dict[str, Any]:
    scheme = url.split("://")[0]
    if not url or scheme == "sqlite":
        return _sqlite(_parsed(url)["NAME"] if url else "thoughtline.sqlite3", data_dir)
    if scheme not in ("postgres", "postgresql"):
        raise Misconfigured("DATABASE_URL must begin with sqlite:/// or postgres://.")
    return _postgresql(_parsed(url))


def _parsed(url: str) -> dict[str, Any]:
    try:
        return dict(dj_database_url.parse(url))
    except ValueError as error:
        raise Misconfigured(
            "DATABASE_URL cannot be read; it must look like postgres://user:password@host/name."
        ) from error


def _sqlite(name: str, data_dir: Path) -> dict[str, Any]:
    if name == ":memory:":
        raise Misconfigured("DATABASE_URL names no file; it must look like sqlite:////folder/file.sqlite3.")
    file = data_dir / name
    if not file.parent.is_dir():
        raise Misconfigured(
            f"DATABASE_URL names a file in {str(file.parent)!r}, and that folder is not there."
        )
    # A file also for tests: threads would each get an in-memory database of their own.
    test = {"NAME": str(data_dir / "test.sqlite3")}
    # Each thread keeps its connection: to make one costs more than most calls, and nobody else waits for it.
    kept = {"CONN_MAX_AGE": None}
    return {"ENGINE": "chatapp.config.sqlite", "NAME": file, "OPTIONS": _SQLITE, "TEST": test, **kept}


def _postgresql(parsed: dict[str, Any]) -> dict[str, Any]:
    if not parsed["NAME"]:
        raise Misconfigured(
            "DATABASE_URL names no database; it must look like postgres://user:password@host/name."
        )
    if not (importlib.util.find_spec("psycopg") and importlib.util.find_spec("psycopg_pool")):
        raise Misconfigured(f"DATABASE_URL names PostgreSQL, whose driver is not installed: {INSTALL_SCALE}")
    from .postgresql import Connection

    pool = {"pool": _POOL | {"connection_class": Connection}}
    return parsed | {
        "OPTIONS": pool | _POSTGRESQL | parsed.get("OPTIONS", {}),
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
    }
