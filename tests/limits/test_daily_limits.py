"""Daily limits at the front door: refused in words, the text kept; changed by staff; seen by whoever has one."""

from __future__ import annotations

import asyncio
from html import unescape
from importlib import import_module

import pytest
from django.apps import apps

from chatapp import store
from chatapp.accounts.models import SignedUp
from chatapp.limits import store as limits
from chatapp.limits.models import DailyLimit
from chatapp.providers.base import Endpoint
from chatapp.store import AskedFor, in_thread
from chatapp.store.models import Conversation, Message
from tests.support.front import HTMX, house, visitor
from tests.support.page import Page
from tests.support.stage import play

LIST = "/admin/chatapp/dailylimit/"
ADD = f"{LIST}add/"
Who = DailyLimit.Who
EMPTY = {"who": "everybody", "person": "", "turns": "", "tokens": "", "cost": ""}
BY_SCRIPT = pytest.mark.parametrize("headers", [{}, HTMX], ids=["browser", "script"])
SAID = "You have used your 1 turn of today. You can ask again in "


@pytest.fixture
def from_the_start(db):
    """The limit that comes with its table, where a test before has emptied that."""
    if not DailyLimit.objects.exists():
        import_module("chatapp.migrations.0008_figures").limit_strangers(apps, None)


@pytest.fixture
def her(client, dana, from_the_start):
    client.force_login(dana)
    return client


def begun(person, end=True):
    DailyLimit.objects.all().delete()
    started = store.open_conversation(person, "Why?", tools=[], asked=AskedFor(model="demo:thinker"))
    store.stop(started.answer, None)
    DailyLimit.objects.create(who=Who.EVERYBODY, turns=1)
    return started


async def refused_each_way(person, first, said, headers):
    """To ask: in these words, without a trace, and what was typed is told again to a form without scripts."""
    count = Message.objects.count
    before = await in_thread(count)()
    ways = ["/ask/", "/c/{0.conversation}/ask/", "/m/{0.question}/edit/", "/m/{0.answer}/again/"]
    she = await visitor(person)
    for way in [*ways, "/m/{0.answer}/continue/"]:
        form = {"text": "My precious words", "parent": str(first.answer)}
        response = await she.post(way.format(first), form, headers=headers)
        assert response.status_code == 409, way
        assert said in unescape(response.text), way
        if not headers and way in ways[:3]:
            assert "My precious words" in response.text
    assert await in_thread(count)() == before


@BY_SCRIPT
@pytest.mark.django_db(transaction=True)
def test_over_the_limit_each_way_to_ask_is_refused_in_words_and_nothing_is_left(alice, bob, headers):
    async def story():
        first = await in_thread(begun)(alice)
        async with house():
            await refused_each_way(alice, first, SAID, headers)
            his = await (await visitor(bob)).post("/ask/", {"text": "Mine?"})
            assert his.status_code == 302
        assert await in_thread(Conversation.objects.filter(owner=alice).count)() == 1

    play(story())


@pytest.mark.django_db(transaction=True)
def test_of_twenty_questions_at_once_as_many_are_asked_as_are_left(alice):
    async def story():
        def start():
            DailyLimit.objects.all().delete()
            DailyLimit.objects.create(who=Who.EVERYBODY, turns=3)

        await in_thread(start)()
        async with house():
            she = await visitor(alice)
            asked = [she.post("/ask/", {"text": f"Why {n}?"}) for n in range(20)]
            statuses = sorted(response.status_code for response in await asyncio.gather(*asked))
            assert statuses == [302] * 3 + [409] * 17
            assert await in_thread(Conversation.objects.count)() == 3

    play(story())


@pytest.mark.django_db
def test_whoever_has_a_limit_sees_on_the_settings_what_is_used(client, alice):
    begun(alice)
    client.force_login(alice)
    page = client.get("/settings/").text
    assert "Used today: 1 of 1 turn. The next day begins in " in page
    DailyLimit.objects.all().delete()
    assert "Daily limit" not in client.get("/settings/").text


@pytest.mark.django_db
def test_sign_ups_of_strangers_are_limited_from_the_start_where_a_key_is_set(
    client, settings, dana, from_the_start
):
    row = DailyLimit.objects.get()
    assert (row.who, row.turns, row.tokens, row.cost) == (Who.STRANGERS, 100, 1_000_000, None)
    form = {"username": "eve", "password1": "a long enough password", "password2": "a long enough password"}
    assert client.post("/accounts/signup/", form).status_code == 302
    assert SignedUp.objects.get().user.username == "eve"
    assert "Daily limit" not in client.get("/settings/").text
    settings.PROVIDERS = (Endpoint(name="openai", dialect="responses", key="sk-canary", label="OpenAI"),)
    assert "Used today: 0 of 100 turns, 0 of 1,000,000 tokens." in client.get("/settings/").text
    assert limits.load_limit(dana) is None


@pytest.mark.django_db
def test_staff_see_and_change_limits(her, alice):
    page = her.get(LIST).text
    assert "Whoever signed up by themselves" in page and "1,000,000" in page and "provider’s key" in page
    sent = EMPTY | {"who": "person", "person": "alice", "turns": "7", "cost": "2.50"}
    assert her.post(ADD, sent).status_code == 302
    row = DailyLimit.objects.get(user=alice)
    assert (row.who, row.turns, row.tokens, str(row.cost)) == (Who.PERSON, 7, None, "2.50")
    shown = Page(her.get(f"{LIST}{row.pk}/change/"))
    assert shown.one("input", name="person", value="alice")
    assert her.post(f"{LIST}{row.pk}/change/", sent | {"turns": "8"}).status_code == 302
    assert DailyLimit.objects.get(user=alice).turns == 8
    assert "alice" in her.get(f"{LIST}?q=ali").text
    assert her.post(f"{LIST}{row.pk}/delete/", {"post": "yes"}).status_code == 302
    assert not DailyLimit.objects.filter(user=alice).exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"who": "person"}, "Whose limit is it?"),
        ({"who": "person", "person": "nobody"}, "Nobody here has this name."),
        ({"who": "person", "person": "bob"}, "There is a limit for them already: change that one."),
        ({"person": "alice"}, "A name is only for a limit of one person."),
        ({"who": "strangers"}, "There is a limit for them already: change that one."),
        ({"who": "kings"}, "Select a valid choice"),
        ({"turns": "-1"}, "greater than or equal to 0"),
        ({"tokens": "many"}, "Enter a whole number"),
        ({"cost": "99999999999"}, "no more than"),
    ],
)
def test_a_limit_that_cannot_be_is_refused_in_words(her, alice, bob, wrong, said):
    DailyLimit.objects.create(who=Who.PERSON, user=bob, turns=1)
    before = DailyLimit.objects.count()
    page = her.post(ADD, EMPTY | wrong)
    assert page.status_code == 200
    assert said in unescape(page.text)
    assert DailyLimit.objects.count() == before


@pytest.mark.django_db
@pytest.mark.parametrize("path", [LIST, ADD, f"{LIST}1/change/", f"{LIST}1/delete/"])
def test_for_everybody_but_staff_there_are_no_limits_to_change(client, alice, path, from_the_start):
    client.force_login(alice)
    assert client.get(path).status_code == 404
    assert client.post(path, EMPTY).status_code == 404
    assert DailyLimit.objects.count() == 1
