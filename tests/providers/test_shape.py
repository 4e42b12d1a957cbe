"""A request's shape: what it is made of, and never what it says."""

from __future__ import annotations

from typing import Any

import pytest

from chatapp.core.recorded import Recorded
from chatapp.providers.shape import LONGEST_LINE, MOST_LINES, shape_of

LONG = {"n": "x" * 300}


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ({"model": "gpt-5"}, 'model: "gpt-5"'),
        ({"store": False}, "store: false"),
        ({"max_tokens": 32000}, "max_tokens: 32000"),
        ({"instructions": "Be brief."}, "instructions: 9 characters"),
        ({"reasoning": {"summary": "auto", "effort": "low"}}, 'reasoning: {"summary":"auto","effort":"low"}'),
        ({"include": ["reasoning.encrypted_content"]}, 'include: ["reasoning.encrypted_content"]'),
        ({"tool_choice": "none"}, 'tool_choice: "none"'),
        ({"reasoning": LONG}, "reasoning: 308 bytes"),
        ({"anything": {"secret": "x"}}, "anything: 14 bytes"),
        ({"input": []}, "input: 0 entries, 2 bytes"),
        ({"stop": ["secret"]}, "stop: 1 entry, 10 bytes: 1 other"),
    ],
)
def test_settings_stand_as_they_are_and_words_as_sizes(field: dict[str, Any], line: str):
    assert shape_of(field) == [line]


def test_tools_stand_by_their_names_on_every_wire():
    flat, nested = {"name": "clock"}, {"type": "function", "function": {"name": "docs__search"}}
    assert shape_of({"tools": [flat, nested]}) == ["tools: clock, docs__search"]


def test_a_provider_s_own_tools_stand_by_their_kind():
    assert shape_of({"tools": [{"type": "web_search"}, {}]}) == ["tools: web_search, unnamed"]


def test_very_many_tools_are_cut_and_counted():
    (line,) = shape_of({"tools": [{"name": f"a_tool_with_number_{n}"} for n in range(128)]})
    assert line.endswith("… (128 of them)")
    assert len(line) <= LONGEST_LINE


def test_items_of_the_responses_protocol_are_counted_by_kind():
    entries = [
        {"role": "user", "content": "Why?"},
        {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c", "name": "clock", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "noon"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Noon."}]},
    ]
    (line,) = shape_of({"input": entries})
    assert line.startswith("input: 6 entries, ")
    assert line.endswith(
        " bytes: 1 user, 2 reasoning (1 sealed), 1 function_call, 1 function_call_output, 1 assistant"
    )


def test_messages_are_counted_with_their_blocks():
    thoughts = [
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "redacted_thinking", "data": "d"},
    ]
    entries = [
        {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
        {"role": "assistant", "content": [*thoughts, {"type": "tool_use", "id": "t", "name": "clock"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "noon"}]},
    ]
    (line,) = shape_of({"messages": entries})
    assert line.endswith(
        " bytes: 2 user, 1 assistant; "
        "1 text, 1 thinking (1 sealed), 1 redacted_thinking (1 sealed), 1 tool_use, 1 tool_result"
    )


def test_a_chat_completion_tells_which_messages_carry_thoughts_and_calls():
    calls = [{"id": "c", "type": "function", "function": {"name": "clock", "arguments": "{}"}}]
    entries = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Why?"},
        {"role": "assistant", "content": None, "reasoning_content": "Hm.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c", "content": "noon"},
        {"role": "assistant", "content": "Noon.", "reasoning_content": ""},
    ]
    (line,) = shape_of({"messages": entries})
    assert line.endswith(
        " bytes: 1 system, 1 user, 2 assistant (1 with reasoning_content, 1 with tool_calls, "
        "1 with empty reasoning_content), 1 tool"
    )


def test_whose_conversation_it_is_stays_out():
    assert (
        shape_of({"prompt_cache_key": "id", "user": "alice", "safety_identifier": "x", "metadata": {}}) == []
    )


@pytest.mark.parametrize("kind", ["my secret words", "x" * 41, "Größe", "", 7, None, ["a"]])
def test_what_a_provider_calls_a_kind_is_no_place_for_words(kind: Any):
    assert shape_of({"input": [{"type": kind}]})[0].endswith(": 1 other")


def test_any_request_gives_a_shape_that_can_be_read_back():
    body = {f"field{n}": [{"type": f"kind{n}.{m}"} for m in range(100)] for n in range(100)}
    shape = shape_of(body)
    assert (len(shape), max(map(len, shape))) == (MOST_LINES, LONGEST_LINE)
    assert Recorded({"rounds": [{"shape": shape}]}).rounds[0].shape == tuple(shape)
