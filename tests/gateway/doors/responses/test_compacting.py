"""A conversation is made shorter, and goes on from there."""

from __future__ import annotations

import pytest

from chatapp.core.events import Usage
from chatapp.gateway.doors.asked import Said, ToldAnswer, ToldOther
from chatapp.gateway.doors.door import Wrong
from chatapp.gateway.doors.handed import Handed
from chatapp.gateway.doors.responses.compacting import asked_to_sum_up, compaction, read_compacting
from chatapp.gateway.doors.responses.kept import Exchanged, input_kept, joined
from chatapp.providers.base import Choice

from .said import AT, SECRET, USED, message, read, refusal, written

TOLD = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "The word is slate."},
    {"role": "assistant", "content": "OK."},
    {"role": "user", "content": "Go on."},
]
TOOL = {"type": "function", "name": "f"}


def compacted(summary="The word is slate.", previous=(), **body):
    asked = read_compacting({"model": "m", "input": TOLD, **body}, {})
    return compaction(asked, previous, summary, USED, Handed(secret=SECRET), AT)


def test_a_model_is_asked_for_a_summary_after_all_that_was_said():
    asked = asked_to_sum_up(read_compacting({"model": "m", "input": TOLD, "tools": [TOOL]}, {}))
    assert [type(each) for each in asked.history] == [Said, Said, ToldAnswer, Said, Said]
    assert asked.history[-1].text.startswith("Sum up this conversation")
    assert (asked.stream, asked.store, asked.wishes.choice) == (False, False, Choice.NONE)
    assert [tool.name for tool in asked.tools] == ["f"]


def test_a_model_must_be_named():
    with pytest.raises(Wrong) as told:
        read_compacting({"input": TOLD}, {})
    assert told.value.param == "model"


def test_what_shapes_an_answer_shapes_no_summary():
    body = {"model": "m", "input": TOLD, "text": {"format": {"type": "json_object"}}, "max_output_tokens": 16}
    asked = asked_to_sum_up(read_compacting({**body, "tools": [TOOL], "tool_choice": "required"}, {}))
    assert (asked.wishes.form, asked.wishes.most_output, asked.wishes.call) == (None, None, "")


def test_what_is_left_are_the_user_s_messages_and_one_summary():
    whole = compacted()
    assert (whole["object"], whole["created_at"]) == ("response.compaction", AT)
    assert whole["usage"]["total_tokens"] == 17
    *users, last = whole["output"]
    assert [each["content"][0]["text"] for each in users] == ["The word is slate.", "Go on."]
    assert (last["type"], last["id"]) == ("compaction", f"cmp_{SECRET}00")


def test_a_program_goes_on_from_it_and_any_model_reads_it():
    window = [*compacted("They said: slate ☂.")["output"], {"role": "user", "content": "Which word?"}]
    history = read(input=window).history
    assert [type(each) for each in history] == [Said] * 4
    assert history[2].text.endswith("They said: slate ☂.")


def test_a_window_can_be_made_shorter_once_more():
    window = compacted()["output"]
    again = compacted("Still slate.", input=window)["output"]
    assert [each["type"] for each in again] == ["message", "message", "compaction"]


def test_what_was_kept_before_is_made_shorter_too():
    _, whole = written(message("a", "OK."))
    before = Exchanged(input_kept(read(input="First."), SECRET), whole["output"])
    asked = read_compacting({"model": "m", "previous_response_id": "resp_1"}, {})
    assert [type(each) for each in joined([before], asked).history] == [Said, ToldAnswer]
    users = compaction(asked, [before], "All.", Usage(), Handed(), AT)["output"][:-1]
    assert [each["content"][0]["text"] for each in users] == ["First."]


def test_a_provider_that_counts_nothing_has_still_numbers():
    whole = compaction(read(), [], "All.", Usage(), Handed(), AT)
    assert whole["usage"]["total_tokens"] == 0


def test_without_a_summary_nothing_is_left_out():
    with pytest.raises(Wrong):
        compacted(" \n")


def test_a_provider_s_own_compaction_is_for_that_provider():
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}
    [answer] = read(input=[item]).history
    assert answer.parts == (ToldOther(wire=item, id="cmp_1"),)


@pytest.mark.parametrize("content", ["thoughtline.1.A", "thoughtline.1._w==", "thoughtline.1.é"])
def test_a_summary_that_is_not_whole_is_told(content):
    wrong = refusal(input=[{"type": "compaction", "encrypted_content": content}])
    assert wrong.param == "input[0].encrypted_content"
