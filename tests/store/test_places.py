"""Where a viewer is, and where they were under each fork."""

from __future__ import annotations

import pytest

from chatapp import store
from chatapp.store import places
from chatapp.store.models import Conversation, Message, Place
from tests.support.patience import PATIENCE
from tests.support.threads import InThread
from tests.support.turns import end

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def tell(ask):
    """A question and its answer, which has ended."""

    def tell(text="Why?", parent=None) -> Message:
        started = ask(text, parent and parent.pk)
        end(started.answer)
        return Message.objects.get(pk=started.answer)

    return tell


def leaf_of(viewer, message):
    here = [message.conversation_id]
    (tree,), (forks,) = places.load_trees(here).values(), places.load_places(viewer, here).values()
    return tree.newest_leaf(message.pk, forks)


def test_the_head_of_a_conversation_is_where_its_newest_turn_is(tell, conversation, alice):
    first = tell()
    second = tell("And?", first)
    assert places.load_head(alice, Conversation.objects.get()) == second.pk


def test_an_empty_conversation_has_no_head(conversation, alice):
    assert places.load_head(alice, conversation) is None


@pytest.mark.parametrize("damage", ["no head", "a deleted head", "a head of another conversation"])
def test_a_head_that_cannot_be_opened_gives_way_to_the_newest_message(tell, conversation, alice, damage):
    first = tell()
    second = tell("And?", first)
    elsewhere = store.open_conversation(alice, "Else", tools=[], asked=store.AskedFor(model="demo:thinker"))
    match damage:
        case "no head":
            Conversation.objects.filter(pk=conversation.pk).update(head=None)
        case "a deleted head":
            Message.objects.filter(pk=second.pk).update(deletion=second.pk)
        case _:
            Conversation.objects.filter(pk=conversation.pk).update(head=elsewhere.answer)
    found = places.load_head(alice, Conversation.objects.get(pk=conversation.pk))
    assert found == (second.parent_id if damage == "a deleted head" else second.pk)


def test_a_viewer_goes_without_the_owner(tell, alice, bob):
    first = tell()
    old, new = tell("One?", first), tell("Two?", first)
    conversation = Conversation.objects.get()
    assert places.load_head(bob, conversation) == new.pk
    assert places.go_to(bob, old) == old.pk
    conversation.refresh_from_db()
    assert (places.load_head(bob, conversation), places.load_head(alice, conversation)) == (old.pk, new.pk)


def test_what_one_viewer_remembers_is_not_the_others(tell, alice, bob):
    first = tell()
    old, new = tell("One?", first), tell("Two?", first)
    places.go_to(bob, old)
    assert leaf_of(bob, first) == old.pk
    assert leaf_of(alice, first) == new.pk


def test_a_remembered_child_that_was_deleted_gives_way_to_the_newest(tell, alice):
    first = tell()
    old, new = tell("One?", first), tell("Two?", first)
    places.go_to(alice, old)
    Message.objects.filter(pk__in=(old.pk, old.parent_id)).update(deletion=old.pk)
    assert leaf_of(alice, first) == new.pk


def test_several_roots_are_a_fork_like_any_other(tell, alice):
    one, other = tell("One?"), tell("Other?")
    places.go_to(alice, one)
    assert places.load_head(alice, Conversation.objects.get()) == one.pk
    siblings = places.load_siblings(one.conversation_id, [Message.objects.get(pk=one.parent_id)])
    assert siblings[one.parent_id] == (one.parent_id, other.parent_id)


def test_siblings_are_told_for_each_message_in_their_order_without_what_is_deleted(tell, conversation):
    first = tell()
    second, third, fourth = (tell(f"{n}?", first) for n in range(3))
    Message.objects.filter(pk=third.parent_id).update(deletion=third.pk)
    rows = list(Message.objects.filter(pk__in=(first.pk, second.parent_id)))
    assert places.load_siblings(conversation.pk, rows) == {
        first.pk: (first.pk,),
        second.parent_id: (second.parent_id, fourth.parent_id),
    }


def test_who_goes_to_and_fro_in_two_tabs_at_once_is_in_one_of_both_places(tell, alice):
    first = tell()
    old, new = tell("One?", first), tell("Two?", first)
    works = [InThread(lambda to=to: [places.go_to(alice, to) for _ in range(10)]) for to in (old, new)]
    assert all(work.finished(PATIENCE) for work in works)
    assert [work.problem for work in works] == [None, None]
    head = Conversation.objects.get().head_id
    assert head in (old.pk, new.pk)
    assert Place.objects.get().head_id == head
    assert leaf_of(alice, first) == head
