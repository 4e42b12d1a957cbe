"""Questions and answers find their place in the tree, or are refused in words with nothing written."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chatapp import store
from chatapp.store import Measured, Refused
from chatapp.store.models import Conversation, Item, Message, Status
from tests.support.make import text

from .test_branches import long_branch

pytestmark = pytest.mark.both


def answered(ask, question="Why?", parent=None):
    started = ask(question, parent)
    claim = store.claim_turn(started.answer, runner="here", seen=0)
    store.finish(claim, [text(started.answer.hex[:6])], Measured())
    return started


def test_a_question_comes_with_its_empty_answer_and_the_head_moves_there(ask, conversation):
    started = ask("Why?")
    answer = Message.objects.get(pk=started.answer)
    assert (answer.parent_id, answer.status, answer.model) == (
        started.question,
        Status.QUEUED,
        "demo:thinker",
    )
    assert Conversation.objects.get(pk=conversation.pk).head_id == started.answer
    assert [item.text for item in store.load_items(started.question)] == ["Why?"]


def test_siblings_are_numbered_in_the_order_in_which_they_were_made(ask):
    first = answered(ask)
    second = store.start_answer(first.question, author=None, asked=store.AskedFor(model="demo:thinker"))
    third = store.start_answer(first.question, author=None, asked=store.AskedFor(model="demo:thinker"))
    orders = Message.objects.filter(parent=first.question).order_by("order").values_list("id", flat=True)
    assert list(orders) == [first.answer, second.answer, third.answer]


def test_an_edited_first_question_is_another_root(ask, conversation):
    answered(ask)
    ask("How?")
    assert Message.objects.filter(conversation=conversation, parent=None).count() == 2
    assert list(store.verify_log()) == []


def refused(ask, match: str, *args) -> None:
    before = (Message.objects.count(), Item.objects.count(), Conversation.objects.get().next_order)
    with pytest.raises(Refused, match=match):
        ask(*args)
    assert (Message.objects.count(), Item.objects.count(), Conversation.objects.get().next_order) == before


@pytest.mark.parametrize("words", ["", "  \n ", "\x00"[:0]])
def test_an_empty_question_is_refused(ask, words):
    refused(ask, "question first", words)


def test_a_question_below_an_answer_that_is_being_written_is_refused(ask):
    refused(ask, "still being written", "And?", ask().answer)


def test_a_question_below_a_question_is_refused(ask):
    refused(ask, "follow an answer", "And?", answered(ask).question)


def test_a_parent_of_another_conversation_looks_like_one_that_is_not_there(ask, alice, conversation):
    foreign = answered(ask).answer
    mine = store.start_conversation(alice, tools=[])
    for parent in (foreign, mine.id):
        with pytest.raises(Refused, match="not in this conversation"):
            store.start_turn(
                mine.id, "Hi", parent=parent, author=alice, asked=store.AskedFor(model="demo:thinker")
            )
    assert Message.objects.filter(conversation=mine).count() == 0


def test_a_conversation_with_a_very_long_branch_can_be_deleted(conversation):
    leaf = long_branch(conversation, 3000)
    conversation.delete()
    assert not Message.objects.filter(pk=leaf.pk).exists()


def test_hostile_characters_of_a_question_are_made_harmless(ask):
    started = ask("a\x00b\ud800c")
    assert store.load_items(started.question)[0].text == "a\ufffdb\ufffdc"


def test_a_question_over_the_cap_is_refused(ask):
    refused(ask, "too long", "é" * (2 * 1024 * 1024 + 1))


@pytest.mark.parametrize("counts", ["has_others", "AS running"])
def test_what_else_runs_is_found_without_looking_through_messages(ask, counts):
    if connection.vendor != "sqlite":
        pytest.skip("a plan of SQLite")
    first = ask("One")
    store.stop(first.answer, None)
    with CaptureQueriesContext(connection) as asked:
        ask("Two", parent=first.answer)
    (sql,) = [each["sql"] for each in asked if counts in each["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        assert "live_turns" in str(cursor.fetchall())
