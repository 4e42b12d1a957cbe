"""verify_log names every way in which rows can contradict the log's promises."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection, transaction

from chatapp import store
from chatapp.store import Measured
from chatapp.store.models import Conversation, Draft, Item, Message
from tests.support.make import call, result, text, thought

pytestmark = pytest.mark.both


@pytest.fixture
def whole(claimed):
    """A turn with a thought, a call, its result and an answer."""
    measured = Measured(
        durations={"rs_1": 5},
        timings={"rs_1": {"start": 0, "end": 5}},
        round={"round": 0, "model": "demo:thinker"},
    )
    store.append_round(claimed, [thought(), call()], measured)
    store.append_result(claimed, result("part-2"), Measured())
    store.finish(claimed, [text(round=1)], Measured())
    return Message.objects.get(pk=claimed.message)


def metadata(row: Message, **changes) -> None:
    row.metadata = row.metadata | changes
    row.save()


def overwrite(table: str, column: str, text: str, where: str, value: object) -> None:
    """Text that the model's own fields would never let through."""
    value = value.hex if isinstance(value, UUID) and connection.vendor == "sqlite" else value
    with connection.cursor() as cursor:
        cursor.execute(f'UPDATE "{table}" SET "{column}" = %s WHERE "{where}" = %s', [text, value])
        assert cursor.rowcount == 1


def write_metadata(row: Message, text: str) -> None:
    overwrite("chatapp_message", "metadata", text, "id", row.id)


def write_wire(row: Message, text: str) -> None:
    overwrite("chatapp_item", "wire", text, "id", row.items.get(key="rs_1").id)


def write_draft(row: Message, text: str) -> None:
    Draft.objects.create(message=row, attempt=1, n=1, saved={})
    overwrite("chatapp_draft", "saved", text, "message_id", row.id)


def write_tools(row: Message, text: str) -> None:
    overwrite("chatapp_conversation", "tools", text, "id", row.conversation_id)


def second_thought(row: Message, **more) -> None:
    Item.objects.create(message=row, seq=4, key="rs_2", kind="reasoning", round=1, **more)
    Message.objects.filter(pk=row.pk).update(next_seq=5)


def a_round(**changes) -> dict:
    return {"round": 0, "model": "demo:thinker"} | changes


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
        "The message to open",
    ),
    "a cycle": (lambda row: Message.objects.filter(pk=row.parent_id).update(parent=row), "Conversation"),
    "a question without words": (
        lambda row: Item.objects.filter(message=row.parent_id).delete(),
        "without words",
    ),
    "metadata that is not JSON": (lambda row: write_metadata(row, "{oops"), "its metadata cannot be read"),
    "metadata of no text": (lambda row: write_metadata(row, ""), "its metadata cannot be read"),
    "metadata nested too deeply": (
        lambda row: write_metadata(row, "[" * 100_000),
        "its metadata cannot be read: nested too deeply",
    ),
    "metadata that is not a map": (lambda row: write_metadata(row, "[1]"), "its metadata is not a map: [1]"),
    "metadata that is null": (lambda row: write_metadata(row, "null"), "its metadata is not a map: None"),
    "a question's metadata": (
        lambda row: write_metadata(row.parent, "{oops"),
        "its metadata cannot be read",
    ),
    "a wire that is not JSON": (lambda row: write_wire(row, "{oops"), "the wire of 'rs_1' cannot be read"),
    "tools that are not JSON": (lambda row: write_tools(row, "{oops"), "it cannot be read"),
    "tools that are not names": (lambda row: write_tools(row, "[7]"), "its tools are not a list of names"),
    "a draft that is not JSON": (lambda row: write_draft(row, "{oops"), "its draft cannot be read"),
    "a draft that is not a map": (lambda row: write_draft(row, "null"), "its draft cannot be read"),
    "a draft of words": (
        lambda row: write_draft(row, '{"n": "x", "at": "soon", "pieces": []}'),
        "its draft stands at 'x', 'soon'",
    ),
    "a draft of an unknown round": (
        lambda row: write_draft(row, '{"n": 1, "at": 2, "pieces": [], "facts": {"round": "first"}}'),
        "the round of its draft is",
    ),
    "durations that are null": (
        lambda row: metadata(row, reasoning_durations_ms=None),
        "its reasoning_durations_ms is not a map: None",
    ),
    "timings that are a list": (lambda row: metadata(row, timings_ms=[1]), "its timings_ms is not a map"),
    "an end that is a word": (lambda row: metadata(row, ended="stopped"), "its ended is not a map"),
    "a clock that is a word": (lambda row: metadata(row, elapsed_ms="long"), "its elapsed_ms is 'long'"),
    "a first round that is null": (lambda row: metadata(row, goes_on_at=None), "its goes_on_at is None"),
    "a duration that is true": (
        lambda row: metadata(row, reasoning_durations_ms={"rs_1": True}),
        "the duration of 'rs_1' is True",
    ),
    "a duration that is a word": (
        lambda row: metadata(row, reasoning_durations_ms={"rs_1": "5"}),
        "the duration of 'rs_1' is '5'",
    ),
    "a duration that its timing denies": (
        lambda row: metadata(row, reasoning_durations_ms={"rs_1": 8}),
        "the duration of 'rs_1' is 8, and its timing says 5",
    ),
    "a timing of words": (
        lambda row: metadata(row, timings_ms={"rs_1": {"start": "now", "end": "then"}}),
        "the timing of 'rs_1' is",
    ),
    "a timing of nulls": (
        lambda row: metadata(row, timings_ms={"rs_1": {"start": None, "end": 3}}),
        "the timing of 'rs_1' is",
    ),
    "a timing without an end": (
        lambda row: metadata(row, timings_ms={"rs_1": {"start": 0}}),
        "the timing of 'rs_1' is",
    ),
    "a timing that is null": (
        lambda row: metadata(row, timings_ms={"rs_1": None}),
        "the timing of 'rs_1' is None",
    ),
    "a thought that alone was not measured": (
        lambda row: second_thought(row),
        "the thought 'rs_2' has no duration",
    ),
    "rounds that are a map": (lambda row: metadata(row, rounds={}), "its rounds are not a list"),
    "rounds that are null": (lambda row: metadata(row, rounds=None), "its rounds are not a list"),
    "a round that is null": (lambda row: metadata(row, rounds=[None]), "entry 0 of its rounds is None"),
    "a round without a number": (
        lambda row: metadata(row, rounds=[a_round(), {"model": "demo:thinker"}]),
        "entry 1 of its rounds",
    ),
    "a round numbered true": (
        lambda row: metadata(row, rounds=[a_round(round=True)]),
        "entry 0 of its rounds",
    ),
    "a round without a model": (lambda row: metadata(row, rounds=[{"round": 0}]), "entry 0 of its rounds"),
    "a repair that is unknown": (
        lambda row: metadata(row, rounds=[a_round(repaired=["glue"])]),
        "entry 0 of its rounds",
    ),
    "a repair that is a list": (
        lambda row: metadata(row, rounds=[a_round(repaired=[["stale"]])]),
        "entry 0 of its rounds",
    ),
    "repairs that are null": (
        lambda row: metadata(row, rounds=[a_round(repaired=None)]),
        "entry 0 of its rounds",
    ),
    "a question's words in an answer": (
        lambda row: row.items.filter(key="msg_1").update(kind="user_message"),
        "the item 'msg_1' (user_message) does not belong in a message of the assistant",
    ),
    "an answer's words in a question": (
        lambda row: row.parent.items.update(kind="assistant_message"),
        "(assistant_message) does not belong in a message of the user",
    ),
}


def test_a_whole_log_verifies(whole):
    assert list(store.verify_log()) == []


WHOLE = {
    "a duration rounded otherwise than its timing": lambda row: metadata(
        row, reasoning_durations_ms={"rs_1": 7}
    ),
    "thoughts that nobody measured": lambda row: metadata(row, reasoning_durations_ms={}, timings_ms={}),
    "a cut thought without a duration": lambda row: second_thought(row, cut=True),
    "a round that was repaired": lambda row: metadata(row, rounds=[a_round(repaired=["stale", "forbidden"])]),
    "a wire that says other words": lambda row: row.items.filter(key="msg_1").update(wire={"text": "No."}),
    "a wire of null": lambda row: write_wire(row, "null"),
}


@pytest.mark.parametrize("case", WHOLE)
def test_what_is_no_breach_is_not_named(whole, case):
    WHOLE[case](whole)
    assert list(store.verify_log()) == []


def test_one_damaged_message_hides_no_other(whole, ask):
    second = Message.objects.get(pk=store.claim_turn(ask().answer, runner="here", seen=0).message)
    write_metadata(whole, "{oops")
    write_wire(whole, "[")
    write_metadata(second, "7")
    told = list(store.verify_log())
    assert [line.split(":")[0] for line in told] == [
        f"Message {pk}" for pk in (whole.pk, whole.pk, second.pk)
    ]


@pytest.mark.parametrize("breach", BREACHES)
def test_every_breach_is_named(whole, breach):
    damage, words = BREACHES[breach]
    damage(whole)
    assert any(words in line for line in store.verify_log()), list(store.verify_log())


def test_the_database_itself_refuses_what_cannot_be(whole):
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
            connection.check_constraints()
