"""Ids, calls and results, and what follows an answer that was cut off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chatapp.core.contracts import Repair, ReplayScope
from chatapp.core.history import GO_ON, NO_RESULT, Dropped, Result, fold
from chatapp.core.items import Item, Outcome

from .branches import (
    A,
    B,
    answer,
    as_words,
    asked,
    call,
    call_ids,
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


def without_id(item: Item) -> Item:
    return replace(item, wire={"sent": item.text})


def named(item: Item, given: Any) -> Item:
    """The same item, with another id on its wire."""
    return replace(item, wire={"id": given})


# Ids go or stay for the whole group


@pytest.mark.parametrize(
    "items",
    [
        [thought(), words()],
        [thought(), call(), result()],
        [thought("rs_1"), thought("rs_2"), words()],
        [thought(), call("fc_1"), call("fc_2"), result("fc_1"), result("fc_2")],
        [
            thought("rs_1"),
            call("fc_1"),
            thought("rs_2"),
            call("fc_2"),
            words(),
            result("fc_1"),
            result("fc_2"),
        ],
        [words(), thought(), call(), result()],
        [words()],
        [call("fc_1"), call("fc_2"), result("fc_1"), result("fc_2")],
    ],
)
def test_what_is_whole_keeps_its_ids_and_its_order(items: list[Item]):
    history = asked(answer(*items))
    said = [item.key for item in items if not item.key.startswith("part")]
    assert (sent(history), verbatim(history), with_id(history)) == (said, said, said)


def test_where_a_thought_is_dropped_its_followers_lose_their_ids_and_a_call_is_worded_anew():
    history = asked(answer(thought(wire=None), words(), call(), result()))
    assert (sent(history), verbatim(history), with_id(history)) == (["msg", "fc"], ["msg"], [])
    assert [part.call_id for part in history.steps[0].parts] == ["", "call00001"]


def test_one_dropped_thought_takes_the_ids_of_its_whole_group():
    history = asked(answer(thought("rs_1"), thought("rs_2", wire=None), words()))
    assert (sent(history), with_id(history)) == (["rs_1", "msg"], [])


def test_another_group_keeps_its_ids():
    items = [
        thought("rs_1", wire=None),
        call("fc_1"),
        thought("rs_2"),
        call("fc_2"),
        result("fc_1"),
        result("fc_2"),
    ]
    assert with_id(asked(answer(*items))) == ["rs_2", "fc_2"]


@pytest.mark.parametrize(
    "items",
    [
        [without_id(thought()), words()],
        [thought(), without_id(words())],
        [without_id(thought()), without_id(words())],
        [thought(), words(), words("m2", wire=None)],
        [thought(), words(), cut(words("m2"))],
        [thought(), words(by=B)],
    ],
)
def test_one_item_without_an_id_of_its_model_takes_those_of_the_others(items: list[Item]):
    history = asked(answer(*items))
    assert sent(history) == [item.key for item in items]
    assert with_id(history) == []


def test_a_second_group_without_ids_is_treated_like_the_first():
    items = [thought("rs_1"), without_id(call("fc_1")), thought("rs_2"), without_id(call("fc_2"))]
    assert with_id(asked(answer(*items))) == []


@pytest.mark.parametrize("given", ["", None, 7, ["rs"], {"id": "rs"}, True])
def test_an_id_that_is_no_text_is_none(given: Any):
    history = asked(answer(named(thought(), given), words()))
    assert (sent(history), with_id(history)) == (["rs", "msg"], [])


def test_an_id_that_repeats_in_its_group_goes_with_no_ids():
    history = asked(answer(thought("rs_1"), named(thought("part-1"), "rs_1"), words()))
    assert (sent(history), with_id(history)) == (["rs_1", "part-1", "msg"], [])


def test_an_id_that_was_sent_before_is_not_sent_again():
    first, second = answer(thought("rs"), words("m_1")), answer(thought("rs"), words("m_2"))
    history = asked(question(), first, question(), second)
    assert verbatim(history) == ["rs", "m_1", "rs", "m_2"]
    assert with_id(history) == ["rs", "m_1"]


def test_an_id_repeated_in_a_later_round_is_not_sent_again():
    again = [named(thought("part-2", round=1), "rs"), call("fc_2", round=1), result("fc_2", round=1)]
    history = going_on(thought("rs"), call("fc_1"), result("fc_1"), *again)
    assert with_id(history) == ["rs", "fc_1"]


def test_an_id_that_was_held_back_is_not_used_up():
    first = answer(thought("rs_1", wire=None), words("msg"))
    assert with_id(asked(question(), first, question(), answer(thought("rs_2"), words("msg")))) == [
        "rs_2",
        "msg",
    ]


CHAT = target(dialect="chat")


def test_in_a_chat_completion_the_place_of_a_thought_means_nothing():
    late = [words(by=CHAT), thought(by=CHAT)]
    assert sent(asked(answer(*late), to=CHAT)) == ["msg", "rs"]
    assert sent(asked(answer(thought(by=CHAT)), to=CHAT)) == []


def test_in_a_chat_completion_all_of_a_round_is_one_group():
    items = [
        thought("rs_1", by=CHAT, wire=None),
        call("fc_1", by=CHAT),
        thought("rs_2", by=CHAT),
        words(by=CHAT),
    ]
    history = asked(answer(*items), to=CHAT)
    assert (sent(history), with_id(history)) == (["fc_1", "rs_2", "msg"], [])
    assert verbatim(history) == ["rs_2", "msg"]


@pytest.mark.parametrize(
    "more",
    [{"scope": ReplayScope.NONE}, {"thinking": False}, {"scope": ReplayScope.TOOL_TURNS}],
    ids=["none", "off", "tool turns"],
)
def test_a_signed_call_keeps_its_signature_where_thoughts_as_such_stay(more: dict[str, Any]):
    history = asked(answer(thought(), call(), result()), to=target(signed=True, **more))
    assert "fc" in verbatim(history)
    assert call_ids(history) == ["call_fc"]


def test_a_stale_signature_is_not_sent_even_where_there_was_no_thought():
    refused = answer(call("fc_2"), result("fc_2"), repaired={0: ("p:a", [Repair.STALE])})
    branch = [answer(call("fc_1"), result("fc_1")), question(), refused]
    assert verbatim(asked(*branch, to=target(signed=True))) == ["fc_2"]
    assert verbatim(asked(*branch)) == ["fc_1", "fc_2"]


def test_a_call_without_thoughts_stays_as_it_was():
    assert verbatim(asked(answer(call(), result()))) == ["fc"]


# Calls and their results


def test_every_call_goes_with_a_result():
    [response] = responses(asked(answer(call("fc_1"), call("fc_2"), result("fc_2"))))
    assert response.results == (
        Result("call_fc_1", "sieve", NO_RESULT, Outcome.UNKNOWN),
        Result("call_fc_2", "sieve", "[2,3]", Outcome.DONE),
    )


def test_results_stand_in_the_order_of_the_calls():
    results = [result(f"fc_{n}", text=str(n)) for n in (3, 1, 2)]
    [response] = responses(asked(answer(call("fc_1"), call("fc_2"), call("fc_3"), *results)))
    assert [given.text for given in response.results] == ["1", "2", "3"]


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.STOPPED, Outcome.DENIED, Outcome.UNKNOWN])
def test_a_result_says_how_the_call_ended(outcome: Outcome):
    [response] = responses(asked(answer(call(), result(outcome=outcome, text="No."))))
    assert response.results == (Result("call_fc", "sieve", "No.", outcome),)


def test_a_result_that_does_not_say_how_it_ended_is_done():
    [response] = responses(asked(answer(call(), result(outcome=""))))
    assert response.results[0].outcome == Outcome.DONE


def test_a_result_without_its_call_is_not_sent():
    assert [response.results for response in responses(asked(answer(words(), result("gone"))))] == [()]


def test_the_same_call_id_in_two_rounds_is_two_calls():
    items = [
        item
        for n in range(2)
        for item in (
            call(f"fc_{n}", call_id="f:0", round=n),
            result(f"fc_{n}", call_id="f:0", text=str(n), round=n),
        )
    ]
    assert [response.results[0].text for response in responses(going_on(*items))] == ["0", "1"]


def test_the_same_call_id_twice_in_a_round_is_answered_in_order():
    same = [call("fc_1", call_id="c"), call("fc_2", call_id="c")]
    results = [result("fc_1", call_id="c", text="1"), result("fc_2", call_id="c", text="2")]
    [response] = responses(asked(answer(*same, *results)))
    assert [given.text for given in response.results] == ["1", "2"]


def test_the_model_that_called_gets_its_own_call_id_back():
    history = asked(answer(call(), result()))
    assert call_ids(history) == ["call_fc"]
    assert [given.call_id for given in responses(history)[0].results] == ["call_fc"]


@pytest.mark.parametrize(
    "other", [B, target(provider="q"), target(dialect="e")], ids=["model", "provider", "dialect"]
)
def test_a_call_of_another_model_is_worded_anew_under_a_neutral_id(other: Any):
    history = asked(answer(call(by=other), result()))
    [response] = responses(history)
    [part] = response.parts
    assert (part.verbatim, part.with_id, part.call_id) == (False, False, "call00001")
    assert (part.item.name, part.item.text) == ("sieve", '{"n":30}')
    assert response.results == (Result("call00001", "sieve", "[2,3]"),)


def test_neutral_ids_count_all_calls_of_the_branch():
    mine, other = answer(call("fc_1"), result("fc_1")), answer(call("fc_2", by=B), call("fc_3", by=B))
    assert call_ids(asked(question(), mine, question(), other)) == ["call_fc_1", "call00002", "call00003"]
    assert call_ids(asked(question(), mine, question(), other, to=B)) == [
        "call00001",
        "call_fc_2",
        "call_fc_3",
    ]


def test_neutral_ids_stay_when_the_branch_grows():
    branch = [question(), answer(call("fc_1", by=B), result("fc_1"))]
    grown = [*branch, question(), answer(call("fc_2", by=B), result("fc_2"))]
    assert call_ids(asked(*grown))[:1] == call_ids(asked(*branch)) == ["call00001"]


def test_a_cut_call_counts_for_nothing():
    history = asked(answer(cut(call("fc_1")), result("fc_1")), question(), answer(call("fc_2", by=B)))
    assert call_ids(history) == ["call00001"]


# Going on


HALF = cut(words("half", text="Half an ans"))


def test_an_answer_that_was_cut_off_is_asked_to_go_on():
    assert as_words(going_on(HALF).steps) == ["Q", "half", GO_ON]


def test_what_went_on_stays_where_it_was():
    rest = words("rest", round=1)
    assert as_words(going_on(HALF, rest).steps) == ["Q", "half", GO_ON, "rest"]
    assert as_words(asked(answer(HALF, rest)).steps) == ["half", GO_ON, "rest", "Q"]


def test_cut_twice_goes_on_twice():
    again = cut(words("again", round=1))
    assert as_words(going_on(HALF, again).steps) == ["Q", "half", GO_ON, "again", GO_ON]


def test_a_new_question_takes_the_place_of_going_on():
    assert as_words(asked(answer(HALF)).steps) == ["half", "Q"]


def test_a_round_of_which_nothing_is_left_asks_nothing_by_itself():
    nothing = cut(thought("rs", round=1))
    assert as_words(asked(answer(HALF, nothing)).steps) == ["half", "Q"]
    assert as_words(going_on(HALF, nothing).steps) == ["Q", "half", GO_ON]
    assert as_words(going_on(HALF, nothing, words("rest", round=2)).steps) == ["Q", "half", GO_ON, "rest"]


def test_text_before_a_cut_call_goes_on_too():
    assert as_words(going_on(HALF, cut(call()), result()).steps) == ["Q", "half", GO_ON]


@pytest.mark.parametrize(
    "items", [[words()], [cut(words(text=" \n"))], [cut(thought())], [], [call(), result()]]
)
def test_nothing_is_asked_to_go_on_that_was_not_cut_off(items: list[Item]):
    assert GO_ON not in as_words(going_on(*items).steps)


def test_silence_after_the_words_changes_nothing():
    assert as_words(going_on(HALF, cut(thought()), cut(words(text=" "))).steps) == ["Q", "half", GO_ON]


def test_text_that_was_whole_before_the_cut_is_not_asked_to_go_on():
    items = [words("m_1"), call(), result(), cut(thought("rs", round=1))]
    assert GO_ON not in as_words(going_on(*items).steps)


def test_a_cut_round_before_a_whole_one_is_no_group_with_it():
    history = going_on(cut(thought("rs_1")), HALF, thought("rs_2", round=1), words("rest", round=1))
    assert keys(history) == [["half"], ["rs_2", "rest"]]
    assert with_id(history) == ["rs_2", "rest"]
    assert history.dropped == {Dropped.CUT: 1}


def test_the_same_branch_folds_the_same_every_time():
    branch = [question(), answer(thought(), call(by=B), result()), question(), answer(HALF)]
    assert fold(branch, A) == fold(branch, A)
