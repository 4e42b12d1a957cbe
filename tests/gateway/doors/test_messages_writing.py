"""How the messages door tells a response."""

from __future__ import annotations

from typing import Any

import pytest

from chatapp.core.events import Event, Finish, ItemDelta, ItemStarted, Retrying
from chatapp.core.items import Kind
from chatapp.gateway.doors import door as kinds
from chatapp.gateway.doors.door import Frame, Wrong
from chatapp.gateway.doors.messages import DOOR

from .bodies import SCHEMA
from .telling import SECRET, call, ended, frames, sealed, thought, whole, words, writer

SIGNED = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
REDACTED = {"type": "redacted_thinking", "data": "sealed"}
ZERO = {
    "input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 0,
    "output_tokens_details": {"thinking_tokens": 0},
}


def streamed(*said: list[Event], **more: Any) -> list[dict[str, Any]]:
    """What each frame between the beginning and the end says."""
    told = frames(writer(DOOR, stream=True, **more), *said)[1:-2]
    return [frame.data for frame in told if not isinstance(frame.data, str)]  # type: ignore[misc]


def content(*said: list[Event], **more: Any) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = whole(DOOR, *said, **more)["content"]
    return told


def block(index: int, opening: Any, *deltas: Any) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": opening},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def test_a_stream_begins_with_an_empty_message_and_ends_with_a_reason_and_what_it_used() -> None:
    end = ended(input=10, cached=4, cache_written=1, output=5, reasoning=3)
    first, *_, delta, stop = frames(writer(DOOR, stream=True), words("a", "Hi"), end=end)
    assert first == Frame(
        "message_start",
        {
            "type": "message_start",
            "message": {
                "id": f"msg_{SECRET}",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": ZERO,
            },
        },
    )
    assert delta.data == {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {
            "input_tokens": 5,
            "cache_creation_input_tokens": 1,
            "cache_read_input_tokens": 4,
            "output_tokens": 5,
            "output_tokens_details": {"thinking_tokens": 3},
        },
    }
    assert stop == Frame("message_stop", {"type": "message_stop"})


def test_a_thought_ends_with_its_signature_and_then_the_text_begins() -> None:
    assert streamed(thought("a", "H", "m.", wire=SIGNED, dialect="messages"), words("b", "So.")) == [
        *block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "H"},
            {"type": "thinking_delta", "thinking": "m."},
            {"type": "signature_delta", "signature": sealed(0, "sig")},
        ),
        *block(1, {"type": "text", "text": ""}, {"type": "text_delta", "text": "So."}),
    ]


def test_a_thought_of_another_kind_of_model_gets_a_seal_of_ours() -> None:
    (told,) = content(thought("a", "Hm.", wire={"reasoning_content": "Hm."}))
    assert told == {"type": "thinking", "thinking": "Hm.", "signature": sealed(0)}


def test_a_thought_without_words_has_its_block_and_its_seal() -> None:
    (told,) = content(thought("a", wire={"encrypted_content": "x"}, dialect="responses"))
    assert told == {"type": "thinking", "thinking": "", "signature": sealed(0)}


def test_what_was_lost_before_its_turn_came_is_never_told() -> None:
    open_one = [ItemStarted("t", Kind.REASONING, "")]
    assert content(open_one, words("a", "So."), [Retrying(1.0, "Busy", ("a",))]) == []


UNSEEN = {"thinking": {"type": "adaptive", "display": "omitted"}}


def test_who_wants_no_thoughts_gets_their_seals_without_a_word() -> None:
    said = thought("a", wire=SIGNED | {"thinking": ""}, dialect="messages"), words("b", "So.")
    told = {"type": "thinking", "thinking": "", "signature": sealed(0, "sig")}
    assert streamed(*said, **UNSEEN) == [
        *block(0, told | {"signature": ""}, {"type": "signature_delta", "signature": sealed(0, "sig")}),
        *block(1, {"type": "text", "text": ""}, {"type": "text_delta", "text": "So."}),
    ]
    assert content(*said, **UNSEEN)[0] == told


def test_what_was_sealed_with_words_is_not_handed_out_without_them() -> None:
    """Whoever sent it back so would be refused: it goes back as it is kept here, or not at all."""
    said = thought("a", "H", "m.", wire=SIGNED, dialect="messages")
    told = {"type": "thinking", "thinking": "", "signature": sealed(0)}
    assert streamed(said, **UNSEEN) == block(
        0, told | {"signature": ""}, {"type": "signature_delta", "signature": sealed(0)}
    )
    assert content(said, **UNSEEN) == [told]


def test_a_redacted_thought_is_one_block() -> None:
    assert streamed(thought("a", wire=REDACTED, dialect="messages")) == block(
        0, REDACTED | {"data": sealed(0, "sealed")}
    )


def test_a_thought_that_is_nothing_is_left_out() -> None:
    assert content(thought("a")) == []


def test_arguments_are_told_at_once_and_are_an_object() -> None:
    opening = {"type": "tool_use", "id": f"toolu_{SECRET}00", "name": "tide", "input": {}}
    told = {"type": "input_json_delta", "partial_json": '{"a":1}'}
    assert streamed(call("a", "tide", '{"a"', ": 1}")) == block(0, opening, told)
    assert [one["input"] for one in content(call("a", "tide", '{"a": 1}'))] == [{"a": 1}]


@pytest.mark.parametrize("arguments", ["", "nonsense", "[1]", '{"a":', "null"])
def test_arguments_that_are_no_object_become_an_empty_one(arguments: str) -> None:
    said = call("a", "tide", arguments)
    assert [one["input"] for one in content(said)] == [{}]
    assert streamed(said)[1]["delta"] == {"type": "input_json_delta", "partial_json": "{}"}


def test_who_wants_arguments_as_they_are_written_gets_them() -> None:
    tool = {"name": "tide", "input_schema": SCHEMA, "eager_input_streaming": True}
    told = streamed(call("a", "tide", '{"a"', ": 1}"), tools=[tool])
    assert [one["delta"]["partial_json"] for one in told[1:-1]] == ['{"a"', ": 1}"]


def test_calls_that_come_mixed_are_blocks_one_after_the_other() -> None:
    one, other = call("a", "tide", "{}"), call("b", "wind", '{"b":1}')
    told = streamed([*one[:1], *other[:2], *one[1:], *other[2:]])
    assert [frame["index"] for frame in told] == [0, 0, 0, 1, 1, 1]


def test_thoughts_that_were_lost_are_closed_and_not_in_a_whole_answer() -> None:
    lost: list[Event] = [
        ItemStarted("a", Kind.REASONING),
        ItemDelta("a", "Wrong."),
        Retrying(1.0, "Busy", ("a",)),
    ]
    assert [one["thinking"] for one in content(lost, thought("b", "Right."))] == ["Right."]
    told = streamed(lost, thought("b", "Right."))
    assert [frame["index"] for frame in told if frame["type"] == "content_block_stop"] == [0, 1]


def test_what_is_open_at_the_end_is_closed() -> None:
    told = streamed([ItemStarted("a", Kind.ASSISTANT_MESSAGE), ItemDelta("a", "Half")])
    assert told == block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Half"})


@pytest.mark.parametrize(
    "finish, reason",
    [
        (Finish.STOP, "end_turn"),
        (Finish.TOOL_CALLS, "tool_use"),
        (Finish.LENGTH, "max_tokens"),
        (Finish.CUT, "max_tokens"),
        (Finish.FILTER, "refusal"),
        (Finish.REFUSAL, "refusal"),
        (Finish.PAUSE, "pause_turn"),
    ],
)
def test_why_it_ended(finish: Finish, reason: str) -> None:
    assert whole(DOOR, end=ended(finish))["stop_reason"] == reason


def test_while_it_thinks_it_pings() -> None:
    assert writer(DOOR, stream=True).still_thinking() == [Frame("ping", {"type": "ping"})]


def test_a_failure_behind_the_beginning_is_an_event() -> None:
    (told,) = writer(DOOR, stream=True).fail(Wrong(529, kinds.OVERLOADED, "Too much."))
    error = {"type": "overloaded_error", "message": "Too much."}
    assert told == Frame("error", {"type": "error", "error": error, "request_id": None})


@pytest.mark.parametrize(
    "kind, type_",
    [
        (kinds.INVALID, "invalid_request_error"),
        (kinds.UNKNOWN_KEY, "authentication_error"),
        (kinds.FORBIDDEN, "permission_error"),
        (kinds.NOT_FOUND, "not_found_error"),
        (kinds.TOO_LARGE, "request_too_large"),
        (kinds.LIMITED, "rate_limit_error"),
        (kinds.OURS, "api_error"),
        (kinds.PROVIDER, "api_error"),
        (kinds.OVERLOADED, "overloaded_error"),
    ],
)
def test_each_kind_of_error_has_its_word(kind: str, type_: str) -> None:
    assert DOOR.error(Wrong(400, kind, "No."), "req_1")["error"]["type"] == type_
