"""Errors as OpenAI's clients know them."""

from __future__ import annotations

import pytest

from chatapp.gateway.doors import door
from chatapp.gateway.doors.door import Wrong
from chatapp.gateway.doors.responses import DOOR
from chatapp.gateway.doors.responses.errors import (
    in_response,
    not_cancelled,
    on_socket,
    unknown_previous,
    unknown_response,
)

KINDS = [
    door.INVALID,
    door.UNKNOWN_KEY,
    door.FORBIDDEN,
    door.NOT_FOUND,
    door.TOO_LARGE,
    door.LIMITED,
    door.OURS,
    door.PROVIDER,
    door.OVERLOADED,
]


def test_an_error_has_a_sentence_a_type_a_place_and_a_word():
    wrong = Wrong(400, door.INVALID, "No.", "bad", "input[0]")
    told = {"message": "No.", "type": "invalid_request_error", "param": "input[0]", "code": "bad"}
    assert DOOR.error(wrong, "req_1") == {"error": told}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_error_has_all_fields_everywhere(kind):
    wrong = Wrong(500, kind, "No.")
    assert DOOR.error(wrong, "")["error"].keys() == {"message", "type", "param", "code"}
    assert all(in_response(wrong).values())
    assert on_socket(wrong)["error"]["code"]


def test_a_socket_s_error_says_the_status_that_an_answer_would_have():
    assert on_socket(unknown_previous("resp_1")) == {
        "type": "error",
        "status": 400,
        "error": {
            "message": "Previous response with id 'resp_1' not found.",
            "type": "invalid_request_error",
            "param": "previous_response_id",
            "code": "previous_response_not_found",
        },
    }


def test_what_is_not_there_and_what_cannot_be_stopped_are_told_apart():
    assert unknown_response("resp_1").status == 404
    assert not_cancelled().status == 400
