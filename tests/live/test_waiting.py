"""An answer that comes to wait for a person."""

from __future__ import annotations

from functools import partial

import pytest

from chatapp.live.outbox import Outbox
from tests.conversations.asking_tools import Toolbox, furnished, send
from tests.support.front import HTMX
from tests.support.listening import Socket
from tests.support.script import response, text
from tests.support.stage import play

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

WAITS = 'data-status="waiting"'


def test_a_page_knows_what_its_answer_waits_for_in_the_moment_it_shows_it(alice, monkeypatch):
    """Whoever types on at once is told so: what the page says of its answer is in no later frame than what it shows. Frames keep no
    distance here, so that nothing is joined by chance."""
    monkeypatch.setattr("chatapp.live.socket.Outbox", partial(Outbox, between=0))

    async def story():
        async with furnished(alice, Toolbox(), response(text()), response(send())) as (on, she):
            first, place = (await on.ask("Why?")).pk, f"c/{on.conversation.pk}/"
            tab = await Socket(f"/ws/{place}?leaf={first}", she.session).open()
            await tab.is_told("state")
            form = {"text": "And?", "parent": str(first), "model": "scripted:model"}
            await she.post(f"/{place}ask/", form, headers=HTMX | {"Listening": "1"})
            await tab.sees(lambda it: any(word[0] == "add" and WAITS in word[2] for word in it.said))
            assert ["state", "answering", "waits"] in tab.said
            await tab.leave()

    play(story())
