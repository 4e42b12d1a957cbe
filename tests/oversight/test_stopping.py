"""Administrators stop anybody's answer, read or unread; that they did is written down before it is done."""

from __future__ import annotations

from uuid import uuid4

import pytest

from chatapp import store
from chatapp.oversight.models import Look
from chatapp.store import AskedFor, in_thread
from chatapp.store.models import Message, Status
from tests.support.front import house, visitor
from tests.support.stage import play

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]

LIST = "/admin/chatapp/conversation/"


def asked(owner):
    return store.open_conversation(owner, "Why?", tools=[], asked=AskedFor(model="demo:thinker"))


async def status(answer) -> str:
    return (await in_thread(Message.objects.get)(pk=answer)).status


def looks():
    return [(look.name, look.what, look.conversation_id) for look in Look.objects.all()]


@pytest.mark.parametrize(("form", "leads"), [({}, "{transcript}"), ({"today": "1"}, "/admin/")])
def test_whoever_stops_an_answer_leaves_a_line_for_its_owner(alice, dana, form, leads):
    async def story():
        hers = await in_thread(asked)(alice)
        async with house():
            she, stop = await visitor(dana), f"{LIST}{hers.conversation}/stop/"
            assert (await she.get(stop)).status_code == 405
            transcript = f"{LIST}{hers.conversation}/transcript/"
            assert (await she.post(stop, form)).headers["location"] == leads.format(transcript=transcript)
            assert await status(hers.answer) == Status.STOPPED
            line = ("dana", Look.What.STOPPED, hers.conversation)
            assert await in_thread(looks)() == [line]
            # What has ended cannot be stopped, and nothing is written down of it.
            await she.post(stop, form)
            assert await in_thread(looks)() == [line]
            assert (await she.post(f"{LIST}{uuid4()}/stop/")).status_code == 404

    play(story())


def test_closed_conversations_are_stopped_unread(alice, dana, settings):
    settings.ADMIN_CAN_READ_CHATS = False

    async def story():
        hers = await in_thread(asked)(alice)
        async with house():
            stopped = await (await visitor(dana)).post(f"{LIST}{hers.conversation}/stop/")
            assert stopped.headers["location"] == "/admin/"
            assert await status(hers.answer) == Status.STOPPED

    play(story())


def test_nobody_else_stops_anything_of_others(alice, bob, charlie):
    async def story():
        hers = await in_thread(asked)(alice)
        async with house():
            for person in (alice, bob, charlie):
                refused = await (await visitor(person)).post(f"{LIST}{hers.conversation}/stop/")
                assert refused.status_code == 404
        assert not await in_thread(Look.objects.exists)()

    play(story())
