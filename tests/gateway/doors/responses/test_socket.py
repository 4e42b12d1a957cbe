"""The protocol over a WebSocket."""

from __future__ import annotations

import json

import pytest

from chatapp.gateway.doors.door import Wrong
from chatapp.gateway.doors.handed import Handed
from chatapp.gateway.doors.responses import DOOR
from chatapp.gateway.doors.responses.kept import Exchanged, input_kept, joined
from chatapp.gateway.doors.responses.socket import (
    body_in,
    message_of,
    refusal,
    too_old,
)
from chatapp.gateway.doors.responses.writing import warmed

from .said import SECRET, message, names, written


def create(**fields):
    return json.dumps({"type": "response.create", "model": "m", "input": "Hello", **fields})


def test_a_message_is_a_request_that_streams():
    body = body_in(create(store=False))
    assert body == {"model": "m", "input": "Hello", "store": False, "stream": True}
    assert DOOR.read(body, {}).stream


def test_what_only_http_says_is_left_out():
    assert body_in(create(stream=False, stream_options={"a": 1})) == body_in(create())


def test_nothing_is_made_in_the_background():
    with pytest.raises(Wrong):
        DOOR.read(body_in(create(background=True)), {})


@pytest.mark.parametrize(
    "sent",
    [
        b"{}",
        b"\xff",
        "",
        "{",
        "[]",
        "7",
        "null",
        "{}",
        '{"type":"response.cancel"}',
        '{"type":7}',
        "[" * 5000,
    ],
)
def test_what_is_no_request_is_told_in_words(sent):
    with pytest.raises(Wrong) as told:
        body_in(sent)
    error = json.loads(refusal(told.value))
    assert (error["type"], error["status"]) == ("error", 400)
    assert error["error"]["code"] and error["error"]["message"]


def test_a_frame_is_its_data_alone():
    frames, _ = written(message("a", "é"))
    assert json.loads(message_of(frames[0])) == frames[0].data
    assert "é" in message_of(frames[4])


def test_a_connection_that_is_warmed_up_has_a_response_to_go_on_from_without_a_word():
    asked = DOOR.read(body_in(create(generate=False, store=False)), {})
    frames, whole = warmed(asked, Handed(secret=SECRET), 7)
    assert names(frames) == ["created", "in_progress", "completed"]
    assert (whole["status"], whole["output"], whole["usage"]["total_tokens"]) == ("completed", [], 0)
    way = [Exchanged(input_kept(asked, SECRET), whole["output"])]
    now = DOOR.read(body_in(create(previous_response_id=whole["id"], input="Go on.")), {})
    assert [said.text for said in joined(way, now).history] == ["Hello", "Go on."]


def test_a_connection_that_is_too_old_is_told_to_be():
    assert json.loads(refusal(too_old(60)))["error"]["code"] == "websocket_connection_limit_reached"
