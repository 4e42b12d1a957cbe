"""Why there is no answer, as Anthropic's clients read it."""

from __future__ import annotations

from typing import Any

from .. import door
from ..door import Wrong

TYPES = {
    door.INVALID: "invalid_request_error",
    door.UNKNOWN_KEY: "authentication_error",
    door.FORBIDDEN: "permission_error",
    door.NOT_FOUND: "not_found_error",
    door.TOO_LARGE: "request_too_large",
    door.LIMITED: "rate_limit_error",
    door.OURS: "api_error",
    door.PROVIDER: "api_error",
    door.OVERLOADED: "overloaded_error",
}
NO_THREADS = "thread_unsupported_request"


def error_body(wrong: Wrong, request_id: str) -> dict[str, Any]:
    error: dict[str, Any] = {"type": TYPES.get(wrong.kind, "api_error"), "message": wrong.sentence}
    if wrong.code == NO_THREADS:
        error["details"] = {"error_code": NO_THREADS, "unsupported": ["thread"]}
    return {"type": "error", "error": error, "request_id": request_id or None}
