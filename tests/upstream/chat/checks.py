"""What each dialect refuses. The sentences are those that users of the real services reported."""

from __future__ import annotations

import re

from ..refusals import ApiError, openai_error
from ..sealing import dumps, mac, unseal
from .profiles import SENT, sent_key

MUST_PASS = "The `reasoning_content` in the thinking mode must be passed back to the API."


REASONING_KEYS = ("reasoning_content", "reasoning", "reasoning_details")


def check(body: dict, name: str, prof: dict, thinking_on: bool, org: str, notes: list) -> list[dict]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise openai_error(
            400,
            "Invalid 'messages': empty array. Expected an array with minimum length 1.",
            param="messages",
            code="empty_array",
        )
    pending: list[str] = []
    for i, m in enumerate(messages):
        role = m.get("role")
        if role not in ("system", "developer", "user", "assistant", "tool"):
            raise openai_error(
                400,
                f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', "
                "'function', 'tool', and 'developer'.",
                param=f"messages[{i}].role",
                code="invalid_value",
            )
        if role == "tool":
            if m.get("tool_call_id") not in pending:
                raise openai_error(
                    400,
                    "Invalid parameter: messages with role 'tool' must be a response to a "
                    "preceeding message with 'tool_calls'.",
                    param=f"messages.[{i}].role",
                )
            pending.remove(m["tool_call_id"])
            continue
        if pending:
            raise missing_results(pending, i)
        if role == "assistant":
            pending = [c["id"] for c in m.get("tool_calls") or []]
            check_assistant(body, messages, i, m, name, prof, thinking_on, org, notes)
        if m.get("content") is None and not m.get("tool_calls") and role != "assistant":
            raise openai_error(
                400,
                "Invalid value for 'content': expected a string, got null.",
                param=f"messages.[{i}].content",
            )
    if pending:
        raise missing_results(pending, len(messages))
    return messages


def missing_results(pending: list[str], i: int) -> ApiError:
    return openai_error(
        400,
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        f"each 'tool_call_id'. The following tool_call_ids did not have response messages: "
        f"{', '.join(pending)}",
        param=f"messages.[{i}].role",
    )


def in_tool_turn(messages: list[dict], i: int) -> bool:
    """True if between the user messages around message i the model called a tool."""
    lo = i
    while lo > 0 and messages[lo]["role"] != "user":
        lo -= 1
    hi = i
    while hi < len(messages) and messages[hi]["role"] != "user":
        hi += 1
    return any(m.get("tool_calls") for m in messages[lo:hi])


def check_assistant(
    body: dict,
    messages: list[dict],
    i: int,
    m: dict,
    name: str,
    prof: dict,
    thinking_on: bool,
    org: str,
    notes: list,
) -> None:
    present = [k for k in REASONING_KEYS if m.get(k) is not None]
    if prof["replay"] == "forbid":
        if any(k in m for k in REASONING_KEYS):
            key = next(k for k in REASONING_KEYS if k in m)
            raise refused(name, key, i, m)
        return
    if prof.get("signatures"):
        check_signatures(m, messages, i, body)
    needed = thinking_on and (
        bool(m.get("tool_calls"))
        or (prof["replay"] == "require-turn" and in_tool_turn(messages, i))
        or bool(prof.get("with_tools") and body.get("tools"))
    )
    if prof["replay"] in ("require", "require-turn") and needed:
        got = m.get("reasoning_content")
        empty_ok = prof.get("empty_ok", True)  # "" counts as passed back unless the scenario says no
        if got is None or (got == "" and not empty_ok):
            raise lacking(name, i)
        sent = SENT.get(sent_key(org, body, messages[:i]))
        if sent is not None and sent != got:
            notes.append(f"messages[{i}]: reasoning_content differs from what was sent in this conversation")
            if prof.get("verify"):
                raise lacking(name, i)
        for c in m.get("tool_calls") or []:
            t = re.match(r"^call_([0-9a-f]{10})([0-9a-f]{14})$", str(c["id"]))
            if t and mac("chat", t[1], got, n=14) != t[2]:
                notes.append(f"messages[{i}]: reasoning_content differs from what was sent with {c['id']}")
                if prof.get("verify"):
                    raise lacking(name, i)
    elif present and not thinking_on:
        notes.append(f"messages[{i}]: {present[0]} sent while thinking is off")


def lacking(name: str, i: int) -> ApiError:
    if name == "kimi":
        return ApiError(
            400,
            {
                "error": {
                    "message": "thinking is enabled but reasoning_content is missing in assistant "
                    f"tool call message at index {i}",
                    "type": "invalid_request_error",
                }
            },
        )
    if name == "mimo":  # odd on purpose: the sentence sits in `param`, and the body starts with "data:"
        err = {
            "error": {
                "code": "400",
                "message": "Param Incorrect",
                "type": "",
                "param": "The reasoning_content in the thinking mode must be passed back to the API.",
            }
        }
        return ApiError(400, "data:" + dumps(err))
    if name == "deepseek-v3.2":
        return openai_error(
            400,
            f"Missing `reasoning_content` field in the assistant message at message index {i}. "
            "For more information, please refer to the thinking mode guide.",
            code="invalid_request_error",
        )
    return openai_error(400, MUST_PASS, code="invalid_request_error")


def refused(name: str, key: str, i: int, m: dict) -> ApiError:
    if name == "mistral":
        detail = [
            {
                "type": "extra_forbidden",
                "loc": ["body", "messages", i, "assistant", key],
                "msg": "Extra inputs are not permitted",
                "input": m[key],
            }
        ]
        return ApiError(
            422,
            {
                "object": "error",
                "message": {"detail": detail},
                "type": "invalid_request_error",
                "param": None,
                "code": None,
            },
        )
    if name == "deepseek-r1":
        return openai_error(
            400,
            f"The `{key}` field is not allowed in the input messages (message index {i}).",
            code="invalid_request_error",
        )
    if name == "groq":
        return openai_error(
            400,
            f"'messages.{i}' : for 'role:assistant' the following must be satisfied["
            f"('messages.{i}' : property '{key}' is unsupported)]",
        )
    path = f"messages.{i}.assistant.{key}"
    return openai_error(
        400, f"{path}: property '{path}' is unsupported", param="validation_error", code="wrong_api_format"
    )


def check_signatures(m: dict, messages: list[dict], i: int, body: dict) -> None:
    """Gemini: in the current turn the first call of each step must carry its thought signature."""
    after_user = max((k for k, x in enumerate(messages) if x["role"] == "user"), default=0)
    calls = m.get("tool_calls") or []
    if not calls or i < after_user:
        return
    sig = ((calls[0].get("extra_content") or {}).get("google") or {}).get("thought_signature")
    if sig == "skip_thought_signature_validator":
        return
    name = calls[0]["function"]["name"]
    if sig is None:
        text = (
            "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
            "work correctly, and missing thought_signature may lead to degraded model performance. Additional "
            f"data, function call `default_api:{name}` , position {i + 1}. Please refer to "
            "https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
        )
        raise ApiError(400, [{"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}}])
    if unseal("gemini", sig) is None:
        raise ApiError(
            400,
            [
                {
                    "error": {
                        "code": 400,
                        "message": "Corrupted thought signature.",
                        "status": "INVALID_ARGUMENT",
                    }
                }
            ],
        )
