"""Why there is no answer, as OpenAI's clients read it."""

from __future__ import annotations

from typing import Any

from .. import door
from ..door import Wrong

TYPES = {
    door.INVALID: "invalid_request_error",
    door.UNKNOWN_KEY: "authentication_error",
    door.FORBIDDEN: "permission_error",
    door.NOT_FOUND: "not_found_error",
    door.TOO_LARGE: "invalid_request_error",
    door.LIMITED: "rate_limit_error",
    door.OURS: "server_error",
    door.PROVIDER: "api_error",
    door.OVERLOADED: "overloaded_error",
}
# Words that programs look for where nothing more exact is known.
CODES = {door.UNKNOWN_KEY: "invalid_api_key", door.LIMITED: "rate_limit_exceeded"}


def error_body(wrong: Wrong, request_id: str) -> dict[str, Any]:
    """The request's id has no place in this shape; it stands in a header."""
    type_ = TYPES.get(wrong.kind, "server_error")
    code = wrong.code or CODES.get(wrong.kind)
    return {"error": {"message": wrong.sentence, "type": type_, "param": wrong.param or None, "code": code}}
