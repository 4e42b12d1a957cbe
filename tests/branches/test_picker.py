"""Going from branch to branch: it is remembered for whoever goes, and nothing else changes."""

from __future__ import annotations

import pytest

from chatapp.store import deleting
from chatapp.store.models import Conversation, Message, Place
from tests.support.turns import ask
from tests.thread.test_page import address, branch, shown

pytestmark = pytest.mark.django_db


@pytest.fixture
def she(client, alice):
    client.force_login(alice)
    return client


def go(she, message) -> None:
    response = she.post(f"/m/{message.pk}/go/")
    assert response.status_code == 303
    assert response["Location"] == f"/c/{message.conversation_id}/#m-{message.pk}"


def leaf(she, message):
    return shown(she.get(address(message)))[-1]


def test_a_reload_shows_the_branch_that_one_went_to(she, alice):
    first = ask(alice)
    old, new = ask(alice, first), ask(alice, first, "Otherwise?")
    assert leaf(she, first) == new.pk
    go(she, Message.objects.get(pk=old.parent_id))
    assert shown(she.get(address(first))) == branch([first, old])


def test_who_comes_back_finds_the_leaf_that_they_left(she, alice):
    """On every fork of the way down."""
    first = ask(alice)
    left, right = ask(alice, first, "Left?"), ask(alice, first, "Right?")
    ll, lr = ask(alice, left, "Left?"), ask(alice, left, "Right?")
    rl, rr = ask(alice, right, "Left?"), ask(alice, right, "Right?")
    for inner in (ll, rl):
        go(she, inner)
    go(she, left)
    assert leaf(she, first) == ll.pk
    go(she, right)
    assert leaf(she, first) == rl.pk
    go(she, first)
    assert leaf(she, first) == rl.pk
    assert {lr.pk, rr.pk}.isdisjoint({leaf(she, first)})


def test_a_branch_that_grew_meanwhile_opens_at_its_new_leaf(she, alice):
    first = ask(alice)
    left, _ = ask(alice, first, "Left?"), ask(alice, first, "Right?")
    go(she, left)
    longer = ask(alice, left)
    ask(alice, first, "A third?")
    go(she, left)
    assert leaf(she, first) == longer.pk


def test_who_was_in_what_was_deleted_opens_the_nearest_leaf_that_is_left(she, alice):
    first = ask(alice)
    left, right = ask(alice, first, "Left?"), ask(alice, first, "Right?")
    go(she, left)
    deleting.delete_below(Message.objects.get(pk=left.parent_id))
    assert leaf(she, first) == right.pk
    go(she, first)
    assert leaf(she, first) == right.pk


def test_siblings_stand_in_the_order_in_which_they_were_asked_whatever_the_clock_says(she, alice):
    first = ask(alice)
    answers = [ask(alice, first, f"Way {number}?") for number in range(3)]
    Message.objects.update(created_at="2020-01-01T00:00:00Z")
    for number, answer in enumerate(answers, 1):
        go(she, answer)
        assert f"{number} / 3" in she.get(address(first)).text


def test_going_changes_ones_place_and_nothing_else(she, alice):
    first = ask(alice)
    left, _ = ask(alice, first, "Left?"), ask(alice, first, "Right?")
    messages = sorted(map(repr, Message.objects.values_list()))
    before = Conversation.objects.values().get()
    go(she, left)
    assert sorted(map(repr, Message.objects.values_list())) == messages
    assert Conversation.objects.values().get() == before | {"head_id": left.pk}
    assert Place.objects.get().viewer == alice


def test_going_twice_is_going_once(she, alice):
    first = ask(alice)
    left, _ = ask(alice, first, "Left?"), ask(alice, first, "Right?")
    for _ in range(2):
        go(she, left)
        assert leaf(she, first) == left.pk
    assert Place.objects.count() == 1


def test_two_conversations_do_not_share_their_places(she, alice):
    one, other = ask(alice), ask(alice)
    left, _ = ask(alice, one, "Left?"), ask(alice, one, "Right?")
    _, right = ask(alice, other, "Left?"), ask(alice, other, "Right?")
    go(she, left)
    assert leaf(she, other) == right.pk
