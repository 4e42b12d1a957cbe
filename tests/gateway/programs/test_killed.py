"""A server that is killed and comes back knows what it was told to keep: no thought is lost, and no provider refuses."""

from __future__ import annotations

from itertools import cycle

import pytest

from tests.support.providers import LINES
from tests.support.stage import play

from .doors import DOORS
from .habits import RENAMES, STRIPS
from .house import Program
from .talks import SCENARIO, Talk

NAME = "mine-killed"
FEW = [line for line in LINES if line.suffix in ("", "@deepseek", "@gemini")]


def test_between_two_turns(served, key, up):
    """One house dies for all of them."""
    up.add(NAME, SCENARIO)

    async def story():
        habits = cycle((STRIPS, RENAMES, RENAMES))
        talks = [
            Talk(up, Program(key(), url=served.url), door, line, NAME, next(habits))
            for door in DOORS
            for line in FEW
        ]
        up.new_requests()
        for place, talk in enumerate(talks):
            await talk.ask("Why?", stream=bool(place % 2))
        served.kill()
        served.start()
        for talk in talks:
            await talk.program.connect_anew()
            await talk.ask("And now?", stream=True)
            await talk.program.close()

    play(story())


@pytest.mark.whole
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_in_the_moment_in_which_the_program_has_heard_the_last_word(served, key, up, door):
    """So each round of a turn is asked of a house that has just died."""
    up.add(NAME, SCENARIO)

    async def story(line):
        talk = Talk(up, Program(key(), url=served.url), door, line, NAME, STRIPS, after_each=die)
        up.new_requests()
        await talk.ask("Why?", stream=True)
        await talk.program.close()

    async def die(talk):
        served.kill()
        served.start()
        await talk.program.connect_anew()

    for line in FEW:
        play(story(line))
