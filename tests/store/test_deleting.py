"""What is deleted goes with everything below it, takes nobody's place away, and comes back as it was."""

from __future__ import annotations

from datetime import timedelta
from itertools import islice
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from chatapp import store
from chatapp.store import deleting, places
from chatapp.store.changes import changed
from chatapp.store.database import long_writes
from chatapp.store.models import Conversation, Item, Message, Place, Status

pytestmark = [pytest.mark.django_db, pytest.mark.both]


@pytest.fixture
def turn(ask):
    """A question and its finished answer below a message."""

    def turn(text="Why?", below=None):
        started = ask(text, below)
        claim = store.claim_turn(started.answer, runner="here", seen=0)
        store.finish(claim, [], store.Measured())
        return started

    return turn


def message(pk):
    return Message.objects.get(pk=pk)


def head(conversation):
    return Conversation.objects.get(pk=conversation.pk).head_id


def shown(conversation):
    rows = Message.objects.filter(conversation=conversation, deletion=None).order_by("order")
    return list(rows.values_list("pk", flat=True))


def state(conversation):
    """Everything that undoing must bring back."""
    rows = Message.objects.filter(conversation=conversation).order_by("order")
    where = Place.objects.order_by("pk").values_list("viewer", "head", "forks")
    return (
        head(conversation),
        list(where),
        list(rows.values_list("pk", "parent", "status", "metadata", "deletion", "deleted_at")),
    )


def whole():
    assert list(store.verify_log()) == []


def test_a_message_goes_with_everything_below_it(conversation, turn):
    first = turn()
    second = turn("More", first.answer)
    other = turn("Else", first.answer)
    assert deleting.count_below(message(second.question)) == 2
    assert deleting.count_below(message(first.question)) == 6
    gone = deleting.delete_below(message(second.question))
    assert gone.count == 2
    assert shown(conversation) == [first.question, first.answer, other.question, other.answer]
    assert deleting.count_below(message(first.question)) == 4
    whole()


def test_the_head_moves_to_the_nearest_leaf_that_is_left(conversation, turn):
    first = turn()
    beside = turn("Beside", first.answer)
    deep = turn("Deep", turn("Here", first.answer).answer)
    assert head(conversation) == deep.answer
    deleting.delete_below(message(message(deep.question).parent_id))
    assert head(conversation) == message(deep.question).parent.parent_id
    deleting.delete_below(message(message(head(conversation)).pk))
    assert head(conversation) == beside.answer
    deleting.delete_below(message(beside.question))
    assert head(conversation) == first.answer


def test_without_the_first_question_another_root_opens_and_without_any_none(conversation, turn):
    other, first = turn("Other"), turn("First")
    deleting.delete_below(message(first.question))
    assert head(conversation) == other.answer
    last = deleting.delete_below(message(other.question))
    assert head(conversation) is None
    assert shown(conversation) == []
    deleting.undo(last.id, conversation.owner)
    assert head(conversation) == other.answer


def test_a_head_elsewhere_stays_where_it_is(conversation, turn):
    first = turn()
    beside, here = turn("Beside", first.answer), turn("Here", first.answer)
    gone = deleting.delete_below(message(beside.question))
    assert head(conversation) == here.answer
    deleting.undo(gone.id, conversation.owner)
    assert head(conversation) == here.answer


def test_everybody_who_was_inside_moves_and_comes_back(conversation, turn, bob, charlie):
    first = turn()
    beside, here = turn("Beside", first.answer), turn("Here", first.answer)
    for viewer, where in ((bob, here), (charlie, beside)):
        Place.objects.create(viewer=viewer, conversation=conversation, head_id=where.answer)
    before = state(conversation)
    gone = deleting.delete_below(message(here.question))
    assert places.load_head(bob, conversation) == beside.answer
    assert places.load_head(charlie, conversation) == beside.answer
    assert deleting.undo(gone.id, conversation.owner).count == 2
    assert state(conversation) == before
    whole()


def test_whoever_went_on_meanwhile_is_not_called_back(conversation, turn):
    first = turn()
    here = turn("Here", first.answer)
    gone = deleting.delete_below(message(here.question))
    new = turn("New", first.answer)
    deleting.undo(gone.id, conversation.owner)
    assert head(conversation) == new.answer
    assert here.answer in shown(conversation)


def test_undoing_twice_does_nothing(conversation, turn):
    first = turn()
    gone = deleting.delete_below(message(first.answer))
    assert deleting.undo(gone.id, conversation.owner)
    before = state(conversation)
    assert deleting.undo(gone.id, conversation.owner) is None
    assert state(conversation) == before


def test_only_the_owner_can_undo_and_only_for_a_day(conversation, turn, bob):
    gone = deleting.delete_below(message(turn().question))
    assert deleting.undo(gone.id, bob) is None
    Message.objects.filter(deletion=gone.id).update(deleted_at=timezone.now() - timedelta(hours=25))
    assert deleting.load_deletion(gone.id, conversation.owner) is None
    assert deleting.undo(gone.id, conversation.owner) is None
    assert shown(conversation) == []


def test_what_was_deleted_inside_comes_back_only_after_what_it_belonged_to(conversation, turn):
    first = turn()
    second = turn("More", first.answer)
    before = state(conversation)
    inner = deleting.delete_below(message(second.question))
    outer = deleting.delete_below(message(first.question))
    assert outer.count == 2
    with pytest.raises(store.Refused, match="first"):
        deleting.undo(inner.id, conversation.owner)
    deleting.undo(outer.id, conversation.owner)
    assert second.question not in shown(conversation)
    deleting.undo(inner.id, conversation.owner)
    assert state(conversation) == before


def test_nothing_is_deleted_while_an_answer_in_it_is_written(conversation, turn, ask):
    first = turn()
    running = ask("More", first.answer)
    before = state(conversation)
    for row in (first.question, running.question, running.answer):
        assert deleting.load_live_below(message(row)) == [running.answer]
        with pytest.raises(deleting.StillAnswering):
            deleting.delete_below(message(row))
    assert state(conversation) == before
    store.stop(running.answer, None)
    assert deleting.delete_below(message(first.question)).count == 4


def test_a_message_is_deleted_once(conversation, turn):
    row = message(turn().question)
    deleting.delete_below(row)
    with pytest.raises(store.Refused):
        deleting.delete_below(row)


def test_nobody_asks_below_what_is_gone(conversation, turn, ask):
    first = turn()
    deleting.delete_below(message(first.answer))
    with pytest.raises(store.Refused):
        ask("More", first.answer)


def test_a_failure_at_the_very_end_leaves_everything(conversation, turn):
    first = turn()
    before = state(conversation)

    def fails(**_):
        raise RuntimeError

    changed.connect(fails)
    try:
        with pytest.raises(RuntimeError):
            deleting.delete_below(message(first.question))
    finally:
        changed.disconnect(fails)
    assert state(conversation) == before


def test_a_deleted_conversation_comes_back_within_a_day(conversation, turn, ask, alice, bob):
    running = ask()
    assert deleting.delete_conversation(conversation.pk) == [running.answer]
    with pytest.raises(store.Refused):
        ask("More")
    assert not deleting.restore_conversation(conversation.pk, bob)
    assert deleting.may_restore(conversation.pk, alice)
    assert deleting.restore_conversation(conversation.pk, alice)
    assert not deleting.restore_conversation(conversation.pk, alice)
    deleting.delete_conversation(conversation.pk)
    Conversation.objects.update(deleted_at=timezone.now() - timedelta(hours=25))
    assert not deleting.restore_conversation(conversation.pk, alice)


def chain(conversation, length, below=None):
    """A line of messages, one below the other."""
    ids = [uuid4() for _ in range(length)]
    start = Message.objects.filter(conversation=conversation).count()
    line = enumerate(zip(ids, [below, *ids], strict=False))
    while some := list(islice(line, 5000)):
        Message.objects.bulk_create(
            Message(
                id=pk,
                conversation=conversation,
                parent_id=above,
                order=start + n,
                role="assistant",
                status=Status.COMPLETE,
            )
            for n, (pk, above) in some
        )
    Conversation.objects.filter(pk=conversation.pk).update(next_order=start + length, head=ids[-1])
    return ids


def test_a_line_of_twenty_thousand_messages_goes_and_comes_back(conversation):
    ids = chain(conversation, 20_000)
    assert deleting.count_below(message(ids[10])) == 19_990
    gone = deleting.delete_below(message(ids[10]))
    assert gone.count == 19_990
    assert head(conversation) == ids[9]
    assert deleting.undo(gone.id, conversation.owner).count == 19_990
    assert head(conversation) == ids[-1]


def test_a_cycle_in_damaged_rows_ends(conversation):
    a, b, c = chain(conversation, 3)
    Message.objects.filter(pk=a).update(parent=c)
    assert deleting.count_below(message(b)) == 2
    assert deleting.delete_below(message(b)).count == 2
    assert head(conversation) == a


def test_after_a_week_it_is_gone_for_good_and_nothing_else_is(conversation, turn, alice):
    kept = turn("Kept")
    old, recent = turn("Old"), turn("Recent")
    copy = store.start_conversation(alice, tools=[])
    Conversation.objects.filter(pk=copy.pk).update(forked_from=old.answer)
    oldest = deleting.delete_below(message(old.question))
    newest = deleting.delete_below(message(recent.question))
    Message.objects.filter(deletion=oldest.id).update(deleted_at=timezone.now() - timedelta(days=8))
    Message.objects.filter(deletion=newest.id).update(deleted_at=timezone.now() - timedelta(days=6))
    assert deleting.purge() == 2
    assert not Message.objects.filter(deletion=oldest.id).exists()
    assert deleting.purge() == 0
    assert shown(conversation) == [kept.question, kept.answer]
    assert Message.objects.filter(deletion=newest.id).count() == 2
    assert Conversation.objects.get(pk=copy.pk).forked_from is None
    whole()


@pytest.fixture
def alone(monkeypatch):
    """Nobody else wants the database: on a busy machine pieces would become small, and the pauses between them long."""
    monkeypatch.setitem(long_writes.PACES, connection.vendor, long_writes.WritePace(piece=60, share=0))


def test_an_old_conversation_is_gone_for_good_from_its_leaves_up(conversation, alice, turn, alone):
    turn("Why?")
    chain(conversation, 1500)
    other = store.start_conversation(alice, tools=[])
    deleting.delete_conversation(conversation.pk)
    assert deleting.purge() == 0
    Conversation.objects.filter(pk=conversation.pk).update(deleted_at=timezone.now() - timedelta(days=8))
    assert deleting.purge() == 1502
    assert list(Conversation.objects.values_list("pk", flat=True)) == [other.pk]
    assert not Message.objects.exists() and not Item.objects.exists()


def test_damaged_rows_do_not_hold_up_the_purge(conversation):
    a, b, c = chain(conversation, 3)
    Message.objects.filter(pk=a).update(parent=c)
    Message.objects.filter(pk=b).update(parent=None, deletion=uuid4(), deleted_at="2020-01-01T00:00Z")
    assert deleting.purge() == 1
    assert shown(conversation) == [a, c]
    assert message(c).parent is None
