"""What is submitted is fixed, one reviewer holds it, and of those who meet one wins."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from chatapp import store
from chatapp.accounts.store.roles import set_roles
from chatapp.branches.store import forking
from chatapp.reviews.models import Note, Scope, Submission, Submitted, Verdict
from chatapp.reviews.store import reviewing, submitting
from chatapp.reviews.store.reviewing import (
    append_answer,
    append_note,
    assign,
    claim,
    fork_submitted,
    free_for,
    give_verdict,
    held_by,
    load_reading,
    queue_of,
    readable_by,
    release,
)
from chatapp.reviews.store.submitting import submit, withdraw
from chatapp.store import AskedFor, Measured, Refused, deleting
from chatapp.store.models import Conversation, Message, Status
from tests.support.make import text, thought
from tests.support.threads import race

pytestmark = [pytest.mark.both, pytest.mark.django_db]

ROUNDS = 10


def reviewer(name: str) -> User:
    user = User.objects.create_user(name)
    set_roles(user, active=True, staff=False, reviewer=True)
    return user


@pytest.fixture
def bob(db):
    return reviewer("bob")


@pytest.fixture
def erin(db):
    return reviewer("erin")


@pytest.fixture
def answered(ask):
    """A question, and its answer that has ended."""

    def answered(words="Why?", parent=None, status=Status.COMPLETE) -> Message:
        started = ask(words, parent)
        claimed = store.claim_turn(started.answer, runner="here", seen=0)
        store.finish(
            claimed, [thought(), text()], Measured(durations={"rs_1": 1000}, timings={}, elapsed=2000)
        )
        Message.objects.filter(pk=started.answer).update(status=status)
        return Message.objects.get(pk=started.answer)

    return answered


@pytest.fixture
def leaf(answered) -> Message:
    return answered()


def names(submission: Submission) -> set:
    return set(Submitted.objects.filter(submission=submission).values_list("message", flat=True))


def test_a_branch_ends_with_its_message_and_the_tree_has_what_ended(answered, ask, alice):
    first = answered("One?")
    second = answered("Two?", first.pk)
    beside = answered("Beside?")
    live = ask("Now?", second.pk)
    assert names(submit(first, by=alice)) == {first.pk, first.parent_id}
    whole = submit(second, by=alice, scope=Scope.TREE)
    ended = {one for row in (first, second, beside) for one in (row.pk, row.parent_id)}
    assert names(whole) == ended | {live.question}
    assert (whole.branches, whole.thought_ms) == (2, 3000)
    with pytest.raises(Refused, match="still being written"):
        submit(Message.objects.get(pk=live.answer), by=alice)


def test_what_is_below_an_answer_that_runs_again_is_not_in_the_tree(answered, alice):
    first = answered("One?", status=Status.STOPPED)
    second = answered("Two?", first.pk)
    Message.objects.filter(pk=first.pk).update(status=Status.RUNNING)
    assert names(submit(first.parent, by=alice, scope=Scope.TREE)) == {first.parent_id}
    assert second.pk not in names(Submission.objects.get())


def test_later_messages_do_not_join(answered, leaf, alice):
    row = submit(leaf, by=alice, scope=Scope.TREE)
    later = answered("Later?", leaf.pk)
    reading = load_reading(row)
    assert later.pk not in reading.tree.parents and set(reading.tree.parents) == {leaf.pk, leaf.parent_id}
    assert reading.leaf == leaf.pk


def test_it_opens_where_it_was_submitted_or_at_what_is_left(answered, leaf, alice):
    answered("More?", leaf.pk)
    row = submit(leaf, by=alice, scope=Scope.TREE)
    assert load_reading(row).leaf == leaf.pk
    deleting.delete_below(leaf)
    assert load_reading(row).leaf == leaf.parent_id


def test_only_an_owner_submits(leaf, bob):
    with pytest.raises(Refused):
        submit(leaf, by=bob)


def test_what_is_deleted_is_not_submitted(leaf, alice):
    deleting.delete_below(leaf)
    with pytest.raises(Refused):
        submit(leaf, by=alice)


def test_so_many_wait_and_no_more(leaf, alice, bob, monkeypatch):
    monkeypatch.setattr(submitting, "MOST_OPEN", 2)
    first, _ = (submit(leaf, by=alice) for _ in range(2))
    with pytest.raises(Refused, match="2 submissions"):
        submit(leaf, by=alice)
    claim(first, by=bob)
    give_verdict(first, by=bob, verdict=Verdict.APPROVED)
    assert submit(leaf, by=alice)


def test_a_tree_that_is_too_large_is_refused(leaf, alice, monkeypatch):
    monkeypatch.setattr(submitting, "MOST_MESSAGES", 1)
    with pytest.raises(Refused, match="at most 1 messages"):
        submit(leaf, by=alice, scope=Scope.TREE)


def test_a_note_stands_on_what_was_submitted_and_on_nothing_else(leaf, answered, alice, bob):
    review = submit(leaf, by=alice)
    claim(review, by=bob)
    later = answered("And then?", leaf.pk)
    with pytest.raises(Refused):
        append_note(review, by=bob, text="Hm.", message=later.pk)
    assert not Note.objects.exists()


def test_notes_have_an_end(leaf, alice, bob, monkeypatch):
    monkeypatch.setattr(reviewing, "MOST_NOTES", 1)
    row = submit(leaf, by=alice)
    claim(row, by=bob)
    note = append_note(row, by=bob, text="One.", message=leaf.pk)
    with pytest.raises(Refused):
        append_answer(row, by=alice, text="Two.", to=note)


@pytest.mark.django_db(transaction=True)
def test_what_is_sent_twice_is_said_once_also_at_the_same_moment(leaf, alice, bob):
    row = submit(leaf, by=alice)
    claim(row, by=bob)
    assert all(race(*[lambda: append_note(row, by=bob, text="Hm.", message=leaf.pk)] * 4))
    note = Note.objects.get()
    for by in (alice, bob):
        assert all(race(*[lambda by=by: append_answer(row, by=by, text="Hm.", to=note)] * 2))
    assert [said.author for said in Note.objects.order_by("pk")] == [bob, alice, bob]
    append_note(row, by=bob, text="Hm.", message=leaf.pk)
    assert Note.objects.count() == 4, "said again after an answer it is said again"
    verdict = {"verdict": Verdict.REJECTED, "reason": "No."}
    assert all(race(*[lambda: give_verdict(row, by=bob, **verdict)] * 4))
    with pytest.raises(Refused, match="has been given"):
        give_verdict(row, by=bob, verdict=Verdict.REJECTED, reason="Because.")
    assert Submission.objects.get().reason == "No."


@pytest.mark.django_db(transaction=True)
def test_the_same_form_submits_once_also_at_the_same_moment(leaf, alice):
    key = uuid4()
    assert all(race(*[lambda: submit(leaf, by=alice, key=key)] * 4))
    assert Submission.objects.count() == 1 and Submitted.objects.count() == 2


BREACHES = {
    "opens elsewhere": lambda row, other, note: Submission.objects.update(leaf=other),
    "a message of elsewhere": lambda row, other, note: row.messages.filter(message=row.leaf_id).update(
        message=other
    ),
    "more items than there are": lambda row, other, note: row.messages.update(items=99),
    "a record that is none": lambda row, other, note: row.messages.update(facts=[7]),
    "a note on what was not submitted": lambda row, other, note: row.messages.filter(
        message=note.message_id
    ).delete(),
    "an answer to an answer": lambda row, other, note: row.notes.exclude(pk=note.pk).update(
        answer_to=row.notes.latest("pk").pk
    ),
}


@pytest.mark.parametrize("breach", BREACHES)
def test_a_review_that_contradicts_itself_is_named(answered, leaf, alice, bob, erin, breach):
    row = submit(leaf, by=alice)
    claim(row, by=bob)
    note = append_note(row, by=bob, text="Hm.", message=leaf.pk)
    append_answer(row, by=alice, text="Oh.", to=note)
    assert list(store.verify_log()) == []
    other = Message.objects.get(
        pk=store.open_conversation(erin, "?", tools=[], asked=AskedFor(model="demo:thinker")).answer
    )
    BREACHES[breach](row, other, note)
    assert [line for line in store.verify_log() if line.startswith(f"Submission {row.pk}")]


def test_who_may_see_what(leaf, alice, bob, erin):
    free, own = submit(leaf, by=alice), submit(leaf, by=alice)
    claim(own, by=bob)
    assert {*held_by(bob)} == {own} and {*free_for(bob)} == {free} and {*queue_of(bob)} == {free, own}
    assert {*queue_of(erin)} == {free} and not held_by(erin)
    assert {*readable_by(alice)} == {free, own} and {*readable_by(bob)} == {own} and not readable_by(erin)
    assert not queue_of(alice)


@pytest.mark.parametrize("how", [{"active": False, "reviewer": True}, {"active": True, "reviewer": False}])
def test_what_somebody_holds_who_reviews_no_more_is_free(leaf, alice, bob, erin, how):
    row = submit(leaf, by=alice)
    claim(row, by=bob)
    assert not free_for(erin)
    set_roles(bob, staff=False, **how)
    assert {*free_for(erin)} == {row}
    claim(row, by=erin)
    assert Submission.objects.get().reviewer == erin


def test_whoever_lost_it_does_nothing_to_it(leaf, alice, bob, erin):
    row = submit(leaf, by=alice)
    claim(row, by=bob)
    note = append_note(row, by=bob, text="Mine.", message=leaf.pk)
    assign(row, to=erin)
    for command in (
        lambda: claim(row, by=bob),
        lambda: append_note(row, by=bob, text="Mine.", message=leaf.pk),
        lambda: append_answer(row, by=bob, text="Mine.", to=note),
        lambda: give_verdict(row, by=bob, verdict=Verdict.APPROVED),
        lambda: release(row, by=bob),
        lambda: fork_submitted(row, by=bob, until=leaf.pk),
    ):
        with pytest.raises(Refused):
            command()
    assert Note.objects.count() == 1 and Submission.objects.get().reviewer == erin


def test_what_was_withdrawn_takes_nothing_more(leaf, alice, bob):
    row = submit(leaf, by=alice)
    claim(row, by=bob)
    note = append_note(row, by=bob, text="Hm.", message=leaf.pk)
    assert withdraw(row) and not withdraw(row)
    for command in (
        lambda: claim(row, by=bob),
        lambda: append_note(row, by=bob, text="Hm.", message=leaf.pk),
        lambda: append_answer(row, by=alice, text="Hm.", to=note),
        lambda: give_verdict(row, by=bob, verdict=Verdict.APPROVED),
        lambda: fork_submitted(row, by=bob, until=leaf.pk),
        lambda: assign(row, to=bob),
    ):
        with pytest.raises(Refused):
            command()


def test_a_fork_takes_the_branch_and_its_form_counts_once(answered, leaf, alice, bob):
    beside = answered("Beside?")
    row, key = submit(leaf, by=alice), uuid4()
    claim(row, by=bob)
    made = {fork_submitted(row, by=bob, until=leaf.pk, key=key).conversation.pk for _ in range(2)}
    assert len(made) == 1
    assert Message.objects.filter(conversation__owner=bob).count() == 2
    assert [fork.submission_id for fork in forking.load_origins(leaf.conversation_id).forks] == [row.pk]
    with pytest.raises(Refused):
        fork_submitted(row, by=bob, until=beside.pk)


def test_purging_takes_the_review_along(leaf, alice, bob):
    row = submit(leaf, by=alice)
    claim(row, by=bob)
    append_note(row, by=bob, text="Hm.", message=leaf.pk)
    deleting.delete_conversation(leaf.conversation_id)
    Conversation.objects.update(deleted_at="2001-01-01T00:00:00Z")
    deleting.purge()
    assert not Submission.objects.exists() and not Note.objects.exists() and not Submitted.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_many_who_take_it_at_once_one_gets_it(leaf, alice):
    people = [reviewer(f"reviewer {n}") for n in range(4)]
    for _ in range(ROUNDS):
        row = submit(leaf, by=alice)
        won = race(*(lambda who=who, row=row: claim(row, by=who) for who in people))
        assert sum(won) == 1
        assert Submission.objects.get(pk=row.pk).reviewer == people[won.index(True)]
        give_verdict(row, by=people[won.index(True)], verdict=Verdict.APPROVED)


@pytest.mark.django_db(transaction=True)
def test_withdrawing_and_judging_at_once_leave_one_order(leaf, alice, bob):
    for _ in range(ROUNDS):
        row = submit(leaf, by=alice)
        claim(row, by=bob)
        withdrawn, judged, noted = race(
            lambda row=row: withdraw(row),
            lambda row=row: give_verdict(row, by=bob, verdict=Verdict.APPROVED),
            lambda row=row: append_note(row, by=bob, text="Hm.", message=leaf.pk),
        )
        stored = Submission.objects.get(pk=row.pk)
        assert withdrawn and stored.withdrawn_at
        assert bool(stored.verdict) is judged and stored.notes.exists() is noted


@pytest.mark.django_db(transaction=True)
def test_submitting_and_continuing_at_once_fix_what_was_there(answered, alice, as_many_as_they_like):
    for _ in range(ROUNDS):
        leaf = answered(status=Status.STOPPED)
        submitted, _ = race(
            lambda leaf=leaf: submit(leaf, by=alice), lambda leaf=leaf: store.requeue(leaf.pk)
        )
        kept = Submitted.objects.filter(message=leaf.pk).first()
        assert bool(kept) is submitted
        assert kept is None or (kept.status, kept.items) == (Status.STOPPED, leaf.next_seq)
        Submission.objects.update(withdrawn_at="2001-01-01T00:00:00Z")


def test_asking_again_is_another_branch_and_is_not_in_it(leaf, alice):
    row = submit(leaf, by=alice)
    other = store.start_answer(leaf.parent_id, author=alice, asked=AskedFor(model="demo:thinker"))
    assert other.answer not in load_reading(row).tree.parents
