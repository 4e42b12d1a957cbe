"""Errors in the shape of OpenAI's protocols: as the body of an answer, in a response that failed, and as a message of a socket."""

from __future__ import annotations

from typing import Any

from .. import door
from ..door import Wrong, invalid

INVALID, SERVER = "invalid_request_error", "server_error"
TYPES = {
    door.INVALID: INVALID,
    door.UNKNOWN_KEY: INVALID,
    door.FORBIDDEN: "permission_error",
    door.NOT_FOUND: INVALID,
    door.TOO_LARGE: INVALID,
    door.LIMITED: "rate_limit_error",
    door.OURS: SERVER,
    door.PROVIDER: SERVER,
    door.OVERLOADED: SERVER,
}
# Where nobody said one: programs decide by it whether to try again.
CODES = {
    door.UNKNOWN_KEY: "invalid_api_key",
    door.LIMITED: "rate_limit_exceeded",
    door.OURS: SERVER,
    door.PROVIDER: SERVER,
    door.OVERLOADED: SERVER,
}
FAILED_CODES = {door.INVALID: "invalid_prompt", door.TOO_LARGE: "invalid_prompt"}


def body_of(wrong: Wrong) -> dict[str, Any]:
    code = wrong.code or CODES.get(wrong.kind)
    told = {"message": wrong.sentence, "type": TYPES.get(wrong.kind, SERVER)}
    return {"error": {**told, "param": wrong.param or None, "code": code}}


def in_response(wrong: Wrong) -> dict[str, Any]:
    """Of a response that failed after it had begun."""
    code = wrong.code or CODES.get(wrong.kind) or FAILED_CODES.get(wrong.kind, SERVER)
    return {"code": code, "message": wrong.sentence}


def on_socket(wrong: Wrong) -> dict[str, Any]:
    """What was asked over a socket has no status but this one."""
    error = body_of(wrong)["error"]
    return {
        "type": "error",
        "status": wrong.status,
        "error": {**error, "code": error["code"] or error["type"]},
    }


def unknown_response(response_id: str) -> Wrong:
    return Wrong(404, door.NOT_FOUND, f"Response with id '{response_id}' not found.", param="response_id")


def unknown_previous(response_id: str) -> Wrong:
    sentence = f"Previous response with id '{response_id}' not found."
    return invalid(sentence, "previous_response_id", "previous_response_not_found")


def unknown_item(item_id: str, path: str) -> Wrong:
    return invalid(f"Item with id '{item_id}' not found.", path, "item_not_found")


def not_cancelled() -> Wrong:
    return invalid(
        "This response was not made in the background and cannot be cancelled. Close its connection to stop it.",
        "response_id",
    )
