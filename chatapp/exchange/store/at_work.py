"""A process at something long: it says every second that it is at it, rests so often that others get in, and lets go of what is somebody
else's now."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Generic, TypeVar

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from ..models import Archive, Import

# Whoever says nothing for so long is dead.
DEAD = timedelta(seconds=10)
BEAT_SECONDS = 1.0
# So long it works, and so long it rests: others have the interpreter then.
_WORKS, _RESTS = 0.02, 0.008
Row = TypeVar("Row", Import, Archive)


class Abandoned(Exception):
    """It is somebody else's now, or nobody wants it any more."""


def nobody_at_it() -> Q:
    return Q(touched_at=None) | Q(touched_at__lt=Now() - DEAD)


def _nothing() -> None:
    pass


@dataclass(slots=True)
class LongJob(Generic[Row]):
    """One process at one import, or at one zip, as it was when it took that. `wanted`: False when the process is about to end."""

    row: Row
    runner: str
    wanted: Callable[[], bool] = lambda: True
    _beaten: float = field(default_factory=time.monotonic)
    _rested: float = field(default_factory=time.monotonic)

    @property
    def mine(self) -> QuerySet[Row]:
        """None where it was taken over, or has ended."""
        found: QuerySet[Row] = type(self.row)._default_manager.filter(
            pk=self.row.pk, runner=self.runner, state=self.row.state
        )
        return found

    def go_on(self, said: Callable[[], object] = _nothing, /, **became: Any) -> None:
        """Called again and again. `said`: what is done besides when it says that it is at it, and what has become of the row."""
        now = time.monotonic()
        if now - self._rested > _WORKS:
            time.sleep(_RESTS)
            self._rested = time.monotonic()
        if now - self._beaten > BEAT_SECONDS:
            self.say(**became)
            said()

    def say(self, **became: Any) -> None:
        self._beaten = time.monotonic()
        if not self.wanted():
            raise Abandoned
        self.hold(**became)

    def wait(self) -> None:
        """For somebody else."""
        time.sleep(BEAT_SECONDS)
        self.say()

    def hold(self, **became: Any) -> None:
        """It is still at this process, and to the end of the transaction nobody takes it over or ends it."""
        if not self.mine.update(touched_at=Now(), **became):
            raise Abandoned

    def release(self) -> None:
        """Somebody else may take it at once."""
        self.mine.update(touched_at=None, runner="")
