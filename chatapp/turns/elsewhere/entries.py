"""Some of an attempt's events, one after the other, as they are told to another process."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from ...core.event_values import event_of, values_of
from ..live import LiveEvent

# A reader who begins anew gets a long turn in pieces of so many events.
MOST = 200
_as_json = json.JSONEncoder(separators=(",", ":")).encode


class Unreadable(Exception):
    """A process of another version says what this one does not know."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The events above number `after`. `origin`: when the turn began, in milliseconds, by the clock that all who hear of it share.
    `facts`: what was sent for the open round, where that is new."""

    after: int
    origin: float
    said: Sequence[LiveEvent]
    facts: dict[str, Any] | None = None

    @property
    def n(self) -> int:
        return self.said[-1].n if self.said else self.after

    def to_text(self) -> str:
        rows = [[said.n, round(said.at, 3), _lengths(said), *values_of(said.event)] for said in self.said]
        return _as_json([self.after, self.origin, rows, self.facts])

    @classmethod
    def of_text(cls, text: str | bytes) -> Entry:
        try:
            after, origin, rows, facts = json.loads(text)
            said = [LiveEvent(n, at, event_of(values), _ends(lengths)) for n, at, lengths, *values in rows]
        except (ValueError, TypeError, KeyError) as error:
            raise Unreadable from error
        return cls(after, origin, said, facts)


def _lengths(said: LiveEvent) -> list[int]:
    """Of the letters that were joined."""
    return [end - start for start, end in pairwise([0, *said.ends])] if said.ends else []


def _ends(lengths: list[int]) -> array[int] | None:
    return array("L", accumulate(lengths)) if lengths else None
