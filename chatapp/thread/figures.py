"""The numbers of an answer's details, each by itself: thinking, tools, first sign, all of it, tokens, cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.counting import Portion, portions
from ..core.durations import in_short, together
from ..core.plural import many
from ..core.recorded import Recorded, Round, Stretch
from ..pages.words.amounts import to_the_hundredth_of_a_cent

UNKNOWN = "unknown"
COST, NOT_KNOWN = "Cost", "not known"


@dataclass(frozen=True, slots=True)
class AnswerFigure:
    name: str
    words: str


def figures_of(
    recorded: Recorded, thoughts: Sequence[int | None], tools: Sequence[Stretch | None], *, live: bool
) -> tuple[AnswerFigure, ...]:
    """`thoughts`: what each of them took; `tools`: when each was at work. None where nobody measured it."""
    return figures_of_several([recorded], thoughts, tools, live=live)


def figures_of_several(
    recorded: Sequence[Recorded],
    thoughts: Sequence[int | None],
    tools: Sequence[Stretch | None],
    *,
    live: bool,
) -> tuple[AnswerFigure, ...]:
    """Of answers that followed each other: added up, and the first sign of the first. `tools`: one answer behind the other."""
    made = []
    if thoughts:
        known = [ms for ms in thoughts if ms is not None]
        said = in_short(together(known)) if known else UNKNOWN
        made.append(AnswerFigure("Thinking", f"{said} in {_many(thoughts, 'step')}"))
    if tools:
        at_work = [span.ms for span in side_by_side(tools)]
        said = in_short(together(at_work, tenths=True), tenths=True) if at_work else UNKNOWN
        made.append(AnswerFigure("Tools", f"{said}, {_many(tools, 'call')}"))
    first = next((one.rounds[0].first_sign for one in recorded[:1] if one.rounds), None)
    made.append(AnswerFigure("To the first sign", in_tenths(first)))
    made.append(AnswerFigure("In all", "still running" if live else _elapsed(recorded)))
    made += _token_figures([facts for one in recorded for facts in one.rounds])
    return (*made, *_cost(recorded))


def in_tenths(ms: int | None) -> str:
    return UNKNOWN if ms is None else in_short(ms, tenths=True)


def _elapsed(recorded: Sequence[Recorded]) -> str:
    known = [one.elapsed for one in recorded if one.elapsed is not None]
    said = in_tenths(sum(known)) if known else UNKNOWN
    return f"at least {said}" if known and len(known) < len(recorded) else said


def side_by_side(spans: Sequence[Stretch | None]) -> list[Stretch]:
    """Those that ran at the same time as one: nobody waited for each of them."""
    made: list[Stretch] = []
    for span in sorted(filter(None, spans), key=lambda span: span.start):
        if made and span.start < made[-1].end:
            made[-1] = replace(made[-1], end=max(made[-1].end, span.end))
        else:
            made.append(span)
    return made


def _many(measured: Sequence[Any], thing: str) -> str:
    missing = measured.count(None)
    said = many(len(measured), thing)
    return f"{said}, {missing} not measured" if 0 < missing < len(measured) else said


def _token_figures(rounds: Sequence[Round]) -> list[AnswerFigure]:
    if not rounds:
        return []
    known = any(name in facts.usage for facts in rounds for name in ("input", "output"))
    said = (
        f"{_tokens_in_all(rounds, 'input')} in, {_tokens_in_all(rounds, 'output')} out" if known else UNKNOWN
    )
    made = [AnswerFigure("Tokens", said)]
    if any(facts.usage.get("cached") for facts in rounds):
        made.append(AnswerFigure("From the cache", f"{_tokens_in_all(rounds, 'cached')} of those in"))
    if any(facts.usage.get("reasoning") for facts in rounds):
        made.append(AnswerFigure("Tokens of thought", f"{_tokens_in_all(rounds, 'reasoning')} of those out"))
    return made


def _cost(recorded: Sequence[Recorded]) -> list[AnswerFigure]:
    """Where it was counted, and tokens are known that could have a price."""
    counted = [portion for one in recorded for portion in portions(one.metadata)]
    if not counted or not any(facts.usage for one in recorded for facts in one.rounds):
        return []
    return [AnswerFigure(COST, _in_dollars(counted))]


def _in_dollars(counted: Sequence[Portion]) -> str:
    known = [portion.cost for portion in counted if portion.cost is not None]
    if not known:
        return NOT_KNOWN
    said = to_the_hundredth_of_a_cent(sum(known))
    return said if len(known) == len(counted) else f"at least {said}"


def _tokens_in_all(rounds: Sequence[Round], name: str) -> str:
    known = [facts.usage[name] for facts in rounds if name in facts.usage]
    if not known:
        return UNKNOWN
    return f"{sum(known):,}" if len(known) == len(rounds) else f"at least {sum(known):,}"
