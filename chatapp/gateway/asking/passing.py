"""Hears what a model says to a program, for whom nothing of it is a turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ...core.draft import Draft
from ...core.events import Event
from ...core.items import KeyMaker


class Passing:
    """`tell` is told of each event in the moment in which it happens."""

    def __init__(self, tell: Callable[[Event], None], now: Callable[[], float] = time.monotonic) -> None:
        self.keys, self.draft = KeyMaker(), Draft()
        self.facts: dict[str, Any] | None = None
        self._tell, self._now, self._began = tell, now, now()

    def publish(self, event: Event) -> None:
        self.draft.apply(event, (self._now() - self._began) * 1000)
        self._tell(event)
