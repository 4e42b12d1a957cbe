"""Reading a branch: complete, in order, and in three queries whatever its size."""

from __future__ import annotations

from itertools import pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chatapp import store
from chatapp.store.models import Conversation, Item, Message
from tests.support.make import call, result, text, thought

pytestmark = pytest.mark.both


def long_branch(conversation: Conversation, messages: int) -> Message:
    """Questions and answers in turns, each answer with two items."""
    rows = [
        Message(conversation=conversation, order=n, role="assistant" if n % 2 else "user", status="complete")
        for n in range(messages)
    ]
    for parent, row in pairwise(rows):
        row.parent = parent
    Message.objects.bulk_create(rows)
    made = (thought, text)
    Item.objects.bulk_create(
        Item(
            message=row,
            seq=n,
            key=f"k{n}",
            kind=made[n]().kind,
            text=f"{row.order}.{n}",
            wire={"id": f"{row.order}.{n}"},
        )
        for row in rows[1::2]
        for n in range(2)
    )
    Conversation.objects.filter(pk=conversation.pk).update(next_order=messages)
    return rows[-1]


@pytest.mark.parametrize("messages", [2, 600])
def test_a_branch_takes_two_queries_whatever_its_size(conversation, messages):
    leaf = long_branch(conversation, messages)
    with CaptureQueriesContext(connection) as queries:
        branch = store.load_branch(leaf.id)
    assert len(queries) == 2
    assert [row.order for row in branch.messages] == list(range(messages))
    assert [item.wire["id"] for item in branch.items[leaf.id]] == [f"{messages - 1}.0", f"{messages - 1}.1"]
    assert len(branch.items) == messages // 2


def test_a_branch_holds_only_its_own_messages(ask):
    first = ask("One")
    store.stop(first.answer, None)
    store.start_answer(first.question, author=None, asked=store.AskedFor(model="demo:thinker"))
    branch = store.load_branch(first.answer)
    assert [row.id for row in branch.messages] == [first.question, first.answer]


def test_a_branch_through_a_cycle_of_damaged_rows_ends(ask):
    first = ask("One")
    Message.objects.filter(pk=first.question).update(parent=first.answer)
    for leaf in (first.answer, first.question):
        branch = store.load_branch(leaf)
        assert {row.id for row in branch.messages} == {first.question, first.answer}
        assert branch.leaf.id == leaf
        assert [item.text for item in branch.items[first.question]] == ["One"]


def test_what_was_measured_comes_once_also_where_the_first_item_is_gone(claimed):
    store.append_round(claimed, [call()], store.Measured(elapsed=700))
    store.append_result(claimed, result(), store.Measured())
    Item.objects.filter(message=claimed.message, seq=0).delete()
    branch = store.load_branch(claimed.message)
    assert [message.metadata.get("elapsed_ms") for message in branch.messages] == [None, 700]
    assert [item.kind for item in branch.items[claimed.message]] == ["tool_result"]


def test_a_parent_in_somebody_elses_conversation_is_not_followed(ask, bob):
    first = ask("One")
    foreign = store.open_conversation(
        bob, "Bob's secret", tools=[], asked=store.AskedFor(model="demo:thinker")
    )
    Message.objects.filter(pk=first.question).update(parent=foreign.answer)
    branch = store.load_branch(first.answer)
    assert [row.id for row in branch.messages] == [first.question, first.answer]
    assert foreign.question not in branch.items


def test_a_message_that_is_not_there_is_said_to_be_missing(conversation):
    with pytest.raises(Message.DoesNotExist):
        store.load_branch(conversation.id)


def test_the_log_tells_the_fold_which_rounds_were_repaired(claimed):
    facts = {"round": 0, "model": "openai:x", "repaired": ["stale"]}
    store.append_round(claimed, [call()], store.Measured(round=facts))
    store.append_result(claimed, result(), store.Measured())
    log = store.load_branch(claimed.message).log()
    assert log[-1].repaired == {0: ("openai:x", ("stale",))}
    assert [item.kind for item in log[-1].items] == ["tool_call", "tool_result"]
