"""How many turns of one person run at once: whatever begins them, and whoever else begins some."""

from __future__ import annotations

from threading import Barrier
from uuid import uuid4

import pytest

from chatapp import store
from chatapp.core.decision import Decision, shown_hash
from chatapp.limits.store import BeyondLimit
from chatapp.store import AskedFor, Measured, Refused
from chatapp.store.models import LIVE, Message, Status
from chatapp.store.turns_at_once import MOST, TOO_MANY
from tests.support.make import call, text
from tests.support.patience import PATIENCE
from tests.support.threads import InThread
from tests.support.turns import begun

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]

DEMO = AskedFor(model="demo:thinker")


def answered(person):
    started = begun(person)
    store.finish(store.claim_turn(started.answer, runner="here", seen=0), [text()], Measured())
    return started


def waiting(person, beside=None):
    """An answer that asks for their word about one call."""
    started = store.start_answer(beside.question, author=person, asked=DEMO) if beside else begun(person)
    claim = store.claim_turn(started.answer, runner="here", seen=0)
    store.append_round(claim, [call(name="send")], Measured())
    store.park(claim, [call(name="send")], Measured())
    return started


def decide(started, person, decision=Decision.ONCE):
    answers = {"fc_1": (decision, shown_hash("{}", "it"))}
    return store.decide(started.answer, answers, by=person, fingerprints={"send": "it"}, runner="here")


def fill(person, most=MOST):
    return [begun(person) for _ in range(most)]


def running(person):
    rows = Message.objects.filter(conversation__owner=person)
    return rows.filter(status__in=(Status.QUEUED, Status.RUNNING)).count()


def test_every_way_to_begin_one_more_is_refused_in_words_and_leaves_nothing(alice, bob):
    done, stopped, asks = answered(alice), begun(alice), waiting(alice)
    store.stop(stopped.answer, None)
    fill(alice)
    before = Message.objects.count()
    ways = [
        lambda: begun(alice),
        lambda: store.start_turn(done.conversation, "And?", parent=done.answer, author=alice, asked=DEMO),
        lambda: store.start_answer(done.question, author=alice, asked=DEMO),
        lambda: store.requeue(stopped.answer),
        lambda: decide(asks, alice),
        lambda: decide(asks, alice, Decision.DENIED),
    ]
    for way in ways:
        with pytest.raises(Refused) as refusal:
            way()
        assert str(refusal.value) == TOO_MANY
    assert Message.objects.count() == before
    assert Message.objects.get(pk=stopped.answer).status == Status.STOPPED
    assert Message.objects.get(pk=asks.answer).status == Status.WAITING
    begun(bob)


def test_when_one_has_ended_another_begins(alice):
    first, *_ = fill(alice)
    store.stop(first.answer, None)
    begun(alice)
    with pytest.raises(BeyondLimit):
        begun(alice)


def test_what_waits_for_a_person_is_not_counted(alice):
    for _ in range(MOST + 2):
        waiting(alice)
    fill(alice)
    assert running(alice) == MOST


def test_a_word_for_the_conversation_sets_as_many_going_as_there_is_room_for(alice):
    asks = [first := waiting(alice), *(waiting(alice, beside=first) for _ in range(3))]
    fill(alice, MOST - 2)
    assert len(decide(first, alice, Decision.CONVERSATION)) == 2
    assert running(alice) == MOST
    left = [each for each in asks if Message.objects.get(pk=each.answer).status == Status.WAITING]
    assert len(left) == 2
    store.stop(first.answer, None)
    assert decide(left[0], alice) == [left[0].answer]


def test_a_form_that_is_sent_twice_gives_what_it_gave_however_many_run(alice):
    key = uuid4()
    first = begun(alice, submission=key)
    fill(alice, MOST - 1)
    with pytest.raises(store.SentAlready) as again:
        begun(alice, submission=key)
    assert again.value.started == first


def test_of_fifty_questions_below_one_answer_at_once_so_many_run(alice, bob):
    above = answered(alice)
    together = Barrier(50)

    def ask(number):
        together.wait(PATIENCE)
        store.start_turn(
            above.conversation, f"Question {number}?", parent=above.answer, author=alice, asked=DEMO
        )

    racers = [InThread(lambda n=n: ask(n)) for n in range(50)]
    assert all(racer.finished(PATIENCE) for racer in racers)
    refusals = [racer.problem for racer in racers if racer.problem]
    assert {str(problem) for problem in refusals} == {TOO_MANY}
    assert len(refusals) == 50 - MOST
    assert Message.objects.filter(status__in=LIVE).count() == MOST


def test_words_and_questions_that_meet_never_wait_for_each_other(alice):
    """Both lock the person and the conversation: in the same order."""
    for _ in range(10):
        asks = waiting(alice)
        line = Barrier(2)

        def one(work, line=line):
            line.wait(PATIENCE)
            work()

        works = [
            lambda asks=asks: decide(asks, alice),
            lambda asks=asks: store.start_answer(asks.question, author=alice, asked=DEMO),
        ]
        racers = [InThread(lambda work=work: one(work)) for work in works]
        assert all(racer.finished(PATIENCE) for racer in racers)
        assert [racer.problem for racer in racers] == [None, None]
        for row in Message.objects.filter(status__in=LIVE):
            store.stop(row.pk, None)
