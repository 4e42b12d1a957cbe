"""Any JSON at all is read, or told to be wrong: in words, with the place, and with nothing thrown that nobody awaits."""

from __future__ import annotations

import json
from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from chatapp.core.verbatim import encode
from chatapp.gateway.doors.asked import ProgramRequest, Said, ToldAnswer, ToldResult
from chatapp.gateway.doors.door import INVALID, Wrong
from chatapp.gateway.doors.responses import DOOR
from chatapp.gateway.doors.responses.compacting import read_compacting
from chatapp.gateway.doors.responses.kept import Exchanged, input_kept, joined, listed, referenced
from chatapp.gateway.doors.responses.socket import body_in

from . import said

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None), max_size=6)
    | st.sampled_from(
        [10**400, "none", "auto", "data:image/png;base64,", "data:", "function", "\ud800", "\0"]
    )
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)
WHOLE = {
    "type": "response.create",
    "model": "m",
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": "Hello"},
        {
            "type": "message",
            "role": "developer",
            "content": [
                {"type": "input_text", "text": "a"},
                {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low"},
                {"type": "input_file", "file_data": "AAAA", "filename": "a.pdf"},
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            ],
        },
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "a"}],
            "content": [],
        },
        {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "namespace": "n"},
        {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "a"}]},
        {"type": "item_reference", "id": "msg_1"},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "thoughtline.1.QQ=="},
        {"type": "custom_tool_call", "call_id": "d", "name": "g", "input": "x"},
    ],
    "tools": [
        {
            "type": "function",
            "name": "f",
            "description": "a",
            "parameters": {"type": "object"},
            "strict": True,
        },
        {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]},
        {"type": "web_search"},
    ],
    "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
    "reasoning": {"effort": "high", "summary": "auto"},
    "text": {
        "format": {"type": "json_schema", "name": "a", "schema": {}, "strict": True},
        "verbosity": "low",
    },
    "temperature": 1,
    "top_p": 0.5,
    "max_output_tokens": 16,
    "parallel_tool_calls": False,
    "previous_response_id": None,
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "stream": True,
    "stream_options": {"include_obfuscation": False},
    "metadata": {"a": "b"},
    "truncation": "auto",
    "prompt_cache_key": "k",
    "service_tier": "auto",
    "safety_identifier": "s",
    "top_logprobs": 2,
    "max_tool_calls": 2,
    "background": False,
    "generate": False,
    "client_metadata": {"x": "y"},
}


def places(value, path=()):
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        yield from places(each, (*path, name))


PLACES = sorted((path for path in places(WHOLE) if path), key=str)


@st.composite
def nearly_right(draw):
    """A request that is whole but for one or two places."""
    body = deepcopy(WHOLE)
    for path in draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=2)):
        _put(body, path, draw(JSON), gone=draw(st.booleans()))
    return body


def _put(body, path, value, *, gone):
    for name in path[:-1]:
        try:
            body = body[name]
        except (KeyError, IndexError, TypeError):
            return
    if isinstance(body, dict):
        if gone:
            body.pop(path[-1], None)
        else:
            body[path[-1]] = value
    elif isinstance(body, list) and isinstance(path[-1], int) and path[-1] < len(body):
        body[path[-1]] = value


def heard(read, body):
    try:
        asked = read(body, {})
    except Wrong as wrong:
        assert (wrong.status, wrong.kind) == (400, INVALID)
        assert wrong.sentence.endswith(".")
        assert json.dumps(DOOR.error(wrong, "req_1"))
        return None
    assert isinstance(asked, ProgramRequest)
    return asked


@given(JSON | nearly_right())
def test_any_json_is_read_or_told_to_be_wrong(body):
    for read in (DOOR.read, read_compacting):
        heard(read, body)


@given(nearly_right())
def test_whatever_is_read_can_be_answered_kept_shown_and_gone_on_from(body):
    asked = heard(DOOR.read, body)
    if asked is None:
        return
    frames, whole = said.written(said.message("a", "Hello."), **body)
    assert encode([frame.data for frame in frames]) and encode(whole)
    kept = input_kept(asked, said.SECRET)
    assert listed(kept, {"order": "asc"})["data"] == kept[:20]
    assert all(isinstance(each["id"], str) and each["id"] for each in kept)
    assert referenced(asked) == tuple(each["id"] for each in kept if each["type"] == "item_reference")


@given(nearly_right())
def test_who_goes_on_from_a_response_goes_on_from_all_that_was_said(body):
    items = body.get("input")
    body["input"] = [each for each in items if _is_told(each)] if isinstance(items, list) else []
    asked = heard(DOOR.read, body)
    if asked is None:
        return
    kept = Exchanged(input_kept(asked, said.SECRET), [])
    history = joined([kept], said.read(previous_response_id="resp_1")).history
    assert [type(each) for each in history[:-1]] == [type(each) for each in _told_as_items(asked)]


def _told_as_items(asked):
    """The instructions are left behind."""
    return asked.history[1:] if asked.body.get("instructions") else asked.history


def _is_told(each):
    return not isinstance(each, dict) or (each.get("type") != "item_reference" and bool(each.get("type")))


@given(st.text() | st.binary() | nearly_right().map(json.dumps) | JSON.map(json.dumps))
def test_any_message_of_a_socket_is_a_request_or_told_to_be_wrong(message):
    try:
        body = body_in(message)
    except Wrong as wrong:
        assert wrong.status == 400
        return
    heard(DOOR.read, body)


def test_the_whole_request_is_right():
    kinds = [type(each) for each in DOOR.read(WHOLE, {}).history]
    assert kinds == [Said, Said, Said, ToldAnswer, ToldResult, ToldAnswer, Said, ToldAnswer]
