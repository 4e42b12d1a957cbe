"""Forking one's own conversation: how much goes along, where it came from, and what of it others may know."""

from __future__ import annotations

import re
from html import unescape
from uuid import uuid4

import pytest
from django.test import Client

from chatapp import store
from chatapp.branches.store import forking
from chatapp.sharing.store import fork_shared, share
from chatapp.store import AskedFor, deleting
from chatapp.store.models import Conversation, Message
from tests.support.turns import DEMO, ask, end

pytestmark = pytest.mark.django_db


@pytest.fixture
def she(client, alice):
    client.force_login(alice)
    return client


@pytest.fixture
def leaf(alice) -> Message:
    """Two turns, with a branch beside the second and another beginning."""
    first = ask(alice)
    ask(alice, first, "Beside?")
    second = ask(alice, first, "And?")
    other = store.start_turn(
        first.conversation_id, "Anew?", parent=None, author=alice, asked=AskedFor(model=DEMO)
    )
    end(other.answer)
    return second


def forks(owner) -> list[Conversation]:
    return list(Conversation.objects.filter(owner=owner).exclude(origin=None))


def page(client: Client, conversation) -> str:
    """In words."""
    return " ".join(unescape(re.sub("<[^>]+>", " ", client.get(f"/c/{conversation}/").text)).split())


@pytest.mark.parametrize(("extent", "count"), [("branch", 4), ("with sides", 6), ("everything", 8)])
def test_the_dialog_says_how_much_goes_along_and_so_much_does(she, leaf, alice, extent, count):
    asked = she.get(f"/m/{leaf.pk}/fork/").text
    assert re.findall(r"(\d+) messages", asked) == ["4", "6", "8"]
    response = she.post(f"/m/{leaf.pk}/fork/", {"extent": extent})
    (made,) = forks(alice)
    assert response.headers["location"] == f"/c/{made.pk}/#message"
    assert Message.objects.filter(conversation=made).count() == count
    shown = page(she, made.pk)
    assert "And?" in shown and "Message" in shown


@pytest.mark.parametrize("extent", ["more", "\x00", "BRANCH"])
def test_another_extent_is_refused(she, leaf, alice, extent):
    response = she.post(f"/m/{leaf.pk}/fork/", {"extent": extent})
    assert response.status_code == 409 and "Choose how much goes along" in response.text
    assert forks(alice) == []


def test_an_answer_that_is_being_written_is_not_forked(she, leaf, alice):
    started = store.start_turn(
        leaf.conversation_id, "More?", parent=leaf.pk, author=alice, asked=AskedFor(model="demo:thinker")
    )
    response = she.post(f"/m/{started.answer}/fork/", {"extent": "branch"})
    assert response.status_code == 409 and "Fork it when it has ended" in response.text
    assert forks(alice) == []


def test_too_much_is_refused_in_words_where_it_was_asked_for(she, leaf, alice, monkeypatch):
    monkeypatch.setattr(forking, "MOST", 4)
    headers = {"HX-Request": "true"}
    refused = she.post(f"/m/{leaf.pk}/fork/", {"extent": "everything"}, headers=headers)
    assert refused.status_code == 409
    assert refused.text.startswith("A fork holds at most 4 messages")
    made = she.post(f"/m/{leaf.pk}/fork/", {"extent": "branch"}, headers=headers)
    assert made.headers["HX-Redirect"] == f"/c/{forks(alice)[0].pk}/#message"


def test_an_old_form_of_a_fork_that_was_deleted_says_so(she, leaf, alice):
    path, form = f"/m/{leaf.pk}/fork/", {"extent": "branch", "key": str(uuid4())}
    made = she.post(path, form).headers["location"].partition("#")[0]
    she.post(f"{made}delete/")
    again = she.post(path, form)
    assert again.status_code == 409 and "deleted the fork" in again.text
    assert she.post(path, form | {"key": str(uuid4())}).status_code == 302


def test_a_double_click_makes_one_fork(she, leaf, alice):
    form = {"extent": "branch", "key": str(uuid4())}
    first, second = (she.post(f"/m/{leaf.pk}/fork/", form).headers["location"] for _ in range(2))
    assert first == second and len(forks(alice)) == 1
    she.post(f"/m/{leaf.parent_id}/fork/", form)
    assert len(forks(alice)) == 2, "another message is another form"


def test_a_fork_says_where_it_came_from_and_its_source_what_came_of_it(she, leaf, alice):
    she.post(f"/m/{leaf.pk}/fork/", {"extent": "branch"})
    (made,) = forks(alice)
    assert "Forked from Why? by you, on " in page(she, made.pk)
    assert f"/c/{leaf.conversation_id}/?at={leaf.pk}#m-{leaf.pk}" in she.get(f"/c/{made.pk}/").text
    assert "Forked once Fork of Why? , on " in page(she, leaf.conversation_id)
    assert f'href="/c/{made.pk}/"' in she.get(f"/c/{leaf.conversation_id}/").text


def test_a_fork_by_a_reader_is_counted_and_no_more_is_told_of_it(she, leaf, alice, bob):
    link = share(leaf, by=alice)
    made = fork_shared(link.token, by=bob).conversation
    Conversation.objects.filter(pk=made.pk).update(title="What he calls it")
    shown = page(she, leaf.conversation_id)
    assert "Forked once 1 by somebody who had a link" in shown
    assert "What he calls it" not in shown and "bob" not in shown and str(made.pk) not in shown
    he = Client()
    he.force_login(bob)
    assert "Forked from “Why?” by alice, on " in page(he, made.pk)
    assert str(leaf.conversation_id) not in he.get(f"/c/{made.pk}/").text


@pytest.mark.parametrize("what", ["the message", "the conversation"])
def test_a_source_that_is_gone_is_named_and_not_linked(she, leaf, alice, what):
    she.post(f"/m/{leaf.pk}/fork/", {"extent": "branch"})
    (made,) = forks(alice)
    if what == "the message":
        deleting.delete_below(leaf)
    else:
        deleting.delete_conversation(leaf.conversation_id)
    assert "Forked from “Why?” by you, on " in page(she, made.pk)
    assert f"?at={leaf.pk}" not in she.get(f"/c/{made.pk}/").text
    deleting.delete_conversation(made.pk)
    if what == "the message":
        assert "Forked" not in page(she, leaf.conversation_id)


def test_an_owner_who_left_is_not_named(she, leaf, alice, bob):
    made = fork_shared(share(leaf, by=alice).token, by=bob).conversation
    alice.delete()
    he = Client()
    he.force_login(bob)
    shown = page(he, made.pk)
    assert "by somebody whose account is gone" in shown and "alice" not in shown
