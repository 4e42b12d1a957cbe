"""verify_log names every way in which rows can contradict the log's promises."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from chatapp import store
from chatapp.models import Conversation, Draft, Item, Message
from chatapp.store import Measured

from .make import call, result, text, thought

pytestmark = pytest.mark.both


@pytest.fixture
def whole(claimed):
    """A turn with a thought, a call, its result and an answer."""
    measured = Measured(durations={"rs_1": 5}, timings={"rs_1": {"start": 0, "end": 5}}, round={"round": 0})
    store.append_round(claimed, [thought(), call()], measured)
    store.append_result(claimed, result("part-2"), Measured())
    store.finish(claimed, [text(round=1)], Measured())
    return Message.objects.get(pk=claimed.message)


def metadata(row: Message, **changes) -> None:
    row.metadata = row.metadata | changes
    row.save()


BREACHES = {
    "a hole in the numbers": (lambda row: row.items.filter(seq=1).update(seq=7), "numbered"),
    "an item too few": (lambda row: row.items.filter(seq=3).delete(), "numbered 0, 1, 2, not 0 to 3"),
    "a duration without its thought": (
        lambda row: metadata(row, reasoning_durations_ms={"x": 1}),
        "belongs to no thought",
    ),
    "a duration of a call": (
        lambda row: metadata(row, reasoning_durations_ms={"fc_1": 1}),
        "belongs to no thought",
    ),
    "a negative duration": (lambda row: metadata(row, reasoning_durations_ms={"rs_1": -1}), "is -1"),
    "a timing without its item": (
        lambda row: metadata(row, timings_ms={"x": {"start": 0, "end": 1}}),
        "no item",
    ),
    "a timing that runs back": (
        lambda row: metadata(row, timings_ms={"rs_1": {"start": 5, "end": 1}}),
        "the timing of",
    ),
    "a result before its call": (
        lambda row: row.items.filter(key="part-2").update(call_id="other"),
        "no call before it",
    ),
    "a call without a result": (
        lambda row: row.items.filter(key="part-2").update(kind="assistant_message"),
        "has no result",
    ),
    "rounds out of order": (lambda row: row.items.filter(key="rs_1").update(round=9), "out of order"),
    "a key with the message's id": (
        lambda row: row.items.filter(seq=0).update(key=f"{row.id}:1"),
        "contains the message's id",
    ),
    "a draft of an ended turn": (
        lambda row: Draft.objects.create(message=row, attempt=1, n=1, saved={}),
        "has a draft although",
    ),
    "a head of another conversation": (
        lambda row: Conversation.objects.create(owner=row.conversation.owner, head=row),
        "is not one of its messages",
    ),
    "a cycle": (lambda row: Message.objects.filter(pk=row.parent_id).update(parent=row), "Conversation"),
    "a question without words": (
        lambda row: Item.objects.filter(message=row.parent_id).delete(),
        "without words",
    ),
}


def test_a_whole_log_verifies(whole):
    assert list(store.verify_log()) == []
    call_command("verify_log")


@pytest.mark.parametrize("breach", BREACHES)
def test_every_breach_is_named(whole, breach, capsys):
    damage, words = BREACHES[breach]
    damage(whole)
    assert any(words in line for line in store.verify_log()), list(store.verify_log())
    with pytest.raises(CommandError, match="breach"):
        call_command("verify_log")
    assert words in capsys.readouterr().out


def test_the_database_itself_refuses_what_cannot_be(whole):
    from django.db import IntegrityError, transaction

    for damage in (
        lambda: Item.objects.create(message=whole, seq=0, key="new", kind="reasoning"),
        lambda: Item.objects.create(message=whole, seq=9, key="rs_1", kind="reasoning"),
        lambda: Item.objects.create(message=whole, seq=9, key="new", kind="poem"),
        lambda: Item.objects.create(message=whole, seq=9, key="", kind="reasoning"),
        lambda: Item.objects.create(message=whole, seq=9, key="new", kind="reasoning", cut=True, wire={}),
        lambda: Message.objects.filter(pk=whole.pk).update(status="dreaming"),
        lambda: Message.objects.filter(pk=whole.pk).update(parent=whole),
        lambda: Message.objects.filter(pk=whole.parent_id).update(status="running"),
        lambda: Message.objects.filter(pk=whole.pk).update(order=0),
        lambda: Conversation.objects.filter(pk=whole.conversation_id).update(head=uuid4()),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            damage()
            from django.db import connection

            connection.check_constraints()
