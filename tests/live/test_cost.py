"""What a question in one open tab costs, counted at the database's driver and at the templates."""

from __future__ import annotations

import pytest

from tests.conversations.asking_tools import Toolbox, furnished
from tests.support.counting import counted
from tests.support.front import HTMX
from tests.support.listening import Socket
from tests.support.script import response, text, thought
from tests.support.stage import play

pytestmark = pytest.mark.django_db(transaction=True)

# The transaction's own words are not among them. The first steps on a road: it is meant to cost 20 and 6.
STATEMENTS, RENDERINGS = 80, 24


def test_a_question_costs_no_more_than_this(alice, monkeypatch):
    async def story():
        script = response(thought(), text())
        with counted(monkeypatch) as count:
            async with furnished(alice, Toolbox(), script) as (on, she):
                first, place = (await on.ask("Why?")).pk, f"c/{on.conversation.pk}/"
                tab = await Socket(f"/ws/{place}?leaf={first}", she.session).open()
                await tab.sees(lambda it: any(said[:2] == ["state", "version"] for said in it.said))
                count.statements.clear(), count.renderings.clear()
                form = {"text": "And?", "parent": str(first), "model": "scripted:model"}
                await she.post(f"/{place}ask/", form, headers=HTMX | {"Listening": "1"})
                told = [said for said in tab.said if said[:2] == ["state", "version"] and said[2]]
                await tab.sees(
                    lambda it: [s for s in it.said if s[:2] == ["state", "version"] and s[2]] > told
                )
                await tab.leave()
        assert "Because." in str(tab.said)
        assert 20 < len(count.statements) <= STATEMENTS, "\n".join(count.statements)
        assert 3 < len(count.renderings) <= RENDERINGS, count.renderings

    play(story())
