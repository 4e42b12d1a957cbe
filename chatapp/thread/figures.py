"""The numbers of an answer's details, each by itself: thinking, tools, first sign, all of it, tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..core.durations import in_short
from ..core.plural import many
from ..core.recorded import Recorded, Round

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class AnswerFigure:
    name: str
    words: str


def figures_of(
    recorded: Recorded, thoughts: Sequence[int | None], tools: Sequence[int | None], *, live: bool
) -> tuple[AnswerFigure, ...]:
    """`thoughts` and `tools` are what each of them took, None where nobody measured it."""
    return figures_of_several([recorded], thoughts, tools, live=live)


def figures_of_several(
    recorded: Sequence[Recorded], thoughts: Sequence[int | None], tools: Sequence[int | None], *, live: bool
) -> tuple[AnswerFigure, ...]:
    """Of answers that followed each other: added up, and the first sign of the first."""
    made = []
    if thoughts:
        made.append(AnswerFigure("Thinking", _sum(thoughts, in_short, " in", "step")))
    if tools:
        made.append(AnswerFigure("Tools", _sum(tools, in_tenths, ",", "call")))
    first = next((one.rounds[0].first_sign for one in recorded[:1] if one.rounds), None)
    made.append(AnswerFigure("To the first sign", in_tenths(first)))
    made.append(AnswerFigure("In all", "still running" if live else _elapsed(recorded)))
    return (*made, *_tokens([facts for one in recorded for facts in one.rounds]))


def in_tenths(ms: int | None) -> str:
    return UNKNOWN if ms is None else in_short(ms, tenths=True)


def _elapsed(recorded: Sequence[Recorded]) -> str:
    known = [one.elapsed for one in recorded if one.elapsed is not None]
    said = in_tenths(sum(known)) if known else UNKNOWN
    return f"at least {said}" if known and len(known) < len(recorded) else said


def _sum(durations: Sequence[int | None], words: Callable[[int], str], joint: str, thing: str) -> str:
    known = [ms for ms in durations if ms is not None]
    missing = len(durations) - len(known)
    said = words(sum(known)) if known else UNKNOWN
    said += f"{joint} {many(len(durations), thing)}"
    return f"{said}, {missing} not measured" if known and missing else said


def _tokens(rounds: Sequence[Round]) -> list[AnswerFigure]:
    if not rounds:
        return []
    known = any(name in facts.usage for facts in rounds for name in ("input", "output"))
    said = f"{_total(rounds, 'input')} in, {_total(rounds, 'output')} out" if known else UNKNOWN
    made = [AnswerFigure("Tokens", said)]
    if any(facts.usage.get("cached") for facts in rounds):
        made.append(AnswerFigure("From the cache", f"{_total(rounds, 'cached')} of those in"))
    if any(facts.usage.get("reasoning") for facts in rounds):
        made.append(AnswerFigure("Tokens of thought", f"{_total(rounds, 'reasoning')} of those out"))
    return made


def _total(rounds: Sequence[Round], name: str) -> str:
    known = [facts.usage[name] for facts in rounds if name in facts.usage]
    if not known:
        return UNKNOWN
    return f"{sum(known):,}" if len(known) == len(rounds) else f"at least {sum(known):,}"
