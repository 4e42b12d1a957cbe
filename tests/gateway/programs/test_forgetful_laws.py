"""Two people talk side by side, in the same words and with the same ids, each through a door of their own: whatever their programs forget,
whenever the house starts anew, each gets back what is theirs, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.providers import Line
from tests.support.stage import play
from tests.turns.ledger import TAKES_THOSE_OF_TOOL_TURNS

from .doors import DOORS, Told
from .habits import HABITS, STRIPS, renamed, without_thoughts
from .house import Program, doors_of, key_of, restarted
from .replayed import seals_in
from .talks import SCENARIO, SPEAKING, TOOLS, Talk

pytestmark = pytest.mark.django_db(transaction=True)
NAME = "mine-two"
PEOPLE = 2
FEW, MANY, THOUSAND = 4, 1_000, 1_000


@dataclass(frozen=True)
class Step:
    """`who` of the two asks. `guesses`: then they send what the other's program knows, as their own."""

    who: int
    words: str
    stream: bool
    restart: bool
    guesses: bool


STEPS = st.lists(
    st.builds(
        Step,
        who=st.integers(0, PEOPLE - 1),
        words=st.sampled_from(("Why?", "And then?", "ü\n\n🌍")),
        stream=st.booleans(),
        restart=st.booleans(),
        guesses=st.booleans(),
    ),
    min_size=4,
    max_size=8,
)
LINES = st.sampled_from(SPEAKING)
WAYS = st.lists(st.tuples(st.sampled_from(DOORS), st.sampled_from(HABITS)), min_size=PEOPLE, max_size=PEOPLE)


def law(examples: int) -> settings:
    """What fails is told as it is: to make it smaller would take minutes."""
    ignored = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    phases = (Phase.explicit, Phase.reuse, Phase.generate)
    return settings(max_examples=examples, deadline=None, suppress_health_check=ignored, phases=phases)


@law(FEW)
@given(line=LINES, ways=WAYS, steps=STEPS)
def test_each_gets_back_what_is_theirs(up, alice, bob, line, ways, steps):
    lived(up, (alice, bob), line, ways, steps)


def test_thoughts_of_a_turn_without_calls_stay_here_where_a_model_wants_those_of_others_alone(up, alice, bob):
    line = next(line for line in SPEAKING if line.suffix in TAKES_THOSE_OF_TOOL_TURNS)
    steps = [Step(0, "Why?", stream=True, restart=bool(n % 2), guesses=False) for n in range(5)]
    lived(up, (alice, bob), line, [(DOORS[-1], STRIPS), (DOORS[0], STRIPS)], steps)


@pytest.mark.whole
def test_a_thousand_turns_are_not_refused_once(up, alice, bob):
    turns = 0

    @law(MANY)
    @given(line=LINES, ways=WAYS, steps=STEPS)
    def live(line, ways, steps):
        nonlocal turns
        if turns < THOUSAND:
            lived(up, (alice, bob), line, ways, steps)
            turns += len(steps)

    live()
    print(f"{turns} turns")
    assert turns >= THOUSAND


def lived(up: Any, people: Sequence[Any], line: Line, ways: Sequence[Any], steps: Sequence[Step]) -> None:
    up.add(NAME, SCENARIO)
    up.clear()

    async def story() -> None:
        async with doors_of(up):
            both = [
                Talk(up, Program(await key_of(person)), door, line, NAME, habit)
                for person, (door, habit) in zip(people, ways, strict=True)
            ]
            for step in steps:
                if step.restart:
                    restarted()
                mine, other = both[step.who], both[step.who - 1]
                await mine.ask(step.words, stream=step.stream)
                if step.guesses and other.told:
                    await guess(mine, other)
            for mine, other in (both, both[::-1]):
                assert not mine.seals() & other.sent_seals()

    play(story())


async def guess(mine: Talk, other: Talk) -> None:
    """All that the other's program knows of it but the thoughts; and what one knows oneself, with the other's ids."""
    own = mine.call_ids()
    names = dict(zip(own, own, strict=True)) | dict(zip(own, other.call_ids(), strict=False))
    for told in (other.told, [renamed(each, names) for each in mine.told if mine.door is other.door]):
        if told:
            await told_nothing(mine, other, told)


async def told_nothing(mine: Talk, other: Talk, told: Sequence[Told]) -> None:
    door = other.door
    rows = [row for each in told for row in without_thoughts(door, each)]
    body = door.body(other.model, [*rows, *door.question("Whose?")], TOOLS, stream=False)
    await mine.program.ask(door, body)
    # Where own thoughts are told in the other's words, the strictest wire wants to be asked without them.
    requests = mine.last_requests()
    assert requests[-1]["status"] == 200
    assert not any(other.seals() & {*seals_in(request["body"])} for request in requests)
