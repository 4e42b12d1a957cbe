"""What a thought is called when its answer did not come to a good end."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from chatapp.core.attached import told
from chatapp.core.items import Item, Kind
from chatapp.thread.endings import ending
from chatapp.thread.item import ShownItem
from chatapp.thread.item_body import asked_in
from chatapp.thread.items_so_far import items_so_far

from .answers import answer, call, result, text, thought


@pytest.mark.parametrize(
    ("status", "words"), [("stopped", "stopped"), ("interrupted", "interrupted"), ("failed", "cut short")]
)
def test_a_thought_that_was_cut_says_how(status, words):
    (shown,) = items_so_far(answer(status=status), [thought(cut=True)])
    assert shown.cut == words


def test_a_thought_that_was_stopped_before_its_first_word_is_not_said_to_have_none():
    (stopped,) = items_so_far(answer(status="stopped"), [thought(cut=True)])
    (whole,) = items_so_far(answer(), [thought()])
    assert ShownItem(uuid4(), stopped).gist == ""
    assert ShownItem(uuid4(), whole).gist == "Kept by the provider, without words"


@pytest.mark.parametrize("after", [text(cut=True), call(cut=True), thought("rs_2", cut=True)])
def test_a_thought_that_something_followed_had_come_to_its_own_end(after):
    first, last = items_so_far(answer(status="stopped"), [thought(cut=True), after])
    assert (first.cut, last.cut) == ("", "stopped")


def test_a_later_round_says_nothing_of_an_earlier_cut():
    first, second = items_so_far(answer(), [thought(cut=True), text(round=1)])
    assert (first.cut, second.cut) == ("stopped", "")


def test_a_text_that_was_cut_is_marked_also_after_the_answer_went_on():
    first, second = items_so_far(answer(), [text(cut=True), text("msg_2", round=1)])
    assert (bool(first.cut), bool(second.cut)) == (True, False)


def test_results_of_one_id_stand_in_their_calls_in_order():
    items = [call("a"), call("b"), result("r1"), result("r2")]
    shown = items_so_far(answer(), items)
    assert [(piece.key, piece.result and piece.result.key) for piece in shown] == [("a", "r1"), ("b", "r2")]


def test_a_result_without_a_call_stands_by_itself():
    assert [piece.key for piece in items_so_far(answer(), [result("r1")])] == ["r1"]


@pytest.mark.parametrize("ended", [None, "x", [], {"reason": 7}, {"sentence": None, "raw": 3}])
def test_damaged_words_of_an_end_are_borne(alice, ended):
    shown = ending(answer(status="failed", metadata={"ended": ended}), alice)
    assert shown and shown.sentence == "This answer failed."


def test_only_what_a_program_told_was_added_to_by_one():
    words = "<system-reminder>Friday</system-reminder> Why?"
    asked = Item(key="part-0", kind=Kind.USER_MESSAGE, text=words)
    whose = [asked, replace(asked, wire=told("user", [words]))]
    assert [asked_in(piece).words for piece in items_so_far(answer(), whose)] == [words, "Why?"]
