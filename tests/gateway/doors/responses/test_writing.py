"""A response in the protocol's words: its events in their order, and the whole of it."""

from __future__ import annotations

import json

import pytest

from chatapp.core.events import Finish, ItemAmended, ItemDelta, ItemDone, ItemStarted, Retrying, Usage
from chatapp.core.items import Kind
from chatapp.gateway.doors import door
from chatapp.gateway.doors.door import HowEnded, Wrong, as_sse
from chatapp.gateway.doors.handed import Handed, place_in
from chatapp.gateway.doors.responses import DOOR

from . import said
from .said import SECRET, call, item, message, names, read, thought, written
from .stories import CITED, REFUSAL

ECHOED = {
    "id",
    "object",
    "created_at",
    "completed_at",
    "status",
    "incomplete_details",
    "model",
    "previous_response_id",
    "instructions",
    "output",
    "error",
    "tools",
    "tool_choice",
    "truncation",
    "parallel_tool_calls",
    "text",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
    "temperature",
    "reasoning",
    "usage",
    "max_output_tokens",
    "max_tool_calls",
    "store",
    "background",
    "service_tier",
    "metadata",
    "safety_identifier",
    "prompt_cache_key",
}


def output(heard, **more):
    return written(heard, **more)[1]["output"]


def test_a_message_is_told_in_the_protocol_s_order():
    frames, _ = written(message("a", "Hel", "lo."))
    assert names(frames) == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert [frame.data["sequence_number"] for frame in frames] == list(range(10))


def test_a_thought_is_told_as_a_summary():
    frames, whole = written(thought("t", "Let me ", "see."))
    assert names(frames)[2:-1] == [
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
    ]
    summary = [{"type": "summary_text", "text": "Let me see."}]
    assert whole["output"] == [{"id": f"rs_{SECRET}00", "type": "reasoning", "summary": summary}]


def test_a_thought_is_known_of_as_soon_as_it_begins():
    writer = DOOR.writer(read(), "m", Handed(), 0)
    assert names(writer.hear(ItemStarted("t", Kind.REASONING))) == ["output_item.added"]


def test_a_call_has_two_ids_of_ours_and_its_arguments_to_the_letter():
    frames, whole = written(call("a", "get_weather", '{"city":', ' "Rome"}'))
    assert names(frames)[2:-1] == [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
    ]
    assert whole["output"] == [
        {
            "id": f"fc_{SECRET}00",
            "type": "function_call",
            "status": "completed",
            "arguments": '{"city": "Rome"}',
            "call_id": f"call_{SECRET}00",
            "name": "get_weather",
        }
    ]


def test_a_call_without_arguments_has_an_empty_object():
    assert output(call("a", "get_time"))[0]["arguments"] == "{}"


def test_calls_that_grow_beside_each_other_keep_their_places():
    frames, whole = written(
        [
            ItemStarted("a", Kind.TOOL_CALL, "f"),
            ItemStarted("b", Kind.TOOL_CALL, "g"),
            ItemDelta("b", "[2]"),
            ItemDelta("a", "[1]"),
            ItemDone(item("b", Kind.TOOL_CALL, "[2]", name="g")),
            ItemDone(item("a", Kind.TOOL_CALL, "[1]", name="f")),
        ]
    )
    assert [each["arguments"] for each in whole["output"]] == ["[1]", "[2]"]
    assert said.Client().hear(frames) == whole["output"]


def test_the_response_says_everything_again_that_was_asked():
    frames, whole = written(message("a", "Hi."))
    for frame in (frames[0], frames[1], frames[-1]):
        assert frame.data["response"].keys() == ECHOED
    assert whole["created_at"] == said.AT
    assert whole["completed_at"] == said.AT + 2
    assert (whole["model"], whole["store"], whole["tool_choice"]) == ("provider:m", True, "auto")
    assert whole["text"] == {"format": {"type": "text"}}
    assert whole["reasoning"] == {"effort": None, "summary": None}


def test_what_was_asked_is_said_again_as_it_was_asked():
    body = {
        "instructions": "Be brief.",
        "temperature": 0.5,
        "metadata": {"a": "b"},
        "reasoning": {"effort": "high"},
        "text": {"verbosity": "low"},
        "store": False,
        "previous_response_id": "resp_1",
        "prompt_cache_key": "k",
    }
    _, whole = written([], **body)
    assert {name: whole[name] for name in body} == body | {
        "reasoning": {"effort": "high", "summary": None},
        "text": {"verbosity": "low", "format": {"type": "text"}},
    }


def test_tokens_are_counted_with_their_details():
    assert written([])[1]["usage"] == {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 17,
    }


def test_a_provider_that_counts_nothing_leaves_numbers_that_programs_can_add_up():
    writer = DOOR.writer(read(), "m", Handed(), 0)
    writer.end(HowEnded(finish=Finish.STOP, usage=Usage(), at=1))
    assert writer.whole()["usage"]["total_tokens"] == 0


def test_a_failure_has_used_nothing_that_is_known():
    assert written([], fail=Wrong(500, door.OURS, "It broke."))[1]["usage"] is None


@pytest.mark.parametrize(
    ("finish", "status", "reason"),
    [
        (Finish.STOP, "completed", None),
        (Finish.TOOL_CALLS, "completed", None),
        (Finish.PAUSE, "completed", None),
        (Finish.REFUSAL, "completed", None),
        (Finish.LENGTH, "incomplete", "max_output_tokens"),
        (Finish.FILTER, "incomplete", "content_filter"),
        (Finish.CUT, "failed", None),
    ],
)
def test_an_end_is_told_as_what_it_was(finish, status, reason):
    frames, whole = written(message("a", "Hel"), finish=finish)
    assert names(frames)[-1] == whole["status"] == status
    assert whole["incomplete_details"] == ({"reason": reason} if reason else None)
    assert (whole["completed_at"] is None) == (status != "completed")


def test_a_failure_is_told_with_what_came_before_it():
    heard = [ItemStarted("a", Kind.ASSISTANT_MESSAGE), ItemDelta("a", "Hel")]
    frames, whole = written(heard, fail=Wrong(503, door.OVERLOADED, "Too many ask."))
    assert names(frames)[-2:] == ["output_item.done", "failed"]
    assert whole["status"] == "failed"
    assert whole["error"] == {"code": "server_error", "message": "Too many ask."}
    assert [each["status"] for each in whole["output"]] == ["incomplete"]


def test_a_failure_with_a_word_that_programs_know_keeps_it():
    wrong = Wrong(400, door.INVALID, "Too long.", "context_length_exceeded")
    assert written([], fail=wrong)[1]["error"]["code"] == "context_length_exceeded"


def test_an_item_without_an_end_is_there_as_far_as_it_came():
    [begun] = output([ItemStarted("a", Kind.TOOL_CALL, "f"), ItemDelta("a", '{"ci')])
    assert (begun["status"], begun["arguments"]) == ("incomplete", '{"ci')


def test_an_item_that_was_cut_says_so():
    assert output([ItemDone(item("a", text="Hel", cut=True))])[0]["status"] == "incomplete"


def test_an_item_that_comes_whole_is_streamed_as_well():
    frames, _ = written([ItemDone(item("a", text="Hello."))])
    [delta] = [frame.data["delta"] for frame in frames if frame.event == "response.output_text.delta"]
    assert delta == "Hello."


def test_what_the_stream_left_out_of_an_item_comes_with_its_end():
    heard = [
        ItemStarted("a", Kind.ASSISTANT_MESSAGE),
        ItemDelta("a", "Hel"),
        ItemDone(item("a", text="Hello.")),
    ]
    frames, _ = written(heard)
    assert [frame.data["delta"] for frame in frames if "delta" in frame.data] == ["Hel", "lo."]


def test_what_grows_behind_an_item_s_end_is_nobody_else_s_business():
    heard = [*message("a", "Hello."), ItemAmended(item("a", text="Hello.", wire={"x": 1}))]
    assert names(written(heard)[0]) == names(written(message("a", "Hello."))[0])


def test_a_thought_that_was_lost_keeps_its_place_and_has_no_seal():
    heard = [ItemStarted("t", Kind.REASONING), ItemDelta("t", "Let"), Retrying(1.0, "again", ("t",))]
    first, second = output([*heard, *thought("u", "Once more.")], include=said.ENCRYPTED)
    assert first["summary"][0]["text"] == "Let"
    assert "encrypted_content" not in first
    assert place_in(second["encrypted_content"]) == (SECRET, 1)


def test_a_thought_is_sealed_where_the_program_asks_for_it():
    [plain] = output(thought("t", "Hm."))
    [ours] = output(thought("t", "Hm."), include=said.ENCRYPTED)
    wire = {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
    [theirs] = output(thought("t", "Hm.", wire=wire, dialect="responses"), include=said.ENCRYPTED)
    assert "encrypted_content" not in plain
    assert place_in(ours["encrypted_content"]) == (SECRET, 0)
    assert theirs["encrypted_content"].endswith(".gAAA")


def test_another_dialect_s_seal_is_never_handed_out():
    [ours] = output(thought("t", "Hm.", wire={"encrypted_content": "x"}), include=said.ENCRYPTED)
    assert place_in(ours["encrypted_content"]) == (SECRET, 0)
    assert not ours["encrypted_content"].endswith("x")


def test_a_refusal_that_comes_whole_is_one():
    frames, whole = written([ItemDone(item("a", text="I will not.", wire=REFUSAL, dialect="responses"))])
    assert whole["output"][0]["content"] == [{"type": "refusal", "refusal": "I will not."}]
    assert "refusal.delta" in names(frames)


def test_a_refusal_that_comes_in_pieces_is_one_whichever_wire_it_came_by():
    said = [ItemDelta("a", piece, refuses=True) for piece in ("I will ", "not.")]
    whole_one = item("a", text="I will not.", wire={"refusal": "I will not."}, dialect="chat")
    frames, whole = written([ItemStarted("a", Kind.ASSISTANT_MESSAGE), *said, ItemDone(whole_one)])
    assert whole["output"][0]["content"] == [{"type": "refusal", "refusal": "I will not."}]
    assert names(frames)[3:-2] == [
        "content_part.added",
        *["refusal.delta"] * 2,
        "refusal.done",
        "content_part.done",
    ]


def test_a_message_keeps_its_phase_and_what_it_cites():
    [answer] = output([ItemDone(item("a", text="Warm.", wire=CITED, dialect="responses"))])
    assert answer["phase"] == "final_answer"
    assert answer["content"][0]["annotations"] == CITED["content"][0]["annotations"]


def test_an_item_of_a_kind_of_its_own_comes_as_it_is_under_our_id():
    wire = {"type": "web_search_call", "id": "ws_their1", "status": "completed"}
    heard = [
        ItemStarted("a", Kind.ASSISTANT_MESSAGE),
        ItemDone(item("a", wire=wire, dialect="responses")),
        *message("b", "Found."),
    ]
    first, second = output(heard)
    assert first == wire | {"id": f"ws_{SECRET}00"}
    assert second["id"] == f"msg_{SECRET}01"


def test_a_message_that_never_says_a_word_is_none():
    assert output([ItemStarted("a", Kind.ASSISTANT_MESSAGE)]) == []


def test_what_tools_and_people_say_is_no_part_of_a_model_s_answer():
    kinds = (Kind.TOOL_RESULT, Kind.PERMISSION_DECISION, Kind.USER_MESSAGE)
    heard = [ItemDone(item(kind, kind, "a")) for kind in kinds]
    assert output(heard) == []


def test_frames_are_server_sent_events_named_by_their_type():
    frames, _ = written(message("a", "é"))
    name, data = as_sse(frames[4]).decode().rstrip().split("\n")
    assert name == "event: response.output_text.delta"
    assert json.loads(data.removeprefix("data: "))["delta"] == "é"
    assert "é" in data
