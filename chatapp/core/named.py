"""Rows and places as an address, a form or a header names them: a number, an id, a day, or none of these."""

from __future__ import annotations

from datetime import date
from uuid import UUID

# No row of a database has a number with more digits.
LONGEST = 18


def number(text: str, *, digits: int = LONGEST) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def identity(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def day_named(text: str) -> date | None:
    """As a field for days sends it."""
    try:
        return date.fromisoformat(text) if len(text) == len("2026-11-20") else None
    except ValueError:
        return None
