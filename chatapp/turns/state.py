"""What one attempt at a turn knows while it runs: its claim, its draft, its keys and its own time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.draft import Draft
from ..core.events import Event
from ..core.items import KeyMaker
from ..store import Answer, Claim, Measured
from .live import Live


class TurnState:
    """Its time goes on from where the last attempt left it: what people and crashes took is left out."""

    def __init__(self, claim: Claim, answer: Answer, live: Live, now: Callable[[], float]) -> None:
        self.claim, self._live, self._now = claim, live, now
        self.draft = Draft()
        self.keys = KeyMaker(item.key for item in answer.items)
        before: float = answer.row.metadata.get("elapsed_ms", 0)
        self._began = now() - before / 1000
        live.open(self.stream, self.draft, self.elapsed)

    @property
    def stream(self) -> tuple[Any, int]:
        return (self.claim.message, self.claim.attempt)

    @property
    def facts(self) -> dict[str, Any] | None:
        """What was sent for the open round."""
        return self.draft.facts

    @facts.setter
    def facts(self, facts: dict[str, Any] | None) -> None:
        self.draft.facts = facts

    def elapsed(self) -> float:
        """Milliseconds from the start of the turn."""
        return (self._now() - self._began) * 1000

    def publish(self, event: Event) -> None:
        self.show(event, self.note(event))

    def note(self, event: Event) -> float:
        """The one place where an event gets its moment."""
        at = self.elapsed()
        self.draft.apply(event, at)
        return at

    def show(self, event: Event, at: float) -> None:
        self._live.publish(self.stream, event, at)

    def measured(self, keys: list[str], facts: dict[str, Any] | None = None) -> Measured:
        at = self.elapsed()
        durations, timings = self.draft.durations(keys, at), self.draft.timings(keys, at)
        return Measured(durations=durations, timings=timings, round=facts, elapsed=at)
