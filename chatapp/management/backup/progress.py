"""Says from time to time how far a long work has come."""

from __future__ import annotations

import time
from collections.abc import Callable

EVERY_SECONDS = 5.0
ROWS_BETWEEN_LOOKS = 1000


class Progress:
    def __init__(self, say: Callable[[str], object], did: str) -> None:
        self._say, self._did = say, did
        self._began = self._said = time.monotonic()
        self._table, self.rows, self._of_table = "", 0, 0

    def count(self, table: str) -> None:
        if table != self._table:
            self._table, self._of_table = table, 0
        self.rows += 1
        self._of_table += 1
        if self.rows % ROWS_BETWEEN_LOOKS == 0:
            self._look()

    @property
    def seconds(self) -> str:
        return f"{max(time.monotonic() - self._began, 0.1):,.1f} s"

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._said >= EVERY_SECONDS:
            self._said = now
            self._say(f"… {self._of_table:,} rows of {self._table} {self._did}")
