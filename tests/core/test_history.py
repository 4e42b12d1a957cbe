"""Which thoughts go back, which do not, and why."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from chatapp.core.contracts import Repair, ReplayScope
from chatapp.core.history import Dropped, History, Question, fold, learned
from chatapp.core.items import Item, Kind

from .branches import (
    A,
    B,
    answer,
    as_words,
    asked,
    call,
    cut,
    going_on,
    keys,
    question,
    responses,
    result,
    sent,
    target,
    thought,
    verbatim,
    with_id,
    words,
)

TURN = answer(
    thought("rs_1"), call("fc_1"), result("fc_1"), thought("rs_2", round=1), words("msg_1", round=1)
)


def test_a_branch_goes_back_in_its_order():
    history = asked(question("One?"), TURN)
    assert as_words(history.steps) == ["One?", "rs_1 fc_1", "rs_2 msg_1", "Q"]
    assert (history.replayed, history.dropped) == (2, {})


def test_what_goes_back_is_what_was_sent():
    wire = {"id": "rs", "unknown": {"z": 1, "a": [None]}}
    [response] = responses(asked(answer(thought(wire=wire), words())))
    assert response.parts[0].item.wire is wire
    assert response.parts[0].verbatim


def test_an_empty_log_is_an_empty_history():
    assert fold([], A) == History(())
    assert fold([answer()], A) == History(())


def test_decisions_of_people_are_never_sent():
    decision = Item(key="part-2", kind=Kind.PERMISSION_DECISION, text="allow once", call_id="call_fc")
    [response] = responses(asked(answer(thought(), call(), decision, result())))
    assert [part.item.kind for part in response.parts] == [Kind.REASONING, Kind.TOOL_CALL]
    assert [given.text for given in response.results] == ["[2,3]"]


def test_an_answer_of_which_nothing_can_go_back_is_no_step():
    """Whoever asks again after it asks one question of two: templates of many models refuse two users in a row."""
    (step,) = asked(question("One?"), answer(cut(thought()))).steps
    assert step == Question("Q", before=("One?",))


# Only the model that thought it may read it


@pytest.mark.parametrize(
    "other",
    [target("b"), target(provider="q"), target(dialect="e"), target("", provider="", dialect="")],
    ids=["model", "provider", "dialect", "unknown"],
)
def test_a_thought_of_another_is_dropped(other: Any):
    history = asked(answer(thought(by=other), words(by=other)))
    assert sent(history) == ["msg"]
    assert (history.replayed, history.dropped) == (0, {Dropped.MODEL_CHANGED: 1})


def test_each_model_gets_its_own_thoughts_when_they_take_turns():
    branch = [
        question(),
        answer(thought("a1"), words("a2")),
        question(),
        answer(thought("b1", by=B), words("b2", by=B)),
    ]
    branch += [question(), answer(thought("a3"), words("a4")), question()]
    assert sent(asked(*branch, to=A)) == ["a1", "a2", "b2", "a3", "a4"]
    assert sent(asked(*branch, to=B)) == ["a2", "b1", "b2", "a4"]
    assert asked(*branch, to=A).dropped == {Dropped.MODEL_CHANGED: 1}
    assert asked(*branch, to=B).dropped == {Dropped.MODEL_CHANGED: 2}


def test_text_of_a_sister_model_stays_as_it_was_but_without_its_id():
    history = asked(answer(words(by=B)))
    assert (verbatim(history), with_id(history)) == (["msg"], [])


@pytest.mark.parametrize("other", [target(provider="q"), target(dialect="e")], ids=["provider", "dialect"])
def test_text_from_elsewhere_is_worded_anew(other: Any):
    history = asked(answer(words(by=other)))
    assert (sent(history), verbatim(history)) == (["msg"], [])


# Nothing half-said


def test_a_cut_thought_and_a_cut_call_never_go_back():
    history = asked(answer(cut(thought()), cut(call()), result()))
    assert keys(history) == []
    assert history.dropped == {Dropped.CUT: 1}


def test_cut_text_goes_back_as_plain_words():
    history = asked(answer(cut(thought()), cut(words(text="Half an ans"))))
    assert as_words(history.steps) == ["msg", "Q"]
    assert (verbatim(history), with_id(history)) == ([], [])


def test_a_cut_item_is_never_taken_for_whole_whatever_it_holds():
    history = asked(
        answer(replace(thought(), cut=True), replace(words(), cut=True), replace(call(), cut=True))
    )
    assert (sent(history), verbatim(history)) == (["msg"], [])
    assert history.dropped == {Dropped.CUT: 1}


@pytest.mark.parametrize(
    ("items", "goes"),
    [
        ([thought()], []),
        ([thought("rs_1"), thought("rs_2")], []),
        ([thought("rs_1"), words(), thought("rs_2")], ["rs_1", "msg"]),
        ([thought("rs_1"), words(text=" \n"), thought("rs_2"), call()], ["rs_2", "fc"]),
        ([words(), thought()], ["msg"]),
    ],
)
def test_a_thought_that_nothing_follows_is_dropped(items: list[Item], goes: list[str]):
    history = asked(answer(*items))
    thoughts = [item.key for item in items if item.kind is Kind.REASONING]
    assert sent(history) == goes
    assert history.dropped == {Dropped.CUT: len([key for key in thoughts if key not in goes])}


def test_what_follows_in_the_next_round_does_not_follow():
    history = asked(answer(thought("rs_1"), thought("rs_2", round=1), words(round=1)))
    assert keys(history) == [["rs_2", "msg"]]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\t\u2003"])
def test_text_without_a_word_is_left_out(text: str):
    assert sent(asked(answer(thought(), words(text=text), call(), result()))) == ["rs", "fc"]


def test_text_without_a_word_goes_back_where_the_contract_allows_it():
    to = target(blank_text=True)
    assert sent(asked(answer(thought(), words(text="")), to=to)) == ["rs", "msg"]
    assert sent(asked(answer(words(text="", by=target(provider="q"))), to=to)) == []
    assert sent(asked(answer(cut(words(text=""))), to=to)) == []


# Contracts


def test_thoughts_stay_where_the_contract_forbids_them():
    history = asked(TURN, to=target(scope=ReplayScope.NONE))
    assert keys(history) == [["fc_1"], ["msg_1"]]
    assert history.dropped == {Dropped.FORBIDDEN: 2}


def test_thoughts_stay_where_thinking_is_off():
    history = asked(TURN, to=target(thinking=False))
    assert keys(history) == [["fc_1"], ["msg_1"]]
    assert history.dropped == {Dropped.FORBIDDEN: 2}


def test_where_only_tool_turns_count_all_their_thoughts_go_back():
    plain = answer(thought("rs_0"), words("msg_0"))
    history = asked(plain, TURN, to=target(scope=ReplayScope.TOOL_TURNS))
    assert keys(history) == [["msg_0"], ["rs_1", "fc_1"], ["rs_2", "msg_1"]]
    assert (history.replayed, history.dropped) == (2, {Dropped.FORBIDDEN: 1})


def test_a_call_that_was_cut_makes_no_tool_turn():
    stopped = answer(thought("rs_1"), words("msg_1"), cut(call("fc_1", round=1)))
    assert sent(asked(stopped, to=target(scope=ReplayScope.TOOL_TURNS))) == ["msg_1"]


@pytest.mark.parametrize("wire", [{}, {"encrypted_content": None}, {"encrypted_content": ""}])
def test_a_thought_without_its_seal_stays_where_the_contract_wants_one(wire: dict[str, Any]):
    log = answer(thought(wire={"id": "rs", **wire}), words())
    assert sent(asked(log, to=target(sealed=True))) == ["msg"]
    assert asked(log, to=target(sealed=True)).dropped == {Dropped.FORBIDDEN: 1}
    assert sent(asked(log)) == ["rs", "msg"]


def test_a_sealed_thought_without_a_word_goes_back():
    log = answer(thought(text="", wire={"id": "rs", "summary": [], "encrypted_content": "gAAA"}), words())
    history = asked(log, to=target(sealed=True))
    assert (sent(history), verbatim(history), with_id(history)) == (["rs", "msg"],) * 3


@pytest.mark.parametrize("wire", [None, [], "rs", 7])
def test_without_a_sound_wire_a_thought_stays_and_the_rest_is_worded_anew(wire: Any):
    history = asked(answer(thought(wire=wire), words(wire=wire), call(wire=wire), result()))
    assert (sent(history), verbatim(history), with_id(history)) == (["msg", "fc"], [], [])
    assert history.dropped == {Dropped.CUT if wire is None else Dropped.FORBIDDEN: 1}


# At most so many


FOUR = [message for n in range(4) for message in (question(), answer(thought(f"rs_{n}"), words(f"msg_{n}")))]


@pytest.mark.parametrize(
    ("cap", "thoughts"),
    [
        (None, ["rs_0", "rs_1", "rs_2", "rs_3"]),
        (0, []),
        (1, ["rs_3"]),
        (3, ["rs_1", "rs_2", "rs_3"]),
        (4, ["rs_0", "rs_1", "rs_2", "rs_3"]),
        (99, ["rs_0", "rs_1", "rs_2", "rs_3"]),
    ],
)
def test_a_cap_counts_the_newest_earlier_answers(cap: int | None, thoughts: list[str]):
    history = asked(*FOUR, cap=cap)
    assert [key for key in sent(history) if key.startswith("rs")] == thoughts
    assert history.dropped == ({Dropped.CAPPED: 4 - len(thoughts)} if len(thoughts) < 4 else {})
    assert [key for key in sent(history) if key.startswith("msg")] == ["msg_0", "msg_1", "msg_2", "msg_3"]


def test_the_answer_that_is_being_made_is_never_capped():
    history = fold([*FOUR, question(), answer(thought("rs"), call("fc"), result("fc"))], A, cap=0)
    assert keys(history)[-1] == ["rs", "fc"]


# Stale thoughts

STALE = {0: ("p:a", [Repair.STALE])}
LOOP = [
    item
    for n in range(3)
    for item in (thought(f"rs_{n}", round=n), call(f"fc_{n}", round=n), result(f"fc_{n}", round=n))
]


def test_after_a_refusal_no_earlier_thought_goes_back_ever_again():
    repaired = answer(thought("rs_2"), words("msg_2"), repaired=STALE)
    branch = [answer(thought("rs_1"), words("msg_1")), question(), repaired]
    assert sent(asked(*branch)) == ["msg_1", "rs_2", "msg_2"]
    assert asked(*branch).dropped == {Dropped.STALE: 1}
    later = [*branch, question(), answer(thought("rs_3"), words("msg_3"))]
    assert sent(asked(*later)) == ["msg_1", "rs_2", "msg_2", "rs_3", "msg_3"]


def test_the_refused_round_itself_asks_without_what_was_refused():
    history = fold([answer(thought("rs_1"), words("msg_1")), question(), answer(repaired=STALE)], A)
    assert sent(history) == ["msg_1"]


@pytest.mark.parametrize("refused", [0, 1, 2, 3])
def test_a_refusal_in_a_tool_loop_drops_only_the_rounds_before_it(refused: int):
    history = going_on(*LOOP, repaired={refused: ("p:a", [Repair.STALE])})
    thoughts = [key for key in sent(history) if key.startswith("rs")]
    assert thoughts == [f"rs_{n}" for n in range(3) if n >= refused]
    assert [key for key in with_id(history) if key.startswith("fc")] == [
        f"fc_{n}" for n in range(3) if n >= refused
    ]


def test_of_several_refusals_the_newest_counts():
    history = going_on(*LOOP, repaired={2: ("p:a", [Repair.STALE]), 1: ("p:a", [Repair.STALE])})
    assert history.dropped == {Dropped.STALE: 2}


@pytest.mark.parametrize(
    "other",
    [
        ("p:b", [Repair.STALE]),
        ("a", [Repair.STALE]),
        ("p:a", [Repair.REQUIRED]),
        ("p:a", [Repair.NO_SUMMARY]),
    ],
)
def test_refusals_of_other_models_and_of_other_things_drop_nothing(other: tuple[str, Repair]):
    assert going_on(*LOOP, repaired={2: other}).dropped == {}


def test_a_refusal_counts_beside_another_of_the_same_round():
    both = {2: ("p:a", [Repair.STALE, Repair.NO_SUMMARY])}
    assert going_on(*LOOP, repaired=both).dropped == {Dropped.STALE: 2}
    assert learned([answer(repaired=both)], "p:a") == {Repair.STALE, Repair.NO_SUMMARY}


def test_what_was_learned_is_of_one_model():
    branch = [
        answer(repaired={0: ("p:a", [Repair.STALE]), 1: ("p:b", [Repair.REQUIRED])}),
        question(),
        answer(repaired={0: ("p:a", [Repair.NO_SUMMARY])}),
    ]
    assert learned(branch, "p:a") == {Repair.STALE, Repair.NO_SUMMARY}
    assert learned(branch, "p:b") == {Repair.REQUIRED}
    assert learned(branch, "p:c") == frozenset()


# What is told of it


def test_every_thought_is_counted_once_with_one_reason():
    branch = [
        answer(thought("old"), words("m_0")),
        question(),
        answer(thought("x1"), words("m_1"), repaired=STALE),
        question(),
        answer(thought("x2", by=B), words("m_2", by=B)),
        question(),
        answer(thought("x3", wire=7), words("m_3"), thought("x4")),
        question(),
        answer(thought("x5"), words("m_4")),
    ]
    history = asked(*branch, cap=1)
    assert history.replayed == 1
    assert history.dropped == {
        Dropped.STALE: 1,
        Dropped.CAPPED: 1,
        Dropped.MODEL_CHANGED: 1,
        Dropped.FORBIDDEN: 1,
        Dropped.CUT: 1,
    }


def test_of_a_question_only_its_words_are_read():
    odd = replace(question("One?"), items=[thought(), *question("One?").items])
    assert fold([odd, answer()], A).steps == (Question("One?"),)


def test_a_long_branch_folds_in_a_moment():
    long = [
        message
        for n in range(2_000)
        for message in (
            question(),
            answer(thought(f"rs_{n}"), call(f"fc_{n}"), result(f"fc_{n}"), words(f"msg_{n}", round=1)),
        )
    ]
    began = time.process_time()
    assert asked(*long).replayed == 2_000
    assert time.process_time() - began < 1
