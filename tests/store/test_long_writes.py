"""Long writes are whole or not there, give way to everybody else, and are one at a time."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from chatapp import store
from chatapp.accounts.store import leaving
from chatapp.branches.models import Origin
from chatapp.branches.store.forking import NOT_THERE, WENT_ON, Extent, Manner, fork
from chatapp.conversations import store as listing
from chatapp.reviews.models import Scope, Submission, Submitted
from chatapp.reviews.store import submitting
from chatapp.store import Refused, deleting
from chatapp.store.database import long_writes
from chatapp.store.database.long_writes import LOST, ONE_AT_A_TIME, TOO_MANY, long_write
from chatapp.store.models import Conversation, Message
from chatapp.store.running_models import LongWrite
from tests.support.faults import beside
from tests.support.turns import ask

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]

TURNS = 6


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Few messages are many already."""
    for name, value in {"AT_ONCE": 4, "FIRST": 2, "LARGEST": 3}.items():
        monkeypatch.setattr(long_writes, name, value)


@pytest.fixture
def leaf(alice) -> Message:
    answer = ask(alice, text="One?")
    for n in range(1, TURNS):
        answer = ask(alice, answer, f"{n}?")
    return answer


class Died(BaseException):
    """As a process does: nothing is tidied up afterwards."""


def dying(after: int) -> Manner:
    pieces = []

    def dress(copies) -> None:
        pieces.append(copies)
        if len(pieces) > after:
            raise Died

    return Manner(dress=dress)


def as_if_dead(person) -> None:
    """Of a process that died nothing has removed the row, and nobody has touched it for long."""
    row = LongWrite(person=person, key=uuid4(), touched_at=timezone.now() - timedelta(minutes=2))
    LongWrite.objects.filter(person=person).delete()
    row.save(force_insert=True)


def test_a_long_fork_is_whole(leaf, bob):
    made = fork(leaf, by=bob, extent=Extent.EVERYTHING)
    assert made.messages == 2 * TURNS
    assert made.conversation.messages.count() == 2 * TURNS
    assert made.conversation.head_id == made.copies[leaf.pk]
    assert [row.id for row in listing.load_page(bob).rows] == [made.conversation.pk]
    assert not LongWrite.objects.exists()
    assert list(store.verify_log()) == []


def test_a_fork_whose_maker_died_was_never_there_and_is_purged(leaf, bob):
    key = uuid4()
    with pytest.raises(Died):
        fork(leaf, by=bob, extent=Extent.EVERYTHING, submission=key, manner=dying(2))
    as_if_dead(bob)
    assert Message.objects.filter(conversation=key).exists()
    assert listing.load_page(bob).rows == ()
    assert not deleting.may_restore(key, bob)
    assert not Origin.objects.exists()
    assert list(store.verify_log()) == []
    with pytest.raises(Refused, match="not finished"):
        fork(leaf, by=bob, extent=Extent.EVERYTHING, submission=key)
    deleting.purge()
    assert not Conversation.objects.filter(pk=key).exists()
    assert not LongWrite.objects.exists()
    assert fork(leaf, by=bob, extent=Extent.EVERYTHING, submission=key).messages == 2 * TURNS


def test_what_is_being_made_is_not_purged(leaf, bob):
    key = uuid4()
    manner = Manner(dress=lambda copies: deleting.purge(timedelta(0)))
    # In the middle of a piece the purge would wait for it; it sees what the piece sees.
    assert fork(leaf, by=bob, extent=Extent.EVERYTHING, submission=key, manner=manner).messages == 2 * TURNS


def test_few_messages_that_weigh_much_are_long_too(alice, bob):
    words = "a" * (long_writes.HEAVY + 1)
    source = ask(alice, text=words)
    with long_write(bob), pytest.raises(Refused, match=ONE_AT_A_TIME):
        fork(source, by=bob, extent=Extent.EVERYTHING)
    made = fork(source, by=bob, extent=Extent.EVERYTHING)
    assert (made.messages, store.load_items(made.copies[source.parent_id])[0].text) == (2, words)
    assert list(store.verify_log()) == []


def test_one_person_has_one_long_write_at_a_time_and_others_have_theirs(leaf, alice, bob):
    with long_write(bob):
        with pytest.raises(Refused, match=ONE_AT_A_TIME):
            fork(leaf, by=bob, extent=Extent.EVERYTHING)
        assert fork(leaf, by=alice, extent=Extent.EVERYTHING).messages == 2 * TURNS
    assert fork(leaf, by=bob, extent=Extent.EVERYTHING).messages == 2 * TURNS


def test_so_many_people_have_theirs_at_a_time(leaf, alice, bob, charlie, monkeypatch):
    monkeypatch.setattr(long_writes, "MOST", 2)
    with long_write(bob), long_write(charlie), pytest.raises(Refused, match=TOO_MANY):
        fork(leaf, by=alice, extent=Extent.EVERYTHING)
    assert fork(leaf, by=alice, extent=Extent.EVERYTHING).messages == 2 * TURNS


def test_whoever_was_taken_for_dead_writes_no_more(leaf, bob):
    with long_write(bob) as slow:
        as_if_dead(bob)
        assert fork(leaf, by=bob, extent=Extent.EVERYTHING).messages == 2 * TURNS
        with pytest.raises(Refused, match=LOST), slow.piece():
            raise AssertionError("this piece must not begin")


def test_between_two_pieces_everybody_may_write(leaf, bob, monkeypatch):
    """In each pause another process writes, and waits for nobody."""
    pauses = []

    def write(seconds: float) -> None:
        pauses.append(seconds)
        assert seconds > 0
        _write_at_once()

    monkeypatch.setattr(long_writes.time, "sleep", write)
    fork(leaf, by=bob, extent=Extent.EVERYTHING)
    assert len(pauses) > 4


def _write_at_once() -> None:
    words = "UPDATE chatapp_conversation SET title = title"
    if connection.vendor == "sqlite":
        other = sqlite3.connect(connection.settings_dict["NAME"], timeout=0, isolation_level=None)
        other.execute(words)
        other.close()
    else:
        with beside() as other:
            other.execute("SET lock_timeout = 1")
            other.execute(words)


def test_a_source_that_changes_meanwhile_is_not_forked(leaf, bob, monkeypatch):
    def delete(seconds: float) -> None:
        if not Message.objects.filter(deletion__isnull=False).exists():
            deleting.delete_below(leaf)

    monkeypatch.setattr(long_writes.time, "sleep", delete)
    with pytest.raises(Refused, match=WENT_ON):
        fork(leaf, by=bob, extent=Extent.EVERYTHING)
    assert listing.load_page(bob).rows == ()
    assert list(store.verify_log()) == []


def test_a_source_that_is_deleted_when_all_is_copied_is_not_forked(leaf, bob, monkeypatch):
    copied = Message.objects.exclude(conversation=leaf.conversation_id)

    def delete(seconds: float) -> None:
        if copied.count() == 2 * TURNS:
            Conversation.objects.filter(pk=leaf.conversation_id).update(deleted_at=timezone.now())

    monkeypatch.setattr(long_writes.time, "sleep", delete)
    with pytest.raises(Refused, match=NOT_THERE):
        fork(leaf, by=bob, extent=Extent.EVERYTHING)
    assert listing.load_page(bob).rows == ()


def test_a_long_submission_is_whole(leaf, alice):
    made = submitting.submit(leaf, by=alice, scope=Scope.TREE)
    assert made.messages.count() == 2 * TURNS
    assert list(submitting.submissions_of(alice)) == [made]
    assert list(store.verify_log()) == []


def test_what_is_deleted_when_all_of_it_is_fixed_is_not_submitted(leaf, alice, monkeypatch):
    def delete(seconds: float) -> None:
        if Submitted.objects.count() == 2 * TURNS:
            Conversation.objects.filter(pk=leaf.conversation_id).update(deleted_at=timezone.now())

    monkeypatch.setattr(long_writes.time, "sleep", delete)
    with pytest.raises(Refused, match=submitting.GONE):
        submitting.submit(leaf, by=alice, scope=Scope.TREE)
    assert not Submission.objects.filter(withdrawn_at=None).exists()


def test_a_submission_whose_maker_died_was_never_there_and_is_purged(leaf, alice, monkeypatch):
    def die(seconds: float) -> None:
        if Submitted.objects.count() > 3:
            raise Died

    monkeypatch.setattr(long_writes.time, "sleep", die)
    key = uuid4()
    with pytest.raises(Died):
        submitting.submit(leaf, by=alice, scope=Scope.TREE, key=key)
    monkeypatch.undo()
    as_if_dead(alice)
    assert Submitted.objects.exists()
    assert not submitting.submissions_of(alice).exists()
    assert list(store.verify_log()) == []
    deleting.purge()
    assert not Submission.objects.exists()
    assert submitting.submit(leaf, by=alice, scope=Scope.TREE, key=key).messages.count() == 2 * TURNS


def test_whoever_leaves_is_gone_at_once_and_the_rest_of_it_before_long(leaf, alice, bob, monkeypatch):
    kept = fork(leaf, by=bob)
    monkeypatch.setattr(leaving, "SECONDS", 0)
    leaving.leave(alice)
    alice.refresh_from_db()
    assert not alice.is_active
    assert listing.load_page(alice).rows == ()
    assert Message.objects.filter(conversation=leaf.conversation_id).exists()
    LongWrite.objects.update(touched_at=timezone.now() - timedelta(minutes=2))
    deleting.purge()
    assert not type(alice).objects.filter(pk=alice.pk).exists()
    assert not Message.objects.filter(conversation=leaf.conversation_id).exists()
    assert kept.conversation.messages.count() == 2 * TURNS
    assert list(store.verify_log()) == []
