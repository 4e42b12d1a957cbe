"""How long each item took: measured here from its events, and worded here for people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Any

from . import events
from .items import Item, Kind
from .plural import many

# A thought whose first and last event are this close came in one piece: its own events do not say how long it took.
TOGETHER_MS = 20.0


@dataclass(slots=True)
class Span:
    """Milliseconds from the start of the turn. `before`: the last sign before this item's first one.
    `inferred`: the start is that of the silence before it. `last_words`: where a text ends, whenever that is said."""

    kind: Kind
    start: float
    end: float | None = None
    inferred: bool = False
    before: float = 0.0
    last_words: float | None = None

    def finish(self, at: float) -> None:
        if self.end is not None:
            return
        self.end = max(at if self.last_words is None else self.last_words, self.start)
        together = self.end - self.start <= TOGETHER_MS
        if self.kind is Kind.REASONING and together and self.before < self.start:
            self.start, self.inferred = self.before, True

    def until(self, at: float) -> float:
        return at if self.end is None else self.end

    def ms(self, at: float) -> int:
        return max(0, round(self.until(at) - self.start))

    def as_timing(self, at: float) -> dict[str, Any]:
        end = self.until(at)
        timing: dict[str, Any] = {"start": round(self.start), "end": max(round(self.start), round(end))}
        return timing | {"inferred": True} if self.inferred else timing


class ReasoningClock:
    """Told every event of a turn and its moment, it knows the span of every item."""

    def __init__(self) -> None:
        self.spans: dict[str, Span] = {}
        self.first_sign: float | None = None
        self._thoughts: list[Span] = []
        self._silent_since = 0.0
        self._asked_at = 0.0

    def observe(self, event: events.Event, at: float) -> int | None:
        """Milliseconds when this event finishes a reasoning item, else None."""
        took = None
        match event:
            # The case of nearly all events stands first.
            case events.ItemDelta():
                self._follow(event.key, at)
            case events.Asked():
                self._asked_at, self.first_sign = at, None
            case events.Retrying():
                self._forget(event.lost)
                self._asked_at = at = at + event.seconds * 1000
            case events.ItemStarted():
                self._start(event.key, event.kind, at)
            case events.ItemDone():
                span = self._finish(event.item, at)
                took = span.ms(at) if span.kind is Kind.REASONING else None
                # Chat completions say that a text has ended only when the next item begins, after a silence.
                at = max(self._silent_since, span.until(at))
            case (
                events.ItemAmended()
                | events.Usage()
                | events.Skipped()
                | events.Withheld()
                | events.ResponseEnded()
                | events.Repaired()
                | events.ItemsStored()
                | events.Saving()
                | events.TurnEnded()
            ):
                return None
        self._silent_since = at
        return took

    def _forget(self, lost: Iterable[str]) -> None:
        """Whoever thinks anew is timed anew."""
        for key in lost:
            gone, self.first_sign = self.spans.pop(key, None), None
            self._thoughts = [span for span in self._thoughts if span is not gone]

    def _start(self, key: str, kind: Kind, at: float) -> Span:
        if self.first_sign is None:
            self.first_sign = max(0.0, at - self._asked_at)
        self._end_thoughts_before(kind, at)
        span = self.spans[key] = Span(kind, at, before=min(at, self._silent_since))
        if kind is Kind.REASONING:
            self._thoughts.append(span)
        return span

    def _follow(self, key: str, at: float) -> None:
        if span := self.spans.get(key):
            self._end_thoughts_before(span.kind, at)
            if span.kind is Kind.ASSISTANT_MESSAGE:
                span.last_words = at

    def _end_thoughts_before(self, kind: Kind, at: float) -> None:
        """Whoever speaks or calls has stopped thinking."""
        if self._thoughts and kind in (Kind.ASSISTANT_MESSAGE, Kind.TOOL_CALL):
            for span in self._thoughts:
                span.finish(at)
            self._thoughts.clear()

    def _finish(self, item: Item, at: float) -> Span:
        span = self.spans.get(item.key) or self._start(item.key, item.kind, at)
        span.finish(at)
        return span


def in_words(ms: int) -> str:
    """Rounded up, so that no thought took "0 seconds" and no running number ever falls."""
    seconds = max(1, ceil(ms / 1000))
    if seconds < 60:
        return many(seconds, "second")
    if seconds < 3600:
        return _two(seconds // 60, "min", seconds % 60, "s")
    minutes = ceil(seconds / 60)
    return _two(minutes // 60, "h", minutes % 60, "min")


def in_short(ms: int, *, tenths: bool = False) -> str:
    """The same for tables: "23 s"; with tenths "1.2 s" below ten seconds."""
    if tenths and ms <= 9900:
        return f"{max(1, ceil(ms / 100)) / 10:.1f} s"
    seconds = max(1, ceil(ms / 1000))
    return f"{seconds} s" if seconds < 60 else in_words(ms)


def together(durations: Iterable[int], *, tenths: bool = False) -> int:
    """What several took, as each of them is shown: a sum agrees with its parts."""
    return sum(_as_shown(ms, tenths=tenths) for ms in durations)


def _as_shown(ms: int, *, tenths: bool) -> int:
    step = 100 if tenths and ms <= 9900 else 1000
    return max(1, ceil(ms / step)) * step


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large} {large_unit} {small} {small_unit}" if small else f"{large} {large_unit}"


def thought_in_words(ms: int | None, *, cut: str = "") -> str:
    """What a finished thought is called. `cut` says how it was cut short ("stopped")."""
    words = "Thought" if ms is None else f"Thought for {in_words(ms)}"
    return f"{words}, {cut}" if cut else words


def thoughts_in_words(durations: list[int | None]) -> str:
    """One line for all thoughts of an answer: the sum of what is known, and in how many steps."""
    known = [ms for ms in durations if ms is not None]
    words = thought_in_words(together(known) if known else None)
    return words if len(durations) < 2 else f"{words} in {len(durations)} steps"


def thinking_in_words(ms: float) -> str:
    """While it thinks: whole seconds that have passed, at least one."""
    seconds = max(1, int(ms // 1000))
    if seconds < 60:
        return f"Thinking for {seconds} s"
    if seconds < 3600:
        return f"Thinking for {_two(seconds // 60, 'min', seconds % 60, 's')}"
    return f"Thinking for {_two(seconds // 3600, 'h', seconds % 3600 // 60, 'min')}"
