"""What this process is there for, since when, and whether it is about to end."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum


class Task(StrEnum):
    """`EVERYTHING`: the only process there is, which serves and works."""

    EVERYTHING = "all"
    SERVES = "web"
    WORKS = "work"


class Itself:
    def __init__(self) -> None:
        self.task = Task.EVERYTHING
        self.began = time.monotonic()
        # Whoever is told to end takes nothing new.
        self.is_ending = False
        # Whether it fetches turns, where that is its task.
        self.fetches: Callable[[], bool] | None = None


ITSELF = Itself()
