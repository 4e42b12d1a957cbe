"""The life of a turn in rows: claim, append, finish, and every way in which a turn changes hands."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatapp import store
from chatapp.core.events import Asked, ItemDelta, ItemDone, ItemStarted
from chatapp.core.items import Item, Kind
from chatapp.core.recorded import Recorded
from chatapp.store import Fenced, Measured
from chatapp.store.models import Draft, Message, Status
from chatapp.thread.message import version_of
from chatapp.turns.runner import _claim
from tests.support.make import call, result, seen, text, thought

pytestmark = pytest.mark.both


def row(claim: store.Claim) -> Message:
    return Message.objects.get(pk=claim.message)


def kinds(claim: store.Claim) -> list[tuple[int, str, bool]]:
    return list(row(claim).items.order_by("seq").values_list("seq", "kind", "cut"))


def half_a_round():
    """One thought that is done after 2 s, and the first words of an answer."""
    return [
        (0, Asked(0)),
        (100, ItemStarted("rs_1", Kind.REASONING)),
        (900, ItemDelta("rs_1", "Let me see.")),
        (2100, ItemDone(Item(key="rs_1", kind=Kind.REASONING, text="Let me see.", wire={"id": "rs_1"}))),
        (2200, ItemStarted("msg_1", Kind.ASSISTANT_MESSAGE)),
        (2300, ItemDelta("msg_1", "It is")),
    ]


def test_of_two_who_claim_the_same_attempt_one_succeeds(ask):
    answer = ask().answer
    assert store.claim_turn(answer, runner="a", seen=0).attempt == 1
    with pytest.raises(Fenced):
        store.claim_turn(answer, runner="b", seen=0)
    assert Message.objects.get(pk=answer).runner == "a"


def test_a_claim_and_what_is_to_be_sent_of_it_are_three_questions(ask):
    answer = ask().answer
    with CaptureQueriesContext(connection) as asked:
        claim, branch = _claim(answer, runner="a", seen=0)
    assert branch
    assert branch.leaf.attempt == claim.attempt == 1
    assert [each["sql"].split()[0] for each in asked if "chatapp_" in each["sql"]] == [
        "UPDATE",
        "WITH",
        "SELECT",
    ]


def test_a_turn_that_has_ended_cannot_be_claimed(claimed):
    store.finish(claimed, [text()], Measured())
    with pytest.raises(Fenced):
        store.claim_turn(claimed.message, runner="b", seen=1)


def test_items_are_numbered_from_0_without_holes(claimed):
    store.append_round(claimed, [thought(), call()], Measured())
    store.append_result(claimed, result(), Measured())
    store.finish(claimed, [text(round=1)], Measured())
    assert [seq for seq, _, _ in kinds(claimed)] == [0, 1, 2, 3]
    assert row(claimed).status == Status.COMPLETE
    assert list(store.verify_log()) == []


def test_durations_timings_and_rounds_go_with_their_items(claimed):
    measured = Measured(
        durations={"rs_1": 2100},
        timings={"rs_1": {"start": 0, "end": 2100}},
        round={"round": 0},
        elapsed=2500,
    )
    store.append_round(claimed, [thought(), call()], measured)
    metadata = row(claimed).metadata
    assert metadata["reasoning_durations_ms"] == {"rs_1": 2100}
    assert metadata["timings_ms"] == {"rs_1": {"start": 0, "end": 2100}}
    assert metadata["rounds"] == [{"round": 0}]
    assert metadata["elapsed_ms"] == 2500
    assert row(claimed).reasoning_ms("rs_1") == 2100


def test_a_round_with_a_bad_item_leaves_nothing_behind(claimed):
    with pytest.raises(Exception, match=r"(?i)unique|duplicate"):
        store.append_round(claimed, [thought(), thought()], Measured(durations={"rs_1": 1}))
    assert kinds(claimed) == []
    assert row(claimed).next_seq == 0
    assert row(claimed).metadata == {}


@pytest.mark.parametrize("write", [store.append_round, store.finish])
def test_after_a_takeover_the_old_attempt_writes_nothing(claimed, write):
    store.claim_turn(claimed.message, runner="b", seen=1)
    with pytest.raises(Fenced):
        write(claimed, [text()], Measured())
    assert kinds(claimed) == []
    assert row(claimed).status == Status.RUNNING


def test_after_a_takeover_the_old_attempt_saves_no_draft(claimed):
    store.claim_turn(claimed.message, runner="b", seen=1)
    assert store.save_drafts([(claimed, seen(1).draft.to_json(0))]) == set()
    assert not Draft.objects.exists()


def test_of_drafts_that_are_saved_together_only_those_whose_claim_holds_are_stored(claimed, ask):
    other = ask().answer
    lost = store.claim_turn(other, runner="a", seen=0)
    store.claim_turn(other, runner="b", seen=1)
    drafts = [(claim, seen(1, *half_a_round()).draft.to_json(3000)) for claim in (lost, claimed)]
    assert store.save_drafts(drafts) == {claimed}
    assert store.save_drafts(drafts[::-1]) == {claimed}
    assert [draft.message_id for draft in Draft.objects.all()] == [claimed.message]
    assert row(claimed).touched_at > row(lost).touched_at


def test_stop_keeps_what_was_seen_as_cut_items_with_durations(claimed):
    assert store.stop(claimed.message, seen(1, *half_a_round(), at=2600))
    items = store.load_items(claimed.message)
    assert [(item.key, item.text, item.cut, item.wire) for item in items] == [
        ("rs_1", "Let me see.", True, None),
        ("msg_1", "It is", True, None),
    ]
    metadata = row(claimed).metadata
    assert metadata["reasoning_durations_ms"] == {"rs_1": 2000}
    assert metadata["timings_ms"]["msg_1"] == {"start": 2200, "end": 2600, "cut": True}
    assert "cut" not in metadata["timings_ms"]["rs_1"]
    assert row(claimed).status == Status.STOPPED
    assert list(store.verify_log()) == []


def test_a_thought_that_is_stopped_keeps_its_time_up_to_the_stop(claimed):
    store.stop(claimed.message, seen(1, *half_a_round()[:3], at=4100))
    assert row(claimed).metadata["reasoning_durations_ms"] == {"rs_1": 4000}


def test_stop_out_of_reach_of_the_live_draft_uses_the_saved_one(claimed):
    store.save_drafts([(claimed, seen(1, *half_a_round()).draft.to_json(3000))])
    assert store.stop(claimed.message, None)
    assert [item.text for item in store.load_items(claimed.message)] == ["Let me see.", "It is"]
    assert row(claimed).metadata["reasoning_durations_ms"] == {"rs_1": 2000}
    assert not Draft.objects.exists()


def test_stop_does_not_take_the_draft_of_an_older_attempt_for_the_newest(claimed):
    store.claim_turn(claimed.message, runner="b", seen=1)
    store.stop(claimed.message, seen(1, *half_a_round()))
    assert kinds(claimed) == []


def test_stop_keeps_no_piece_twice_that_is_a_row_already(claimed):
    store.append_round(claimed, [thought(), call()], Measured())
    store.stop(claimed.message, seen(1, *half_a_round()))
    assert [kind for _, kind, _ in kinds(claimed)] == [
        "reasoning",
        "tool_call",
        "assistant_message",
        "tool_result",
    ]
    assert list(store.verify_log()) == []


@pytest.mark.parametrize("reached", [True, False], ids=["of the live draft", "of a draft saved too late"])
def test_stop_tells_no_request_twice_whose_round_is_stored_already(claimed, reached):
    """A round is stored a moment before its draft forgets it: the stop may come between, and so may the draft's own saving."""
    before = seen(1, *half_a_round())
    before.draft.facts = {"round": 0, "usage": {"output": 5}}
    store.append_round(claimed, [thought(), call()], Measured(round=before.draft.facts))
    if not reached:
        store.save_drafts([(claimed, before.draft.to_json(3000))])
    store.stop(claimed.message, before if reached else None)
    assert row(claimed).metadata["rounds"] == [{"round": 0, "usage": {"output": 5}}]


def test_stop_tells_what_was_sent_for_the_open_round(claimed):
    store.append_round(claimed, [thought(), call()], Measured(round={"round": 0}))
    store.append_result(claimed, result(), Measured())
    now = seen(1, (0, Asked(1)))
    now.draft.facts = {"round": 1}
    store.stop(claimed.message, now)
    assert row(claimed).metadata["rounds"] == [{"round": 0}, {"round": 1}]


def test_stop_gives_every_open_call_a_result(claimed):
    store.append_round(claimed, [call(), call("fc_2", call_id="call_2")], Measured())
    store.append_result(claimed, result(), Measured())
    store.stop(claimed.message, None)
    last = store.load_items(claimed.message)[-1]
    assert (last.kind, last.call_id, last.outcome, last.key) == ("tool_result", "call_2", "stopped", "part-3")
    assert list(store.verify_log()) == []


def test_a_stop_that_is_not_written_yet_is_another_version_than_the_one_that_was(claimed):
    """A result that was on its way is stored before it: as many items, and another one of them."""
    store.append_round(claimed, [call()], Measured())
    expected, items = store.as_stopped(row(claimed), store.load_items(claimed.message), None, "")
    store.append_result(claimed, result(call_id=items[0].call_id), Measured())
    store.stop(claimed.message, None, attempt=claimed.attempt)
    stopped = row(claimed)
    names = ("attempt", "next_seq", "status")
    assert [getattr(expected, name) for name in names] == [getattr(stopped, name) for name in names]
    assert [item.outcome for item in items] != [item.outcome for item in store.load_items(claimed.message)]
    assert version_of(expected) != version_of(stopped)


def test_a_call_that_was_cut_gets_a_result_too(claimed):
    events = [
        (0, Asked(0)),
        (1, ItemStarted("fc_1", Kind.TOOL_CALL, "clock", "call_1")),
        (2, ItemDelta("fc_1", '{"zo')),
    ]
    store.stop(claimed.message, seen(1, *events))
    assert [(item.kind, item.text[:4], item.cut) for item in store.load_items(claimed.message)] == [
        ("tool_call", '{"zo', True),
        ("tool_result", "The ", False),
    ]


def test_only_the_first_stop_stops(claimed):
    assert store.stop(claimed.message, None)
    assert not store.stop(claimed.message, seen(1, *half_a_round()))
    assert kinds(claimed) == []


def test_a_queued_turn_can_be_stopped(ask):
    answer = ask().answer
    assert store.stop(answer, None)
    with pytest.raises(Fenced):
        store.claim_turn(answer, runner="late", seen=0)


def test_a_parked_turn_waits_and_can_be_stopped(claimed):
    store.append_round(claimed, [call()], Measured())
    store.park(claimed, [], store.Measured())
    assert row(claimed).status == Status.WAITING
    with pytest.raises(Fenced):
        store.finish(claimed, [], Measured())
    assert store.stop(claimed.message, None)


def test_interrupt_shows_the_saved_draft_and_calls_the_outcome_unknown(claimed):
    store.append_round(claimed, [call()], Measured())
    draft = seen(1, (0, Asked(1)), (5, ItemStarted("rs_2", Kind.REASONING))).draft
    store.save_drafts([(claimed, draft.to_json(3000))])
    assert store.interrupt(claimed.message, attempt=1)
    items = store.load_items(claimed.message)
    assert [(item.key, item.cut, item.outcome, item.round) for item in items] == [
        ("fc_1", False, "", 0),
        ("rs_2", True, "", 1),
        ("part-2", False, "unknown", 0),
    ]
    assert row(claimed).metadata["reasoning_durations_ms"] == {"rs_2": 2995}


def test_interrupt_leaves_a_turn_alone_that_somebody_claimed_meanwhile(claimed):
    store.claim_turn(claimed.message, runner="b", seen=1)
    assert not store.interrupt(claimed.message, attempt=1)
    assert row(claimed).status == Status.RUNNING


def test_failing_keeps_what_was_seen_and_says_why(claimed):
    ended = {"reason": "busy", "sentence": "The provider is busy."}
    store.give_up(claimed, Status.FAILED, seen(1, *half_a_round()), Measured(round={"round": 0}), ended)
    assert row(claimed).status == Status.FAILED
    assert row(claimed).metadata["ended"] == ended
    assert row(claimed).metadata["rounds"] == [{"round": 0}]
    assert [item.cut for item in store.load_items(claimed.message)] == [True, True]


def test_a_stopped_turn_goes_on_in_the_same_message(claimed):
    store.stop(claimed.message, seen(1, *half_a_round()))
    assert store.requeue(claimed.message, runner="here")
    again = store.claim_turn(claimed.message, runner="here", seen=row(claimed).attempt)
    store.finish(again, [text("msg_2", round=1)], Measured())
    assert [kind for _, kind, _ in kinds(claimed)] == ["reasoning", "assistant_message", "assistant_message"]
    assert row(claimed).status == Status.COMPLETE
    assert "ended" not in row(claimed).metadata
    assert list(store.verify_log()) == []


def test_when_it_stopped_and_went_on_is_kept_of_each_time_that_something_came(claimed):
    store.stop(claimed.message, seen(1, *half_a_round()))
    for minutes in (9, 5):
        Message.objects.update(touched_at=timezone.now() - timedelta(minutes=minutes))
        assert store.requeue(claimed.message)
        store.stop(claimed.message, None)
    [(went_on_with, gap)] = Recorded(row(claimed).metadata).gaps.items()
    assert went_on_with == 1
    assert 530 <= gap.went_on - gap.stopped <= 600
    assert list(store.verify_log()) == []


@pytest.mark.parametrize(("kept", "again"), [(True, False), (False, True)])
def test_a_failed_turn_is_retried_in_place_only_when_nothing_was_kept(claimed, kept, again):
    what = seen(1, *(half_a_round() if kept else ()))
    store.give_up(claimed, Status.FAILED, what, Measured(), {"reason": "busy"})
    assert store.requeue(claimed.message) is again


def test_a_complete_or_running_turn_is_not_requeued(claimed):
    assert not store.requeue(claimed.message)
    store.finish(claimed, [text()], Measured())
    assert not store.requeue(claimed.message)


def test_an_answer_with_questions_below_it_stays_as_they_read_it(claimed, ask):
    store.stop(claimed.message, seen(1, *half_a_round()))
    ask("And?", claimed.message)
    assert not store.requeue(claimed.message)


def test_tries_count_the_attempts_since_the_last_finished_round(claimed):
    second = store.claim_turn(claimed.message, runner="b", seen=1)
    assert row(claimed).tries == 2
    store.append_round(second, [call()], Measured())
    assert row(claimed).tries == 1


def test_a_stored_round_makes_the_saved_draft_void(claimed):
    store.save_drafts([(claimed, seen(1, *half_a_round()).draft.to_json(3000))])
    store.append_round(claimed, [thought(), call()], Measured())
    assert not Draft.objects.exists()


def test_hostile_text_is_stored_and_its_wire_comes_back_value_for_value(claimed):
    wire = {"z": "\x00\ud800", "a": [1, 2**80, 0.1, {"é": None}], "id": "x"}
    store.append_round(claimed, [thought(text="a\x00b\ud800", wire=wire, name="n\x00"), text()], Measured())
    stored = store.load_items(claimed.message)[0]
    assert stored.wire == wire
    assert list(stored.wire) == ["z", "a", "id"]
    assert stored.text == "a\ufffdb\ufffd"


def test_turns_are_counted_by_state(claimed, ask):
    store.finish(claimed, [text()], Measured())
    ask("And?", parent=claimed.message)
    assert store.count_turns() == {"complete": 1, "queued": 1}


def test_a_stop_that_is_told_late_means_the_run_in_which_it_was_said(claimed):
    """Whoever took the turn over meanwhile is stopped; what was told to go on since then is not."""
    taken = store.claim_turn(claimed.message, runner="there", seen=claimed.attempt)
    assert store.stop(claimed.message, None, by="alice", attempt=claimed.attempt)
    assert store.requeue(claimed.message)
    again = store.claim_turn(claimed.message, runner="here", seen=taken.attempt + 1)
    for attempt in (claimed.attempt, taken.attempt):
        assert not store.stop(claimed.message, None, by="alice", attempt=attempt)
    assert Message.objects.get(pk=claimed.message).status == Status.RUNNING
    assert store.stop(claimed.message, None, by="alice", attempt=again.attempt)
