"""The answer so far: what was streamed is what will be stored, and what is saved comes back."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from chatapp.core.draft import Draft
from chatapp.core.events import (
    Asked,
    Event,
    Finish,
    ItemAmended,
    ItemDelta,
    ItemDone,
    ItemsStored,
    ItemStarted,
    Repaired,
    ResponseEnded,
    Retrying,
    TurnEnded,
    Usage,
)
from chatapp.core.items import Item, Kind, Outcome
from tests.support.make import drafted

THOUGHT = Item(
    key="rs_1", kind=Kind.REASONING, text="List them.", wire={"id": "rs_1"}, provider="openai", model="gpt-5"
)
CALL = Item(
    key="fc_1", kind=Kind.TOOL_CALL, text='{"n":30}', wire={"id": "fc_1"}, name="sieve", call_id="call_1"
)
RESULT = Item(key="part-2", kind=Kind.TOOL_RESULT, text="[2,3,5]", call_id="call_1", outcome=Outcome.DONE)
WORDS = Item(key="msg_1", kind=Kind.ASSISTANT_MESSAGE, text="Ten.", wire={"id": "msg_1"}, round=1)

ROUND: list[tuple[float, Event]] = [
    (0, Asked(0)),
    (1_000, ItemStarted("rs_1", Kind.REASONING)),
    (20_000, ItemDelta("rs_1", "List ")),
    (20_001, ItemDelta("rs_1", "them.")),
    (24_000, ItemDone(THOUGHT)),
    (24_000, ItemStarted("fc_1", Kind.TOOL_CALL, "sieve", "call_1")),
    (24_100, ItemDelta("fc_1", '{"n":')),
    (24_200, ItemDelta("fc_1", "30}")),
    (24_300, ItemDone(CALL)),
    (24_300, Usage(output=40)),
    (24_300, ResponseEnded(Finish.TOOL_CALLS)),
]
TOOL: list[tuple[float, Event]] = [
    (24_400, ItemsStored(("rs_1", "fc_1"))),
    (24_400, ItemStarted("part-2", Kind.TOOL_RESULT, "sieve", "call_1")),
    (25_000, ItemDone(RESULT)),
    (25_010, ItemsStored(("part-2",))),
]
CLOSING: list[tuple[float, Event]] = [
    (25_020, Asked(1)),
    (26_000, ItemStarted("msg_1", Kind.ASSISTANT_MESSAGE)),
    (26_100, ItemDelta("msg_1", "Te")),
]


def saved(draft: Draft, at: float) -> Draft:
    """As it comes back from the database."""
    return Draft.from_json(json.loads(json.dumps(draft.to_json(at))))


# What is stored


def test_what_was_streamed_is_what_is_stored():
    assert drafted(*ROUND).finished() == [THOUGHT, CALL]


def test_items_are_stored_in_the_order_in_which_they_started():
    first, second = ItemStarted("a", Kind.TOOL_CALL), ItemStarted("b", Kind.TOOL_CALL)
    a, b = Item(key="a", kind=Kind.TOOL_CALL), Item(key="b", kind=Kind.TOOL_CALL)
    draft = drafted((0, first), (0, second), (1, ItemDone(b)), (2, ItemDone(a)))
    assert draft.finished() == [a, b]


def test_what_is_a_row_is_let_go_but_its_time_is_kept():
    draft = drafted(*ROUND, *TOOL)
    assert draft.finished() == []
    assert draft.pieces == {}
    assert draft.durations(["rs_1", "fc_1"], 99_000) == {"rs_1": 23_000}


def test_letting_go_of_what_is_not_there_is_no_error():
    assert drafted((0, ItemsStored(("nobody",)))).pieces == {}


def test_the_finished_text_replaces_what_was_streamed():
    draft = drafted(*CLOSING, (27_000, ItemDone(WORDS)))
    assert draft.pieces["msg_1"].said() == "Ten."


def test_an_item_that_comes_whole_is_a_piece_too():
    draft = drafted((0, ItemDone(CALL)))
    piece = draft.pieces["fc_1"]
    assert (piece.said(), piece.name, piece.call_id) == ('{"n":30}', "sieve", "call_1")


def test_unfinished_pieces_are_not_stored():
    draft = drafted(*ROUND[:-3])
    assert draft.finished() == [THOUGHT]
    assert draft.open_keys() == ["fc_1"]


def test_no_piece_is_open_after_a_whole_round():
    assert drafted(*ROUND).open_keys() == []


# Times


def test_times_are_those_of_the_keys_asked_for():
    draft = drafted(*ROUND, *TOOL, *CLOSING)
    assert draft.durations(["msg_1", "nobody"], 30_000) == {}
    assert draft.timings(["rs_1", "part-2", "msg_1", "nobody"], 30_000) == {
        "rs_1": {"start": 1_000, "end": 24_000},
        "part-2": {"start": 24_400, "end": 25_000},
        "msg_1": {"start": 26_000, "end": 30_000},
    }


def test_every_event_counts_and_the_last_moment_is_known():
    draft = drafted(*ROUND, (24_400, Repaired("stale", "")))
    assert (draft.n, draft.at) == (12, 24_400)


def test_the_moment_never_goes_back():
    draft = drafted((5_000, ItemStarted("rs_1", Kind.REASONING)), (1_000, ItemDelta("rs_1", "…")))
    assert draft.at == 5_000
    assert draft.durations(["rs_1"], draft.at) == {"rs_1": 0}


def test_the_end_of_the_turn_is_known():
    assert drafted((0, TurnEnded("complete"))).ended == TurnEnded("complete")
    assert Draft().ended is None


# Cut


def test_what_was_seen_of_a_cut_round_is_kept_with_its_times():
    draft = drafted(*ROUND[:7])
    assert draft.cut() == [
        Item(key="rs_1", kind=Kind.REASONING, text="List them.", cut=True),
        Item(key="fc_1", kind=Kind.TOOL_CALL, text='{"n":', name="sieve", call_id="call_1", cut=True),
    ]
    assert draft.durations(["rs_1", "fc_1"], 24_150) == {"rs_1": 23_000}


def test_a_thought_that_was_stopped_keeps_its_text_and_its_time():
    draft = drafted(*ROUND[:3])
    assert draft.cut() == [Item(key="rs_1", kind=Kind.REASONING, text="List ", cut=True)]
    assert draft.durations(["rs_1"], 22_000) == {"rs_1": 21_000}


def test_a_cut_item_has_nothing_that_could_be_sent_back():
    assert all(item.cut and item.wire is None for item in drafted(*ROUND).cut())


def test_a_cut_item_stays_in_its_round():
    draft = drafted(*ROUND, *TOOL, *CLOSING)
    assert [item.round for item in draft.cut()] == [item.round for item in saved(draft, 27_000).cut()] == [1]


def test_text_without_a_word_is_not_kept_but_a_silent_thought_is():
    empty = ItemStarted("msg_1", Kind.ASSISTANT_MESSAGE)
    draft = drafted((0, ItemStarted("rs_1", Kind.REASONING)), (5_000, empty))
    assert draft.cut() == [Item(key="rs_1", kind=Kind.REASONING, cut=True)]


def test_results_and_what_is_stored_are_never_cut():
    assert drafted(*ROUND, *TOOL[:2]).cut() == []


def test_cut_text_can_be_stored_anywhere():
    halves = [ItemDelta("msg_1", piece) for piece in ("a\x00", "\ud83d", "\ude00", "\ud800")]
    draft = drafted((0, ItemStarted("msg_1", Kind.ASSISTANT_MESSAGE)), *((1.0, half) for half in halves))
    assert [item.text for item in draft.cut()] == ["a\ufffd😀\ufffd"]


# Tried again


@pytest.mark.parametrize("came", [3, 5], ids=["unfinished", "finished"])
def test_a_thought_of_a_try_that_failed_is_gone_and_the_next_one_is_timed_anew(came: int):
    draft = drafted(
        *ROUND[:came],
        (25_000, Retrying(4.0, "Busy.", ("rs_1",))),
        (31_000, ItemStarted("rs_2", Kind.REASONING)),
        (33_000, ItemDelta("rs_2", "Again.")),
        (34_000, ItemDone(replace(THOUGHT, key="rs_2"))),
    )
    assert [item.key for item in draft.finished()] == [item.key for item in draft.cut()] == ["rs_2"]
    assert draft.durations(["rs_1", "rs_2"], 34_000) == {"rs_2": 3_000}
    assert list(draft.timings(["rs_1", "rs_2"], 34_000)) == ["rs_2"]
    assert draft.clock.first_sign == 2_000


def test_what_comes_for_a_finished_item_goes_into_the_log():
    amended = replace(THOUGHT, wire={"id": "rs_1", "data": "sealed"})
    draft = drafted(*ROUND[:5], (25_000, ItemAmended(amended)))
    assert (draft.finished(), draft.durations(["rs_1"], 25_000)) == ([amended], {"rs_1": 23_000})


# Checkpoints


def test_a_saved_draft_shows_the_same():
    draft = drafted(*ROUND[:7])
    again = saved(draft, 24_150)
    assert again.to_json(24_150) == draft.to_json(24_150)
    assert again.cut() == draft.cut()
    assert again.open_keys() == draft.open_keys()
    assert (again.n, again.at) == (7, 24_150)
    assert again.durations(["rs_1"], 99_000) == {"rs_1": 23_000}


def test_a_saved_draft_keeps_times_counted_to_its_last_moment():
    again = saved(drafted(*ROUND[:3]), 22_000)
    assert again.durations(["rs_1"], again.at) == {"rs_1": 21_000}
    assert again.durations(["rs_1"], again.at + 5_000) == {"rs_1": 26_000}


def test_after_a_reload_at_second_seven_the_clock_shows_seven():
    draft = drafted((0, Asked(0)), (0, ItemStarted("rs_1", Kind.REASONING)))
    again = saved(draft, 7_000)
    assert again.durations(["rs_1"], 7_000) == {"rs_1": 7_000}


def test_an_inferred_start_is_saved():
    again = saved(drafted((0, Asked(0)), (6_000, ItemDone(THOUGHT))), 6_000)
    assert again.timings(["rs_1"], again.at) == {"rs_1": {"start": 0, "end": 6_000, "inferred": True}}


def test_a_saved_draft_holds_nothing_that_only_the_provider_may_read():
    assert "wire" not in json.dumps(drafted(*ROUND).to_json(30_000))


def test_results_are_not_saved_because_they_are_rows_already():
    assert saved(drafted(*ROUND, *TOOL[:3]), 26_000).pieces == {}


def test_a_saved_draft_says_what_was_sent_for_it():
    """And when its first sign came: whoever ends the turn of a process that died, or of a person who stops it, keeps this with the rest."""
    draft = drafted(*ROUND[:3])
    draft.facts = {"round": 0, "dialect": "responses", "replayed": 2, "first_event_ms": None}
    sign = draft.clock.first_sign
    assert sign
    assert saved(draft, 20_000).facts == draft.facts | {"first_event_ms": round(sign)}


def test_an_empty_draft_can_be_saved():
    again = saved(Draft(), 5)
    assert (again.n, again.at, again.cut(), again.finished()) == (0, 5, [], [])


# Size


def test_a_delta_costs_the_same_at_the_end_as_at_the_start():
    draft = drafted((0, ItemStarted("msg_1", Kind.ASSISTANT_MESSAGE)))
    began = time.process_time()
    for n in range(10_000):
        draft.apply(ItemDelta("msg_1", "word " * 20), n)
        if n % 100 == 0:
            draft.to_json(n)
    assert time.process_time() - began < 5
    assert len(draft.pieces["msg_1"].said()) == 1_000_000


def test_why_nothing_comes_is_saved_and_over_when_something_comes():
    busy, repaired = Retrying(4.0, "It is busy, trying again in 4 s"), Repaired("model", "Asked again.")
    for why, words in ((busy, "It is busy, trying again in 4 s."), (repaired, "Asked again.")):
        for ends in (Asked(0), ItemStarted("rs_1", Kind.REASONING), TurnEnded("failed")):
            draft = Draft()
            draft.apply(why, 1.0)
            assert Draft.from_json(json.loads(json.dumps(draft.to_json(2.0)))).waits == words
            draft.apply(ends, 3.0)
            assert Draft.from_json(draft.to_json(4.0)).waits == ""


def test_a_draft_that_an_older_version_saved_waits_for_nothing():
    saved = Draft().to_json(0.0)
    del saved["waits"]
    assert Draft.from_json(saved).waits == ""
