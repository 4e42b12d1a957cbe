"""Responses that were kept: shown, listed, and gone on from."""

from __future__ import annotations

import pytest

from chatapp.gateway.doors.asked import Said, SaidBy, ToldAnswer, ToldResult
from chatapp.gateway.doors.door import Wrong
from chatapp.gateway.doors.handed import place_of
from chatapp.gateway.doors.responses.kept import (
    Exchanged,
    by_id,
    deleted,
    input_kept,
    input_place,
    joined,
    listed,
    referenced,
    shown,
)

from .said import SECRET, call, message, read, thought, written

OTHER = "z" * 26


def kept(*heard, **body):
    events = [event for each in heard for event in each]
    _, whole = written(events, **body)
    return Exchanged(input_kept(read(**body), SECRET), whole["output"])


def test_every_item_of_a_request_has_an_id_that_nobody_takes_for_a_model_s():
    body = [
        {"role": "user", "content": "a"},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "id": "fc_theirs"},
        {"type": "function_call_output", "call_id": "c", "output": "1"},
    ]
    items = input_kept(read(input=body), SECRET)
    assert [each["id"] for each in items] == [f"msg_{SECRET}i0", "fc_theirs", f"fco_{SECRET}i2"]
    assert input_place(items[0]["id"]) == (SECRET, 0)
    assert place_of(items[0]["id"]) is None


def test_messages_are_kept_in_their_whole_form():
    body = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "status": None}]
    user, assistant = input_kept(read(input=body), SECRET)
    assert (user["type"], user["status"]) == ("message", "completed")
    assert user["content"] == [{"type": "input_text", "text": "a"}]
    assert assistant["content"] == [{"type": "output_text", "text": "b", "annotations": []}]
    assert input_kept(read(input="a"), SECRET) == [user]


def test_a_request_goes_on_from_all_that_was_said_before():
    first = kept(thought("t", "Hm."), call("a", "f", "{}"), input="Weather?", instructions="Be a pirate.")
    called = first.output[1]["call_id"]
    now = read(
        instructions="Be brief.",
        input=[{"type": "function_call_output", "call_id": called, "output": "Warm."}],
        previous_response_id="resp_1",
    )
    history = joined([first], now).history
    assert [type(each) for each in history] == [Said, Said, ToldAnswer, ToldResult]
    assert (history[0].role, history[0].text) == (SaidBy.SYSTEM, "Be brief.")
    assert history[1].text == "Weather?"
    assert [part.id for part in history[2].parts] == [first.output[0]["id"], called]


def test_the_oldest_response_comes_first():
    first, second = kept(message("a", "1"), input="one"), kept(message("a", "2"), input="two")
    history = joined([first, second], read(input="three")).history
    assert [getattr(each, "text", None) or each.parts[0].text for each in history] == [
        "one",
        "1",
        "two",
        "2",
        "three",
    ]


def test_a_result_must_have_its_call_somewhere():
    now = read(
        input=[{"type": "function_call_output", "call_id": "call_missing", "output": "1"}],
        previous_response_id="resp_1",
    )
    with pytest.raises(
        Wrong, match="No tool call found for function call output with call_id call_missing"
    ) as told:
        joined([kept(message("a", "OK."))], now)
    assert told.value.param == "input[0].call_id"


def test_an_item_may_be_named_that_is_known():
    first = kept(message("a", "Cobalt."), input="Which word?")
    name = first.output[0]["id"]
    now = read(input=[{"type": "item_reference", "id": name}, {"role": "user", "content": "Again."}])
    assert referenced(now) == (name,)
    history = joined([], now, by_id([first])).history
    assert history[0].parts[0].text == "Cobalt."
    assert input_kept(now, OTHER, by_id([first]))[0] == first.output[0]


def test_an_item_that_nobody_knows_is_told():
    now = read(input=[{"id": "msg_gone"}])
    with pytest.raises(Wrong, match="Item with id 'msg_gone' not found") as told:
        joined([], now)
    assert told.value.param == "input[0].id"


def test_a_name_that_an_earlier_request_said_is_still_known():
    first = kept(message("a", "Cobalt."), input="Which word?")
    second = Exchanged([{"type": "item_reference", "id": first.output[0]["id"]}], [])
    history = joined([first, second], read(input="Again.")).history
    assert [part.text for part in history[1].parts] == ["Cobalt.", "Cobalt."]


def test_a_name_for_a_name_leads_nowhere():
    with pytest.raises(Wrong):
        joined([], read(input=[{"id": "a"}]), {"a": {"type": "item_reference", "id": "a"}})


def test_nothing_at_all_is_nothing_to_answer():
    with pytest.raises(Wrong):
        joined([], read(input=None, previous_response_id="resp_1"))


ITEMS = [{"id": f"msg_{n}"} for n in range(5)]


def page(**query):
    found = listed(ITEMS, query)
    return [each["id"][-1] for each in found["data"]], found["has_more"]


def test_items_are_listed_the_newest_first_and_in_pages():
    assert page() == (["4", "3", "2", "1", "0"], False)
    assert page(order="asc", limit="2") == (["0", "1"], True)
    assert page(order="asc", limit="2", after="msg_1") == (["2", "3"], True)
    assert page(order="asc", limit="2", after="msg_3") == (["4"], False)
    assert page(after="msg_0") == ([], False)


def test_a_page_says_where_it_begins_and_ends():
    found = listed(ITEMS, {"limit": "2"})
    assert (found["object"], found["first_id"], found["last_id"]) == ("list", "msg_4", "msg_3")
    empty = listed([], {})
    assert (empty["first_id"], empty["last_id"], empty["data"]) == (None, None, [])


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "-1"}, "limit"),
        ({"limit": "²"}, "limit"),
        ({"limit": "9" * 5000}, "limit"),
        ({"order": "up"}, "order"),
        ({"after": "msg_gone"}, "after"),
    ],
)
def test_a_page_that_cannot_be_is_told(query, param):
    with pytest.raises(Wrong) as told:
        listed(ITEMS, query)
    assert (told.value.status, told.value.param) == (400, param)


def test_a_response_that_is_over_is_shown_and_not_streamed_again():
    assert shown({"id": "resp_1"}, {}) == {"id": "resp_1"}
    with pytest.raises(Wrong):
        shown({"id": "resp_1"}, {"stream": "true"})


def test_what_was_deleted_is_told_to_be():
    assert deleted("resp_1") == {"id": "resp_1", "object": "response.deleted", "deleted": True}


@pytest.mark.parametrize(
    "given", ["", "msg_", "msg_1", f"msg_{SECRET}", f"msg_{SECRET}00", f"msg_{SECRET}ix", f"msg_{SECRET}i²"]
)
def test_other_ids_are_none_of_a_request_s_items(given):
    assert input_place(given) is None
