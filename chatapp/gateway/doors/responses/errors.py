"""Errors in the shape of OpenAI's protocols: as the body of an answer, in a response that failed, and as a message of a socket."""

from __future__ import annotations

from typing import Any

from .. import door
from ..chat.errors import CODES, error_body
from ..door import Wrong, invalid

SERVER = "server_error"
FAILED_CODES = {door.INVALID: "invalid_prompt", door.TOO_LARGE: "invalid_prompt"}


def in_response(wrong: Wrong) -> dict[str, Any]:
    """Of a response that failed after it had begun. Programs decide by the code whether to try again."""
    code = wrong.code or CODES.get(wrong.kind) or FAILED_CODES.get(wrong.kind, SERVER)
    return {"code": code, "message": wrong.sentence}


def on_socket(wrong: Wrong) -> dict[str, Any]:
    """What was asked over a socket has no status but this one."""
    error = error_body(wrong, "")["error"]
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
