"""Reads back what was recorded of an answer while it was made. It may have come from anywhere and be damaged:
what cannot be right counts as not recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from .named import number
from .values import count_in, fields, rows

# Three years in milliseconds, and more tokens than any window: beyond it a number is damage.
MOST = 100_000_000_000
MOST_LINES, LONGEST_LINE = 60, 300
# In the metadata of an answer that a program asked for: each of its requests is counted by itself.
BY_PROGRAM = "by_program"
# The round with which such an answer was gone on with by a person: what was called before it, the program called.
BY_PROGRAM_BEFORE = "by_program_before"
# By whom an answer was suggested that its owner took as a branch.
SUGGESTED_BY = "suggested_by"
# How many of its first rounds were not made here: a program told of them.
TOLD_ROUNDS = "told_rounds"


class LeftHow(StrEnum):
    """Why nobody gives an answer of a program's run the results that it waits for."""

    WENT_ON = "went on"
    DEPARTED = "departed"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Milliseconds from the start of the turn."""

    start: int
    end: int
    inferred: bool = False
    cut: bool = False

    @property
    def ms(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Gap:
    """When an answer stopped and when it went on, in seconds since 1970."""

    stopped: int
    went_on: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One request and what it cost; None and empty where nothing was recorded. `withheld`: thoughts that the provider took out
    by itself; `restored`: that were put back, since a program had left them out; `missed`: that could not be; `skipped`: frames of its
    answer that nobody could read; `shape`: what it was made of, in lines."""

    number: int | None = None
    model: str = ""
    first_sign: int | None = None
    messages: int | None = None
    left_out: int | None = None
    replayed: int | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    restored: int | None = None
    missed: int | None = None
    withheld: Mapping[str, int] = field(default_factory=dict)
    skipped: int | None = None
    repaired: tuple[str, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)
    shape: tuple[str, ...] = ()

    @property
    def fills(self) -> int | None:
        """Tokens of the window that are taken when this round is over."""
        known = [self.usage[name] for name in ("input", "output") if name in self.usage]
        return sum(known) if "input" in self.usage else None


class Recorded:
    """The metadata of one answer, read where it is asked for."""

    def __init__(self, metadata: object) -> None:
        self._metadata = fields(metadata)

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self._metadata

    @cached_property
    def stretches(self) -> dict[str, Stretch]:
        """When each item came, by its key."""
        spans = ((key, _stretch(span)) for key, span in fields(self._metadata.get("timings_ms")).items())
        return {key: span for key, span in spans if span}

    @cached_property
    def thoughts(self) -> dict[str, int]:
        """How long each thought took, by its key."""
        return _counts(self._metadata.get("reasoning_durations_ms"))

    @cached_property
    def rounds(self) -> tuple[Round, ...]:
        return tuple(map(_round, rows(self._metadata.get("rounds"))))

    @property
    def is_by_program(self) -> bool:
        return self._metadata.get(BY_PROGRAM) is True

    @property
    def suggested_by(self) -> str:
        """Whose name it was suggested under, where a reviewer did."""
        name = self._metadata.get(SUGGESTED_BY)
        return name[:LONGEST_LINE] if isinstance(name, str) else ""

    @property
    def elapsed(self) -> int | None:
        return count(self._metadata.get("elapsed_ms"))

    @cached_property
    def gaps(self) -> dict[int, Gap]:
        """Where it was continued, by the rounds with which it went on."""
        gaps = ((number(name), _gap(gap)) for name, gap in fields(self._metadata.get("gaps")).items())
        return {name: gap for name, gap in gaps if name is not None and gap}

    def gap_after(self, round: int) -> Gap | None:
        """Between this round and the next one that a person asked for."""
        return self.gaps.get(min((number for number in self.gaps if number > round), default=-1))

    @property
    def copied(self) -> int:
        """So many of its rounds were copied from an answer of the same run, which went on in another way."""
        return count(self._metadata.get("copied")) or 0

    def is_called_by_program(self, round: int) -> bool:
        """Whether the program that asked made the calls of this round itself."""
        before = count(self._metadata.get(BY_PROGRAM_BEFORE)) or 0
        return self._metadata.get(BY_PROGRAM) is True or round < before

    @property
    def goes_on_at(self) -> int:
        """The round with which the answer was continued; 0 where it never was."""
        return count(self._metadata.get("goes_on_at")) or 0


def count(value: object) -> int | None:
    """A whole number that can be right."""
    return count_in(value, MOST)


def _gap(gap: object) -> Gap | None:
    stopped, went_on = (count(fields(gap).get(name)) for name in ("stopped", "went_on"))
    return Gap(stopped, went_on) if stopped is not None and went_on is not None else None


def _stretch(span: object) -> Stretch | None:
    values = fields(span)
    start, end = count(values.get("start")), count(values.get("end"))
    if start is None or end is None or end < start:
        return None
    return Stretch(start, end, values.get("inferred") is True, values.get("cut") is True)


def _round(facts: Mapping[str, Any]) -> Round:
    model, repaired = facts.get("model"), facts.get("repaired")
    return Round(
        number=count(facts.get("round")),
        model=model if isinstance(model, str) else "",
        first_sign=count(facts.get("first_event_ms")),
        messages=count(facts.get("messages")),
        left_out=count(facts.get("left_out")),
        replayed=count(facts.get("replayed")),
        dropped=_counts(facts.get("dropped")),
        restored=count(facts.get("restored")),
        missed=count(facts.get("missed")),
        withheld=_counts(facts.get("withheld")),
        skipped=count(facts.get("skipped")),
        repaired=tuple(how for how in repaired if isinstance(how, str)) if isinstance(repaired, list) else (),
        usage=_counts(facts.get("usage")),
        shape=_lines(facts.get("shape")),
    )


def _lines(value: object) -> tuple[str, ...]:
    lines = tuple(value) if isinstance(value, list) else ()
    right = len(lines) <= MOST_LINES and all(isinstance(it, str) and len(it) <= LONGEST_LINE for it in lines)
    return lines if right else ()


def _counts(values: object) -> dict[str, int]:
    counted = ((name, count(value)) for name, value in fields(values).items())
    return {name: value for name, value in counted if value is not None}
