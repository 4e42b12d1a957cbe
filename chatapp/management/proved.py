"""Proves this database as it was at one moment, while others go on writing, and notes that it was proved."""

from __future__ import annotations

from collections.abc import Callable

from chatapp.operation.store.upkeep import note_verified
from chatapp.store import verify_log

from .backup.database import database_rows


def prove(tell: Callable[[str], object]) -> int:
    """How many breaches there are; `tell` is told each. What is written meanwhile would else look like one now and then."""
    breaches = 0
    with database_rows().one_moment([], alone=False):
        for breach in verify_log():
            tell(breach)
            breaches += 1
    note_verified(breaches)
    return breaches
