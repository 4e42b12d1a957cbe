"""What one attempt at a turn knows while it runs: its claim, its draft, its keys and its own time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from ..core.draft import Draft
from ..core.events import Event, Saving
from ..core.items import KeyMaker
from ..store import Answer, Claim, Measured
from .keep.keeper import Keeper
from .keep.writes import Write
from .live import Live

# A page says calmly that it takes longer when it does.
CALM_SECONDS = 2.0
SAVING = "Saving… The database takes nothing at the moment; what you see is kept"


class TurnState:
    """Its time goes on from where the last attempt left it: what people and crashes took is left out. `answer`: what is stored, where
    that may be anything."""

    def __init__(
        self,
        claim: Claim,
        answer: Answer | None,
        live: Live,
        keeper: Keeper,
        now: Callable[[], float],
        *,
        has_draft: bool = True,
    ) -> None:
        self.claim, self._live, self._keeper, self._now = claim, live, keeper, now
        self.patiently = keeper.patiently
        self.draft = Draft()
        # Whether a draft may be stored of it: nobody but the turn itself stores any, and none while its end is being written.
        self._has_draft, self._is_ending = has_draft, False
        self.keys = KeyMaker(item.key for item in answer.items) if answer else KeyMaker()
        before: float = answer.row.metadata.get("elapsed_ms", 0) if answer else 0
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

    def may_save_draft(self) -> bool:
        """Whoever asks saves one now."""
        if not self._is_ending:
            self._has_draft = True
        return not self._is_ending

    async def write(self, name: str, **what: Any) -> None:
        """Returns when it stands: nothing goes on before that."""
        write = Write(name=name, claim=self.claim, has_draft=self._has_draft, **what)
        self._is_ending = self._is_ending or write.is_end
        writing = self._keeper.begin(write)
        done, _ = await asyncio.wait({writing}, timeout=CALM_SECONDS)
        if not done:
            self.publish(Saving(SAVING))
        await asyncio.shield(writing)

    def measured(self, keys: list[str], facts: dict[str, Any] | None = None) -> Measured:
        at = self.elapsed()
        durations, timings = self.draft.durations(keys, at), self.draft.timings(keys, at)
        return Measured(durations=durations, timings=timings, round=facts, elapsed=at)
