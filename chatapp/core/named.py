"""Rows and places as an address, a form or a header names them: a number, an id, or none of either."""

from __future__ import annotations

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
