"""Leaving: the account goes with everything that is its owner's, and nothing of anybody else's."""

from __future__ import annotations

import asyncio

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient

from chatapp import store
from chatapp.pages.models import Preference
from chatapp.pages.preferences import save_preference
from chatapp.store.models import Conversation, Draft, Item, Message, Place
from chatapp.turns.engine import engine
from tests.conftest import PASSWORD
from tests.support.turns import ended

SURE = {"password": PASSWORD, "word": "delete"}
pytestmark = pytest.mark.django_db


def conversation(owner) -> store.Started:
    """Long enough to have a draft and a place, and ended."""
    started = ended(owner)
    more = ended(owner, "And?", below=started)
    Draft.objects.create(message_id=more.answer, attempt=1, n=1, saved={})
    Place.objects.create(viewer=owner, conversation_id=started.conversation, head_id=more.answer)
    return started


@pytest.mark.both
def test_everything_of_theirs_goes_and_nothing_of_others(client, alice, bob):
    own, others = conversation(alice), conversation(bob)
    Conversation.objects.filter(pk=others.conversation).update(forked_from=own.answer)
    save_preference(alice, theme="dark")
    client.force_login(alice)
    assert "Your account is deleted" in client.post("/settings/delete/", SURE).text
    assert [user.username for user in User.objects.all()] == ["bob"]
    assert {row.owner for row in Conversation.objects.all()} == {bob}
    assert Conversation.objects.get().forked_from is None
    assert {row.conversation_id for row in Message.objects.all()} == {others.conversation}
    assert (Message.objects.count(), Item.objects.count(), Draft.objects.count()) == (4, 2, 1)
    assert (Place.objects.count(), Preference.objects.count()) == (1, 0)
    assert client.get("/")["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"password": "wrong"}, "That is not your password."),
        ({"word": "yes"}, "Type the word"),
        ({"word": ""}, "This field is required."),
        ({"password": ""}, "This field is required."),
    ],
)
def test_without_the_password_and_the_word_nothing_happens(client, alice, change, sentence):
    client.force_login(alice)
    response = client.post("/settings/delete/", SURE | change)
    assert response.status_code == 400
    assert sentence in response.text
    assert User.objects.filter(pk=alice.pk).exists()


def test_passwords_cannot_be_tried_for_ever(client, alice):
    client.force_login(alice)
    answers = [client.post("/settings/delete/", SURE | {"password": f"try {n}"}) for n in range(21)]
    assert answers[-1].status_code == 429
    assert client.post("/settings/delete/", SURE).status_code == 429
    assert User.objects.filter(pk=alice.pk).exists()


def test_the_only_administrator_stays_while_others_are_here(client, dana, alice):
    client.force_login(dana)
    assert "You are the only administrator" in client.get("/settings/delete/").text
    assert client.post("/settings/delete/", SURE).status_code == 400
    assert User.objects.filter(pk=dana.pk).exists()


def test_an_administrator_who_is_replaced_or_alone_may_go(client, dana, alice):
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    for person in (dana, alice):
        client.force_login(person)
        assert client.post("/settings/delete/", SURE).status_code == 200
    assert not User.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_running_answer_is_stopped_first_and_leaves_nothing_behind(alice):
    async def play() -> None:
        client = AsyncClient()
        await client.aforce_login(alice)
        try:
            asked = await client.post("/ask/", {"text": "How much is 2 * 3?", "model": "demo:thinker"})
            assert asked.status_code == 302
            answer = await Message.objects.aget(role="assistant")
            left = await client.post("/settings/delete/", SURE)
            assert "Your account is deleted" in left.text
            await engine().runner.wait(answer.pk)
        finally:
            await engine().close()
            engine.cache_clear()

    asyncio.run(play())
    assert not User.objects.exists()
    assert not Message.objects.exists()
    assert not Item.objects.exists()
