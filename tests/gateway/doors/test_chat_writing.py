"""How the chat door tells a response."""

from __future__ import annotations

from typing import Any

import pytest

from chatapp.core.events import Event, Finish, ItemAmended, ItemDelta, ItemDone, ItemStarted, Retrying
from chatapp.core.items import Item, Kind
from chatapp.gateway.doors import door as kinds
from chatapp.gateway.doors.chat import DOOR
from chatapp.gateway.doors.door import Frame, Wrong, as_sse

from .said import AT
from .telling import SECRET, call, ended, frames, refusal, thought, whole, words, writer

CALL_ID = f"call_{SECRET}00"


def deltas(told: list[Frame]) -> list[dict[str, Any]]:
    """What each chunk adds, without the first and the last."""
    chunks = [frame.data for frame in told if not isinstance(frame.data, str)]
    return [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]][1:-1]


def streamed(*said: list[Event], **more: Any) -> list[dict[str, Any]]:
    return deltas(frames(writer(DOOR, stream=True, **more), *said))


def message(*said: list[Event], **more: Any) -> dict[str, Any]:
    told: dict[str, Any] = whole(DOOR, *said, **more)["choices"][0]["message"]
    return told


def test_a_stream_begins_with_a_role_and_ends_with_a_reason_and_done() -> None:
    first, second, last, done = frames(writer(DOOR, stream=True), words("a", "Hi"))
    head = {"id": f"chatcmpl-{SECRET}", "created": AT, "model": "m", "object": "chat.completion.chunk"}
    choice = {"index": 0, "logprobs": None, "finish_reason": None}
    assert first.data == head | {"choices": [choice | {"delta": {"role": "assistant", "content": None}}]}
    assert second.data == head | {"choices": [choice | {"delta": {"content": "Hi"}}]}
    assert last.data == head | {"choices": [choice | {"delta": {}, "finish_reason": "stop"}]}
    assert as_sse(done) == b"data: [DONE]\n\n"


def test_thoughts_have_both_of_their_names() -> None:
    assert streamed(thought("a", "Hm.")) == [{"reasoning_content": "Hm.", "reasoning": "Hm."}]
    assert message(thought("a", "Hm."))["reasoning_content"] == "Hm."


def test_every_word_is_told_when_it_comes() -> None:
    assert streamed(words("a", "One", " two")) == [{"content": "One"}, {"content": " two"}]


def test_a_refusal_has_a_field_of_its_own() -> None:
    assert streamed(refusal("a", "I ", "will not.")) == [{"refusal": "I "}, {"refusal": "will not."}]
    told = message(refusal("a", "I ", "will not."))
    assert (told["refusal"], told["content"]) == ("I will not.", None)
    both = message(words("a", "Well."), refusal("b", "No."))
    assert (both["refusal"], both["content"]) == ("No.", "Well.")
    assert message(words("a", "Well."))["refusal"] is None


def test_a_refusal_of_another_wire_that_comes_whole_is_one() -> None:
    wire = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}
    done = Item(key="a", kind=Kind.ASSISTANT_MESSAGE, text="No.", dialect="responses", wire=wire)
    assert message([ItemDone(done)])["refusal"] == "No."


def test_a_call_begins_with_our_id_and_its_name() -> None:
    assert streamed(call("a", "tide", '{"a":', "1}")) == [
        {
            "tool_calls": [
                {"index": 0, "id": CALL_ID, "type": "function", "function": {"name": "tide", "arguments": ""}}
            ]
        },
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"a":'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]},
    ]


def test_calls_that_come_mixed_are_told_one_after_the_other() -> None:
    one, other = call("a", "tide", "{}"), call("b", "wind", '{"b":1}')
    mixed = [*one[:1], *other[:2], *one[1:], *other[2:]]
    pieces = [delta["tool_calls"][0] for delta in streamed(mixed)]
    assert [piece["index"] for piece in pieces] == [0, 0, 1, 1]
    assert pieces[3]["function"] == {"arguments": '{"b":1}'}


def test_no_word_waits_for_a_call() -> None:
    calling: list[Event] = [ItemStarted("a", Kind.TOOL_CALL, "tide"), ItemDelta("a", "{}")]
    assert streamed([*calling, *words("b", "Here.")])[-1] == {"content": "Here."}
    heard = writer(DOOR, stream=True)
    told = [
        frame for event in [*calling, ItemStarted("b", Kind.ASSISTANT_MESSAGE)] for frame in heard.hear(event)
    ]
    assert len(told) == 2
    assert len(heard.hear(ItemDelta("b", "Here."))) == 1


def test_what_a_call_is_signed_with_goes_out_with_it() -> None:
    signature = {"google": {"thought_signature": "sig"}}
    signed = call("a", "tide", "{}", wire={"extra_content": signature})
    last = {"index": 0, "extra_content": signature, "function": {"arguments": ""}}
    assert streamed(signed)[-1] == {"tool_calls": [last]}
    assert message(signed)["tool_calls"][0]["extra_content"] == signature


def test_a_call_of_another_dialect_has_nothing_beside_it() -> None:
    foreign = call("a", "tide", "{}", wire={"extra_content": {"a": 1}}, dialect="messages")
    assert "extra_content" not in message(foreign)["tool_calls"][0]


def test_details_go_out_once_with_all_that_was_added_to_them() -> None:
    wire = {"reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "index": 0}]}
    more = {"reasoning_details": [*wire["reasoning_details"], {"type": "reasoning.encrypted", "data": "s"}]}
    amended = Item(key="a", kind=Kind.REASONING, text="Hm.", wire=more, dialect="chat")
    told = streamed(thought("a", "Hm.", wire=wire), words("b", "So."), [ItemAmended(amended)])
    assert told[-1] == {
        "reasoning_details": [
            {"type": "reasoning.text", "text": "Hm.", "index": 0},
            {"type": "reasoning.encrypted", "data": "s", "index": 1},
        ]
    }
    assert sum("reasoning_details" in delta for delta in told) == 1


def test_texts_of_one_message_are_joined_and_those_of_several_are_paragraphs() -> None:
    assert message(words("a", "One. "), thought("t", "Hm."), words("b", "Two."))["content"] == "One. Two."
    apart = [words(key, text, dialect="responses") for key, text in (("a", "One."), ("b", "Two."))]
    assert message(*apart)["content"] == "One.\n\nTwo."


def test_a_call_without_arguments_has_an_empty_object() -> None:
    assert message(call("a", "tide"))["tool_calls"][0]["function"] == {"name": "tide", "arguments": "{}"}


def test_a_call_that_was_cut_is_given_no_arguments() -> None:
    started = ItemStarted("a", Kind.TOOL_CALL, "tide")
    told = message([started], end=ended(Finish.CUT))["tool_calls"][0]
    assert told["function"] == {"name": "tide", "arguments": ""}


def test_a_call_that_named_no_tool_waits_and_gets_a_name() -> None:
    assert message(call("a", "", "{}"))["tool_calls"][0]["function"]["name"] == "unknown"


def test_who_knows_functions_alone_is_told_one_call_in_the_old_form() -> None:
    more: dict[str, Any] = {"functions": [{"name": "tide"}]}
    said = [call("a", "tide", "{}"), call("b", "tide", "{}")]
    end = ended(Finish.TOOL_CALLS)
    assert streamed(*said, **more) == [
        {"function_call": {"name": "tide", "arguments": ""}},
        {"function_call": {"arguments": "{}"}},
    ]
    choice = whole(DOOR, *said, end=end, **more)["choices"][0]
    assert choice["message"]["function_call"] == {"name": "tide", "arguments": "{}"}
    assert "tool_calls" not in choice["message"] and choice["finish_reason"] == "function_call"


def test_thoughts_that_were_lost_are_not_in_a_whole_answer() -> None:
    lost: list[Event] = [
        ItemStarted("a", Kind.REASONING),
        ItemDelta("a", "Wrong."),
        Retrying(1.0, "Busy", ("a",)),
    ]
    assert message(lost, thought("b", "Right."))["reasoning"] == "Right."
    seen = message(lost, thought("b", "Right."), stream=True)
    assert seen["reasoning"] == "Wrong.\n\nRight."


def test_a_text_that_stays_blank_is_none() -> None:
    assert message(words("a", " ", "\n"))["content"] is None


def test_usage_is_told_in_a_stream_to_who_asked_and_to_everybody_else_who_hears_it_whole() -> None:
    end = ended(input=10, cached=4, output=5, reasoning=3)
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    wanted = frames(writer(DOOR, stream=True, stream_options={"include_usage": True}), end=end)
    assert [chunk["usage"] for chunk in datas(wanted)] == [None, None, usage]
    assert datas(wanted)[-1]["choices"] == []
    assert all("usage" not in chunk for chunk in datas(frames(writer(DOOR, stream=True), end=end)))
    assert whole(DOOR, end=end)["usage"] == usage


def datas(told: list[Frame]) -> list[Any]:
    return [frame.data for frame in told if frame.data != "[DONE]"]


@pytest.mark.parametrize(
    "finish, reason",
    [
        (Finish.STOP, "stop"),
        (Finish.TOOL_CALLS, "tool_calls"),
        (Finish.LENGTH, "length"),
        (Finish.CUT, "length"),
        (Finish.FILTER, "content_filter"),
        (Finish.REFUSAL, "content_filter"),
        (Finish.PAUSE, "stop"),
    ],
)
def test_why_it_ended(finish: Finish, reason: str) -> None:
    assert whole(DOOR, end=ended(finish))["choices"][0]["finish_reason"] == reason


def test_while_it_thinks_an_empty_chunk_keeps_the_connection_alive() -> None:
    (frame,) = writer(DOOR, stream=True).still_thinking()
    assert not isinstance(frame.data, str) and frame.data["choices"][0]["delta"] == {}


def test_a_failure_behind_the_beginning_is_told_and_the_stream_ends() -> None:
    error, done = writer(DOOR, stream=True).fail(Wrong(502, kinds.PROVIDER, "It broke."))
    told = {"message": "It broke.", "type": "api_error", "param": None, "code": None}
    assert error.data == {"error": told} and done.data == "[DONE]"


@pytest.mark.parametrize(
    "kind, type_, code",
    [
        (kinds.UNKNOWN_KEY, "authentication_error", "invalid_api_key"),
        (kinds.FORBIDDEN, "permission_error", None),
        (kinds.NOT_FOUND, "not_found_error", None),
        (kinds.TOO_LARGE, "invalid_request_error", None),
        (kinds.LIMITED, "rate_limit_error", "rate_limit_exceeded"),
        (kinds.OURS, "server_error", None),
        (kinds.OVERLOADED, "overloaded_error", None),
    ],
)
def test_each_kind_of_error_has_its_word(kind: str, type_: str, code: str | None) -> None:
    told = DOOR.error(Wrong(400, kind, "No."), "req_1")["error"]
    assert (told["type"], told["code"]) == (type_, code)
