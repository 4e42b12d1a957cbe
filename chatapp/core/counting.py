"""What an answer adds to the figures: all of it when its turn ends, and only what came since when it goes on and ends again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from .recorded import Recorded, Round
from .recorded import count as whole
from .spread import bucket

# In an answer's metadata: what was counted of it, ending by ending.
COUNTED = "counted"
TOKENS = ("input", "cached", "output", "reasoning")
THOUGHT, FIRST, ENDED, DROPPED = "thought:", "first:", "ended:", "dropped:"
# How long an answer thought in all, by how long its text is and by how much effort was asked for; and calls of tools.
OF_LENGTH, OF_EFFORT, TOOL = "length:", "effort:", "tool:"
CALLS, CALLS_FAILED, CALLS_MS = "calls", "failed", "ms"
# Tokens of an answer's text: it is of the first of these that it does not reach, or longer than all.
LENGTHS = (100, 300, 1000, 3000)
# Words become names of counters, of which nobody may make many.
LONGEST = 40
Cost = Callable[[Mapping[str, int]], int]


@dataclass(frozen=True, slots=True)
class CallMade:
    """A call of a tool, in the round that was told its result. `ms`: how long it was at work, where that was measured."""

    round: int
    name: str
    failed: bool
    ms: int


@dataclass(frozen=True, slots=True)
class Portion:
    """One ending: the day, how it ended, and how many rounds and thoughts the answer had by then, counted before or now. `cost` in
    millionths of a dollar, None where nobody knew the price. Without a day it is not ours to count: it was copied."""

    day: str
    ended: str
    rounds: int
    thoughts: int
    cost: int | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def portions(metadata: object) -> tuple[Portion, ...]:
    """As they were kept. A row that is damaged ends the list."""
    kept = metadata.get(COUNTED) if isinstance(metadata, dict) else None
    found: list[Portion] = []
    for row in kept if isinstance(kept, list) else ():
        portion = _portion(row)
        if portion is None:
            break
        found.append(portion)
    return tuple(found)


def newest(metadata: object, *, day: str, ended: str, cost: Cost | None) -> Portion:
    """What is to be counted now that the turn has ended."""
    recorded, before = Recorded(metadata), portions(metadata)
    rounds = recorded.rounds[before[-1].rounds if before else 0 :]
    paid = sum(cost(facts.usage) for facts in rounds) if cost else None
    return Portion(day, ended, len(recorded.rounds), len(recorded.thoughts), paid)


def copied(metadata: object) -> Portion:
    """What was said before, and elsewhere."""
    recorded = Recorded(metadata)
    return Portion("", "", len(recorded.rounds), len(recorded.thoughts))


def counts(
    metadata: object,
    portion: Portion,
    before: Portion | None,
    *,
    effort: str = "",
    calls: Iterable[CallMade] = (),
) -> Counter[str]:
    """What this portion adds to those `before` it. `calls`: all of the answer."""
    recorded = Recorded(metadata)
    first = before.rounds if before else 0
    rounds = recorded.rounds[first : portion.rounds]
    thoughts = [*recorded.thoughts.values()][before.thoughts if before else 0 : portion.thoughts]
    made = Counter({"turns": 1, f"{ENDED}{portion.ended[:LONGEST]}": 1})
    made["answers"] = 0 if before else 1
    made["thoughts"], made["thinking_ms"] = len(thoughts), sum(thoughts)
    made.update(f"{THOUGHT}{bucket(ms)}" for ms in thoughts)
    _add_rounds(made, rounds)
    _add_thinking(made, sum(thoughts), effort)
    for call in calls:
        if first <= call.round < portion.rounds:
            _add_call(made, call)
    made["cost"] = portion.cost or 0
    made["unpriced"] = int(portion.cost is None and any(facts.usage for facts in rounds))
    return +made


def _add_rounds(made: Counter[str], rounds: Sequence[Round]) -> None:
    for facts in rounds:
        made.update({name: facts.usage.get(name, 0) for name in TOKENS})
        made["replayed"] += facts.replayed or 0
        made.update({f"{DROPPED}{reason[:LONGEST]}": number for reason, number in facts.dropped.items()})
    first = rounds[0].first_sign if rounds else None
    if first is not None:
        made[f"{FIRST}{bucket(first)}"] += 1


def _add_thinking(made: Counter[str], ms: int, effort: str) -> None:
    """An answer that did not think is no measure of how long one of its length does."""
    if not ms:
        return
    if effort:
        made[f"{OF_EFFORT}{effort[:LONGEST]}:{bucket(ms)}"] += 1
    written = made["output"] - made["reasoning"]
    if written > 0:
        step = next((n for n, most in enumerate(LENGTHS) if written < most), len(LENGTHS))
        made[f"{OF_LENGTH}{step}:{bucket(ms)}"] += 1


def _add_call(made: Counter[str], call: CallMade) -> None:
    name = f"{TOOL}{call.name[:LONGEST]}"
    made.update(
        {f"{name}:{CALLS}": 1, f"{name}:{CALLS_FAILED}": int(call.failed), f"{name}:{CALLS_MS}": call.ms}
    )


def _portion(row: object) -> Portion | None:
    if not isinstance(row, dict):
        return None
    day, ended, cost = str(row.get("day")), row.get("ended"), row.get("cost")
    rounds, thoughts = whole(row.get("rounds")), whole(row.get("thoughts"))
    if not _is_day(day) or not isinstance(ended, str) or rounds is None or thoughts is None:
        return None
    return Portion(day, ended, rounds, thoughts, whole(cost))


def _is_day(text: str) -> bool:
    try:
        return not text or bool(date.fromisoformat(text))
    except ValueError:
        return False
