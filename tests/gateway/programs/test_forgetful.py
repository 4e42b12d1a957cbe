"""Programs that forget thoughts, through every door, in front of every wire: no provider refuses, and every answer goes back as it came,
with the thoughts that may, value for value."""

from __future__ import annotations

from itertools import cycle, product

import pytest

from chatapp.gateway.models import KeptResponse
from chatapp.store import in_thread
from tests.support.stage import play

from .doors import DOORS
from .habits import HABITS, RENAMES, STRIPS
from .house import Program, doors_of, key_of, restarted
from .replayed import seals_in
from .talks import SCENARIO, SPEAKING, TOOLS, Talk

pytestmark = pytest.mark.django_db(transaction=True)
NAME = "mine-forgotten"
FEW = [line for line in SPEAKING if line.suffix in ("", "@deepseek", "@gemini")]
WAYS = [(*way, habit) for way, habit in zip(product(DOORS, FEW), cycle(HABITS), strict=False)]


def named(value):
    return getattr(value, "name", None) or str(value)


def told(up, owner, door, line, habit):
    """A few questions, of which some are asked of a house that was started anew."""
    up.add(NAME, SCENARIO)

    async def story():
        async with doors_of(up):
            talk = Talk(up, Program(await key_of(owner)), door, line, NAME, habit)
            await talk.ask("Why?", stream=True)
            restarted()
            await talk.ask("And then?", stream=False)
            await talk.ask("And now?", stream=True)

    play(story())


@pytest.mark.parametrize(("door", "line", "habit"), WAYS, ids=named)
def test_what_a_program_forgets_goes_back_as_it_came(up, alice, door, line, habit):
    told(up, alice, door, line, habit)


@pytest.mark.whole
@pytest.mark.parametrize("habit", HABITS, ids=named)
@pytest.mark.parametrize("door", DOORS, ids=named)
@pytest.mark.parametrize("line", SPEAKING, ids=str)
def test_it_does_through_every_door_in_front_of_every_wire(up, alice, door, line, habit):
    told(up, alice, door, line, habit)


@pytest.mark.parametrize("door", DOORS, ids=named)
def test_a_history_whose_beginning_was_cut_away_and_whose_ids_were_lost_is_missed_and_not_refused(
    up, alice, door
):
    up.add(NAME, SCENARIO)

    async def story(line):
        async with doors_of(up):
            program = Program(await key_of(alice))
            talk = Talk(up, program, door, line, NAME, RENAMES)
            await talk.ask("Why?", stream=True)
            asked = [*talk.told[1:], door.question("And?")]
            rows = [row for each in (door.question("Go on."), *asked) for row in each]
            answered = await program.ask(door, door.body(line.model(NAME), rows, TOOLS, stream=False))
            assert answered.reasoning["restored"] == 0
            assert answered.reasoning["missed"] == 3
            (request,) = talk.last_requests()
            assert request["status"] == 200
            assert not talk.seals() & {*seals_in(request["body"])}

    # Gemini's seals stand in the calls themselves.
    for line in FEW[:-1]:
        play(story(line))


@pytest.mark.parametrize("door", DOORS, ids=named)
def test_the_demo_s_thoughts_come_back_too(up, alice, door):
    async def story():
        async with doors_of(up):
            program, thoughts = Program(await key_of(alice)), 0
            history = [door.question("What is the weather in Rome?")]
            for place in range(4):
                rows = [row for each in history for row in each]
                body = door.body("demo:thinker", rows, TOOLS, stream=bool(place % 2))
                answered = await program.ask(door, body)
                assert answered.reasoning == {"restored": thoughts, "missed": 0, "dropped": 0}
                answer = door.answer(answered.whole)
                results = {call.id: "sunny" for call in door.calls(answer)}
                history += [STRIPS.change(door, answer, place)]
                history += [door.results(results) if results else door.question("And?")]
                thoughts = await in_thread(_thoughts)()
                restarted()
            assert thoughts

    play(story())


def _thoughts():
    return sum(KeptResponse.objects.values_list("thoughts", flat=True))
