"""Somebody for whom as many answers are written as may be, at the front door: refused in words, the text kept, nobody else kept out."""

from __future__ import annotations

import asyncio

import pytest

from chatapp import store
from chatapp.store import in_thread
from chatapp.store.models import Message, Status
from chatapp.store.turns_at_once import MOST, TOO_MANY
from tests.limits.test_daily_limits import refused_each_way
from tests.support.front import HTMX, house, visitor
from tests.support.shell import Shell
from tests.support.stage import play
from tests.support.turns import begun

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]


def full(person):
    """One answer that was stopped, and as many that are written as may be."""
    stopped = begun(person)
    store.stop(stopped.answer, None)
    for _ in range(MOST):
        begun(person)
    return stopped


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["browser", "script"])
def test_each_way_to_ask_is_refused_in_words_and_the_text_is_kept(alice, bob, headers):
    async def story():
        first = await in_thread(full)(alice)
        async with house():
            await refused_each_way(alice, first, TOO_MANY, headers)
            assert (await (await visitor(bob)).post("/ask/", {"text": "Mine?"})).status_code == 302

    play(story())


def test_of_fifty_questions_in_one_moment_so_many_are_asked(alice):
    async def story():
        async with house():
            she = await visitor(alice)
            asked = [she.post("/ask/", {"text": "How are you today?"}) for _ in range(50)]
            # Demo answers may end meanwhile, so as many are running at any moment, and no more.
            statuses = [response.status_code for response in await asyncio.gather(*asked)]
            # A machine that has much else to do keeps some of them waiting too long, and says so.
            assert set(statuses) <= {302, 409, 503} and statuses.count(302) >= MOST
            live = Message.objects.filter(status__in=(Status.QUEUED, Status.RUNNING))
            assert await in_thread(live.count)() <= MOST

    play(story())


FILL = """
from django.contrib.auth.models import User
from tests.conversations.test_asking_at_once import full
full(User.objects.create_superuser("dana"))
"""


def test_a_terminal_is_told_the_words_too(tmp_path):
    shell = Shell(tmp_path)
    assert shell.run("migrate").returncode == 0
    filled = shell.run("shell", "-v", "0", "-c", FILL)
    assert filled.returncode == 0, filled.stderr
    refused = shell.run("ask", "Why?")
    assert refused.returncode == 1 and TOO_MANY in refused.stderr
