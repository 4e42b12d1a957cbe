"""The connections that this process has to its database, and how soon that answers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import connection

_NOW = {
    "postgresql": "SELECT statement_timestamp()",
    "sqlite": "SELECT strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')",
}


@dataclass(frozen=True, slots=True)
class DatabasePool:
    """How many connections there are and may be, how many of them nobody uses, and who waits for one."""

    size: int
    idle: int
    most: int
    waiting: int


def pool_now() -> DatabasePool | None:
    """None where there is none."""
    pool = connection.pool if connection.vendor == "postgresql" else None  # type: ignore[attr-defined]
    if pool is None:
        return None
    told = pool.get_stats()
    size, idle, waiting = (
        told.get(f"pool_{name}" if name != "waiting" else "requests_waiting", 0)
        for name in ("size", "available", "waiting")
    )
    return DatabasePool(size, idle, pool.max_size, waiting)


@dataclass(frozen=True, slots=True)
class DatabaseNow:
    """`now` by its clock, and how many milliseconds it took to say that."""

    now: datetime
    ms: float


def ask_database() -> DatabaseNow:
    with connection.cursor() as cursor:
        began = time.monotonic()
        cursor.execute(_NOW[connection.vendor])
        told = cursor.fetchone()[0]
    now = told if isinstance(told, datetime) else datetime.fromisoformat(told)
    return DatabaseNow(now.astimezone(UTC), (time.monotonic() - began) * 1000)


@dataclass(frozen=True, slots=True)
class Connections:
    """Of everybody to this server: how many there are, and may be."""

    number: int
    most: int


def count_connections() -> Connections | None:
    """None where nobody counts them."""
    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(numbackends)::int, current_setting('max_connections')::int FROM pg_stat_database"
        )
        return Connections(*cursor.fetchone())
