"""Deleting a message says first what goes with it, and can be taken back."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chatapp import store
from chatapp.store.models import Conversation, Message, Role, Status
from tests.support.page import Page, attribute

SCRIPT = {"HX-Request": "true"}
HEADERS = pytest.mark.parametrize("headers", [{}, SCRIPT], ids=["page", "part"])

pytestmark = pytest.mark.django_db


@pytest.fixture
def here(client, alice):
    client.force_login(alice)
    return client


@pytest.fixture
def line(alice):
    """A conversation of two turns, as its messages from the root down."""
    asked = store.AskedFor(model="demo:thinker")
    first = store.open_conversation(alice, "Why?", tools=[], asked=asked)
    end(first)
    second = store.start_turn(first.conversation, "More", parent=first.answer, author=alice, asked=asked)
    end(second)
    return list(Message.objects.order_by("order"))


def end(started):
    store.finish(store.claim_turn(started.answer, runner="here", seen=0), [], store.Measured())


def address(message):
    return reverse("delete", args=[message.pk if isinstance(message, Message) else message])


def shown():
    return list(Message.objects.filter(deletion=None).order_by("order"))


def deletion(response):
    """The one that the address after it names."""
    return UUID(response["Location"].partition("?deleted=")[2])


@HEADERS
def test_it_says_how_many_messages_go_before_anything_goes(here, line, headers):
    text = here.get(address(line[1]), headers=headers).text
    assert "Delete this answer?" in text and "deletes 3 messages" in text
    assert text.startswith("<dialog") == bool(headers)
    assert "deletes 1 message:" in here.get(address(line[3]), headers=headers).text
    assert shown() == line


@HEADERS
def test_it_goes_with_what_is_below_and_the_page_offers_to_put_it_back(here, line, headers):
    response = here.post(address(line[2]), headers=headers)
    assert response.status_code == 303
    assert response["Location"].startswith(reverse("conversation", args=[line[0].conversation_id]))
    assert shown() == line[:2]
    page = here.get(f"/conversations/?deleted={deletion(response)}")
    assert "2 messages deleted" in page.text
    undo = attribute(Page(page).one("form", action=reverse("undo", args=[deletion(response)])), "action")
    back = here.post(undo, headers=headers)
    assert (back.status_code, back["Location"]) == (303, response["Location"].partition("?")[0])
    assert shown() == line
    assert here.post(undo).status_code == 404


def test_everything_can_be_deleted_and_the_conversation_stays(here, line):
    page = here.post(address(line[0]))["Location"].partition("?")[0]
    assert shown() == []
    assert here.get(page).status_code == 200


def test_one_message_is_counted_as_one(here, line):
    name = deletion(here.post(address(line[3])))
    assert "1 message deleted" in here.get(f"/conversations/?deleted={name}").text


def test_looking_deletes_nothing(here, line):
    here.get(address(line[0]))
    here.head(address(line[0]))
    assert here.get(reverse("undo", args=[uuid4()])).status_code == 405
    assert shown() == line


@pytest.mark.parametrize("person", ["bob", "charlie", "dana"])
def test_messages_of_others_answer_as_if_they_were_not_there(request, client, line, person):
    client.force_login(request.getfixturevalue(person))
    for ask in (client.get, client.post):
        answers = [ask(address(pk)) for pk in (line[0], uuid4())]
        assert [it.status_code for it in answers] == [404, 404]
        assert answers[0].content == answers[1].content
    assert shown() == line


def test_nobody_else_puts_it_back_or_hears_of_it(here, line, bob):
    name = deletion(here.post(address(line[0])))
    other = Client()
    other.force_login(bob)
    answers = [other.post(reverse("undo", args=[pk])) for pk in (name, uuid4())]
    assert [it.status_code for it in answers] == [404, 404]
    assert answers[0].content == answers[1].content
    assert "data-toast" not in other.get(f"/conversations/?deleted={name}").text
    assert shown() == []


def test_what_is_deleted_is_as_if_it_were_not_there(here, line):
    here.post(address(line[2]))
    for message in line[2:]:
        assert here.get(address(message)).status_code == here.post(address(message)).status_code == 404


def test_after_a_day_it_cannot_be_put_back(here, line):
    name = deletion(here.post(address(line[2])))
    Message.objects.filter(deletion=name).update(deleted_at=timezone.now() - timedelta(hours=25))
    assert "data-toast" not in here.get(f"/conversations/?deleted={name}").text
    assert here.post(reverse("undo", args=[name])).status_code == 404


@HEADERS
def test_what_its_question_went_with_is_told_in_words(here, line, headers):
    inner = deletion(here.post(address(line[3])))
    here.post(address(line[2]))
    response = here.post(reverse("undo", args=[inner]), headers=headers)
    assert response.status_code == 409
    assert "has to come back first" in response.text


def test_what_goes_with_a_deleted_conversation_cannot_be_put_back_alone(here, line):
    name = deletion(here.post(address(line[2])))
    Conversation.objects.update(deleted_at=timezone.now())
    assert here.post(reverse("undo", args=[name])).status_code == 404


@pytest.mark.parametrize("name", ["delete", "undo"])
def test_strangers_sign_in_first_and_forms_need_their_token(client, alice, line, name):
    url = reverse(name, args=[line[0].pk])
    assert client.post(url)["Location"].startswith("/accounts/login/")
    guarded = Client(enforce_csrf_checks=True)
    guarded.force_login(alice)
    assert guarded.post(url).status_code == 403
    assert shown() == line


@pytest.mark.django_db(transaction=True)
def test_what_still_runs_below_is_stopped_first(here, line, alice):
    asked = store.AskedFor(model="demo:thinker")
    running = store.start_turn(line[0].conversation_id, "And?", parent=line[1].pk, author=alice, asked=asked)
    try:
        name = deletion(here.post(address(line[1])))
    finally:
        store.close_threads()
    answer = Message.objects.get(pk=running.answer)
    assert (answer.status, answer.deletion) == (Status.STOPPED, name)
    assert [it.role for it in shown()] == [Role.USER]
    assert list(store.verify_log()) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("what", ["the answer", "the conversation"])
def test_after_it_was_taken_back_an_answer_still_says_who_stopped_it(here, line, alice, what):
    asked = store.AskedFor(model="demo:thinker")
    conversation = line[0].conversation_id
    running = store.start_turn(conversation, "And?", parent=line[1].pk, author=alice, asked=asked)
    try:
        if what == "the answer":
            name = deletion(here.post(address(Message.objects.get(pk=running.answer))))
            here.post(reverse("undo", args=[name]))
        else:
            here.post(reverse("delete_conversation", args=[conversation]))
            here.post(reverse("restore_conversation", args=[conversation]))
        assert "Stopped by you" in here.get(reverse("conversation", args=[conversation])).text
    finally:
        store.close_threads()
