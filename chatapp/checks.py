"""Configuration that is readable but will not do what was meant, said in words by `manage.py check` and at every start."""

from __future__ import annotations

import sqlite3
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.db import connection

# The first whose updates give back what they wrote.
OLDEST_SQLITE = (3, 35)
# The oldest versions without a known security hole.
FLOORS = {"Django": (5, 2, 19), "daphne": (4, 2, 2)}


def one_process(**_: Any) -> list[CheckMessage]:
    if connection.vendor != "postgresql" or settings.REDIS_URL:
        return []
    return [
        Warning(
            "PostgreSQL without Redis: this one process serves pages and runs turns. Set REDIS_URL for more of them.",
            id="chatapp.W002",
        )
    ]


def unencrypted_address(**_: Any) -> list[CheckMessage]:
    public = urlsplit(settings.PUBLIC_URL)
    if public.scheme != "http" or public.hostname in ("localhost", "127.0.0.1", "::1"):
        return []
    return [
        Warning(
            "PUBLIC_URL begins with http: passwords can be read on their way. Use https.", id="chatapp.W003"
        )
    ]


def old_packages(**_: Any) -> list[CheckMessage]:
    return [
        Error(
            f"{name} {version(name)} is not safe; at least {'.'.join(map(str, floor))} is needed.",
            id="chatapp.E001",
        )
        for name, floor in FLOORS.items()
        if release_of(version(name)) < floor
    ]


def old_sqlite(**_: Any) -> list[CheckMessage]:
    if connection.vendor != "sqlite" or sqlite3.sqlite_version_info >= OLDEST_SQLITE:
        return []
    needed = ".".join(map(str, OLDEST_SQLITE))
    return [
        Error(
            f"This Python comes with SQLite {sqlite3.sqlite_version}; at least {needed} is needed. "
            "Use a newer Python, or PostgreSQL (DATABASE_URL).",
            id="chatapp.E002",
        )
    ]


def release_of(text: str) -> tuple[int, ...]:
    """`4.2.3` as numbers that can be compared."""
    return tuple(int(part) for part in text.split(".")[:3] if part.isdigit())
