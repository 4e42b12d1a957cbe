"""Writers that meet: one of them wins, and the rows say which."""

from __future__ import annotations

import pytest

from chatapp import store
from chatapp.core.counting import portions
from chatapp.core.items import Item
from chatapp.store import Measured
from chatapp.store.models import ENDED, LIVE, Message, Status
from tests.support.make import call, result, text, thought
from tests.support.patience import PATIENCE
from tests.support.sums import assert_counted, in_all
from tests.support.threads import InThread, race

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]

ROUNDS = 25
MESSAGE_UPDATE = 'UPDATE "chatapp_message"'


@pytest.mark.parametrize("round_stored", [False, True])
def test_finish_stop_interrupt_and_takeover_at_once_leave_one_end_and_a_clean_log(ask, round_stored):
    for _ in range(ROUNDS):
        claim = store.claim_turn(ask().answer, runner="here", seen=0)
        if round_stored:
            store.append_round(claim, [thought(), text(text="Let me see.")], Measured())
        final = text(key="msg_2", round=1 if round_stored else 0)
        finished, stopped, interrupted, taken = race(
            lambda claim=claim, final=final: store.finish(claim, [final], Measured()),
            lambda claim=claim: store.stop(claim.message, None),
            lambda claim=claim: store.interrupt(claim.message, attempt=1),
            lambda claim=claim: store.claim_turn(claim.message, runner="there", seen=1),
        )
        row = Message.objects.get(pk=claim.message)
        ends = {Status.COMPLETE: finished, Status.STOPPED: stopped, Status.INTERRUPTED: interrupted}
        assert {status for status, won in ends.items() if won} == {row.status} & set(ENDED)
        assert finished + interrupted + taken <= 1
        assert row.items.filter(key="msg_2").exists() is finished
        assert list(store.verify_log()) == []


def test_of_ends_that_meet_one_is_counted_and_an_answer_that_goes_on_again_is_another_turn(ask):
    for n in range(ROUNDS):
        claim = store.claim_turn(ask().answer, runner="here", seen=0)
        race(
            lambda claim=claim: store.finish(claim, [text()], Measured()),
            lambda claim=claim: store.stop(claim.message, None),
            lambda claim=claim: store.interrupt(claim.message, attempt=1),
        )
        goes_on, _, _ = race(
            lambda claim=claim: store.requeue(claim.message),
            lambda claim=claim: store.stop(claim.message, None),
            lambda claim=claim: store.stop(claim.message, None),
        )
        store.stop(claim.message, None)
        sums = in_all()
        assert sums["answers"] == n + 1
        turns = sum(len(portions(row.metadata)) for row in Message.objects.filter(role="assistant"))
        assert sums["turns"] == turns and turns >= n + 1 + goes_on
        assert_counted()


def test_of_many_who_claim_stop_or_continue_at_once_one_does(ask, as_many_as_they_like):
    for _ in range(ROUNDS):
        answer = ask().answer
        assert sum(race(*[lambda a=answer: store.claim_turn(a, runner="x", seen=0)] * 3)) == 1
        assert sum(race(*[lambda a=answer: store.stop(a, None)] * 3)) == 1
        assert sum(race(*[lambda a=answer: store.requeue(a)] * 3)) == 1


def timed(item: Item) -> Measured:
    return Measured(timings={item.key: {"start": 0, "end": 1}})


def test_two_results_that_come_at_once_are_both_kept(ask):
    for _ in range(ROUNDS):
        claim = store.claim_turn(ask().answer, runner="here", seen=0)
        store.append_round(claim, [call(), call("fc_2", call_id="call_2")], Measured())
        made = [result(f"r_{n}", call_id=f"call_{n}") for n in (1, 2)]
        race(*(lambda item=item, claim=claim: store.append_result(claim, item, timed(item)) for item in made))
        row = Message.objects.get(pk=claim.message)
        assert sorted(row.items.filter(seq__gte=2).values_list("key", flat=True)) == ["r_1", "r_2"]
        assert row.metadata["timings_ms"].keys() == {"r_1", "r_2"}
        store.stop(claim.message, None)
    assert list(store.verify_log()) == []


@pytest.mark.parametrize("first", ["question", "continue"])
def test_an_answer_does_not_go_on_below_a_question_that_is_just_being_stored(conversation, ask, first):
    """Whoever comes second waits, and then sees what the first has written."""
    answer = ask().answer
    store.stop(answer, None)
    works = {"question": lambda: ask("And?", parent=answer), "continue": lambda: store.requeue(answer)}
    at = 'INSERT INTO "chatapp_item"' if first == "question" else MESSAGE_UPDATE
    early = InThread(works.pop(first), at=at)
    assert early.frozen.wait(PATIENCE)
    late = InThread(works.popitem()[1])
    assert not late.finished(0.2)
    early.thaw.set()
    assert early.finished(PATIENCE) and late.finished(PATIENCE)
    row = Message.objects.get(pk=answer)
    assert not (row.status in LIVE and row.children.exists())
