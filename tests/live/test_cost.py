"""What a question in one open tab costs, counted at the database's driver and at the templates."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from chatapp.core.events import Event
from chatapp.core.items import KeyMaker
from chatapp.providers.base import Ask
from tests.conversations.asking_tools import Toolbox, furnished
from tests.support.counting import counted
from tests.support.front import HTMX
from tests.support.listening import Socket
from tests.support.script import response, text, thought
from tests.support.stage import play

pytestmark = pytest.mark.django_db(transaction=True)

# Who asks; their conversation, the limit, the answer above, question and answer, its words, how they are found; how many questions there
# are, which a page asks once; what is sent. In the end: the answer's row, what it says and how that is found, its price, person, with what
# stands of the model, and model, its row; then the list's row, and whether whoever is told is signed in still.
# One statement more where the page looks before its turn has begun to speak.
STATEMENTS = 19
# All else is drawn in stencils, which stand there when the first page listens. This is one whose shape may be new: how many marks it has
# depends on how long the answer took.
TIMELINE = "thread/_timeline.html"


def _has_ended(said: list[list]) -> bool:
    return any(word[:2] == ["state", "version"] and word[2] for word in said)


def _rows(said: list[list]) -> int:
    """How often the conversation was put into the list."""
    return sum(word[0] == "row" for word in said)


@pytest.mark.parametrize("tabs", [1, 2])
def test_a_question_costs_no_more_than_this(alice, monkeypatch, tabs):
    """A second tab draws nothing of its own, and asks for nothing but for a look before the turn has begun to speak."""
    script, asked = response(thought(), text()), asyncio.Event()

    async def answers(ask: Ask, keys: KeyMaker) -> AsyncIterator[Event]:
        """It begins when its page shows the question, as those of providers do."""
        await asked.wait()
        async for event in script(ask, keys):
            yield event

    async def story():
        with counted(monkeypatch) as count:
            async with furnished(alice, Toolbox(), script, answers) as (on, she):
                first, place = (await on.ask("Why?")).pk, f"c/{on.conversation.pk}/"
                every = [await Socket(f"/ws/{place}?leaf={first}", she.session).open() for _ in range(tabs)]
                for tab in every:
                    await tab.sees(lambda it: _has_ended(it.said))
                    tab.said.clear()
                count.statements.clear(), count.renderings.clear()
                form = {"text": "And?", "parent": str(first), "model": "scripted:model"}
                await she.post(f"/{place}ask/", form, headers=HTMX | {"Listening": "1"})
                for tab in every:
                    await tab.sees(lambda it: any(word[:2] == ["state", "leaf"] for word in it.said))
                asked.set()
                for tab in every:
                    await tab.sees(lambda it: _has_ended(it.said) and _rows(it.said) == 2)
                    assert "Because." in str(tab.said)
                    await tab.leave()
        assert 15 < len(count.statements) < STATEMENTS + tabs, "\n".join(count.statements)
        assert count.renderings in ([], [TIMELINE]), count.renderings

    play(story())
