"""What the providers say instead of an answer, and whose key they know."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any


class ApiError(Exception):
    """An HTTP error answer. `body` is the full JSON body."""

    def __init__(self, status: int, body: Any, headers: dict | None = None):
        super().__init__(f"{status} {body}")
        self.status, self.body, self.headers = status, body, headers or {}


def openai_error(
    status: int,
    message: str,
    *,
    type: str = "invalid_request_error",
    param=None,
    code=None,
    headers: dict | None = None,
) -> ApiError:
    return ApiError(
        status, {"error": {"message": message, "type": type, "param": param, "code": code}}, headers
    )


def anthropic_error(
    status: int, message: str, *, type: str = "invalid_request_error", headers: dict | None = None
) -> ApiError:
    rid = "req_" + secrets.token_hex(12)
    return ApiError(
        status,
        {"type": "error", "error": {"type": type, "message": message}, "request_id": rid},
        {"request-id": rid, **(headers or {})},
    )


def organization_of(headers: Mapping[str, str]) -> str | None:
    """Keys look like sk-ORG-anything; one with "bad" in it is refused."""
    named = headers.get("Authorization") or headers.get("authorization") or ""
    key = headers.get("x-api-key") or (named[7:] if named.lower().startswith("bearer ") else "")
    if not key.startswith("sk-") or "bad" in key:
        return None
    parts = key.split("-")
    return parts[1] if len(parts) > 2 else "default"


def unauthorized(api: str) -> ApiError:
    if api == "messages":
        return anthropic_error(401, "invalid x-api-key", type="authentication_error")
    return openai_error(
        401,
        "Incorrect API key provided: ***. You can find your API key in your account settings.",
        code="invalid_api_key",
    )


def not_json(api: str) -> ApiError:
    text = "We could not parse the JSON body of your request."
    return anthropic_error(400, text) if api == "messages" else openai_error(400, text)


def without_model(api: str) -> ApiError:
    if api == "messages":
        return anthropic_error(400, "model: Field required")
    return openai_error(400, "you must provide a model parameter")


def unknown_model(api: str, model: str) -> ApiError:
    if api == "messages":
        return anthropic_error(404, f"model: {model}", type="not_found_error")
    text = f"The model '{model}' does not exist or you do not have access to it."
    return openai_error(404, text, code="model_not_found")


def http_fault(api: str, f: dict) -> ApiError:
    """An HTTP error planned by the scenario: {kind: http, status, retry_after?, message?, code?, type?, body?}."""
    status = f.get("status", 500)
    headers = {}
    if "retry_after" in f:
        headers["retry-after"] = str(f["retry_after"])
    if "retry_after_ms" in f:
        headers["retry-after-ms"] = str(f["retry_after_ms"])
    headers.update(f.get("headers") or {})
    if "body" in f:
        return ApiError(status, f["body"], headers)
    if api == "messages":
        typ = {
            400: "invalid_request_error",
            401: "authentication_error",
            403: "permission_error",
            404: "not_found_error",
            429: "rate_limit_error",
            529: "overloaded_error",
            504: "timeout_error",
        }
        word = {
            529: "Overloaded",
            429: "This request would exceed your account's rate limit. Please try again later.",
        }
        return anthropic_error(
            status,
            f.get("message") or word.get(status, "Internal server error"),
            type=f.get("type") or typ.get(status, "api_error"),
            headers=headers,
        )
    word = {
        429: "Rate limit reached for this model on tokens per min (TPM). Please try again later.",
        503: "The engine is currently overloaded, please try again later.",
    }
    code = {429: "rate_limit_exceeded", 401: "invalid_api_key"}
    typ = {429: "tokens", 401: "invalid_request_error", 400: "invalid_request_error"}
    return openai_error(
        status,
        f.get("message")
        or word.get(status, "The server had an error while processing your request. Sorry about that!"),
        type=f.get("type") or typ.get(status, "server_error"),
        code=f.get("code", code.get(status)),
        headers=headers,
    )
