"""Values from outside that may be of any type at all: taken as what is expected, else as nothing."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def fields(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[Json]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def count_in(value: Any, most: int = 10**12) -> int | None:
    """A count of something."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most else None
