"""What a running turn does, as its own process tells it while it runs."""

from __future__ import annotations

import asyncio

import pytest

from chatapp.core import events
from chatapp.core.draft import Draft
from chatapp.core.items import Item, Kind
from chatapp.operation.part.doing import Does, Doing, doing
from chatapp.turns.state import SAVING
from tests.support.script import held, response, text, thought
from tests.support.stage import ScriptedCatalog, ScriptedProvider, play, stage


def drafted(*told: tuple[float, events.Event]) -> Draft:
    draft = Draft()
    for at, event in told:
        draft.apply(event, at)
    return draft


ASKED = (0.0, events.Asked(0))
THINKS = (100.0, events.ItemStarted("rs_1", Kind.REASONING))
THOUGHT = (900.0, events.ItemDone(Item(kind=Kind.REASONING, key="rs_1")))
WRITES = (1000.0, events.ItemStarted("msg_1", Kind.ASSISTANT_MESSAGE))
RUNS = (2000.0, events.ItemStarted("part-2", Kind.TOOL_RESULT, "clock", "call_1"))
BUSY = (3000.0, events.Retrying(4.0, "It is busy"))
SAVES = (3500.0, events.Saving(SAVING))


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ((ASKED,), Doing(Does.ASKS, 5000)),
        ((ASKED, THINKS), Doing(Does.THINKS, 4900)),
        ((ASKED, THINKS, THOUGHT), Doing(Does.ASKS, 4100)),
        ((ASKED, THINKS, THOUGHT, WRITES), Doing(Does.WRITES, 4000)),
        ((ASKED, THINKS, THOUGHT, RUNS), Doing(Does.CALLS, 3000, "clock")),
        ((ASKED, BUSY), Doing(Does.RETRIES, 2000)),
        ((ASKED, THINKS, THOUGHT, WRITES, SAVES), Doing(Does.SAVES, 1500)),
    ],
)
def test_what_a_turn_does_is_told_by_what_was_heard_last(told, found):
    assert doing(drafted(*told), 5000.0) == found


@pytest.mark.django_db(transaction=True)
def test_a_turn_that_thinks_is_seen_to_think_while_it_runs(tmp_path):
    reached = asyncio.Event()
    script = ScriptedProvider([held(thought("Let me", key="rs_1"), reached=reached), response(text("Here."))])

    async def story():
        async with stage(ScriptedCatalog(script), tmp_path) as on:
            assert on.engine.live.here() == ()
            answer = await on.begin()
            await reached.wait()
            (((message, _), running),) = on.engine.live.here()
            assert message == answer
            assert doing(running.draft, running.elapsed()).does is Does.THINKS
            await on.engine.stop(answer)
            await on.engine.runner.wait(answer)
            assert on.engine.live.here() == ()

    play(story())
