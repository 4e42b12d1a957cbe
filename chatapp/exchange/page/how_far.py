"""How far something has come that takes long."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HowFar:
    """`done` of `all`."""

    name: str
    words: str
    done: int
    all: int

    @property
    def percent(self) -> int:
        return round(100 * self.done / max(1, self.all))
