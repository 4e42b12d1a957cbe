"""The response object: what was asked, said again, and how far the answer is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....core.events import Usage
from ....core.values import fields, rows
from ..asked import ProgramRequest

Json = dict[str, Any]
# What a request that does not speak of it means.
DEFAULTS: Mapping[str, Any] = {
    "instructions": None,
    "previous_response_id": None,
    "tool_choice": "auto",
    "truncation": "disabled",
    "parallel_tool_calls": True,
    "top_p": 1.0,
    "temperature": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "top_logprobs": 0,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "service_tier": "default",
    "metadata": {},
    "safety_identifier": None,
    "prompt_cache_key": None,
}
# Said again where they were said.
ALSO = ("user", "prompt_cache_retention")
FUNCTION_FIELDS = ("description", "parameters", "strict")
SCHEMA_FIELDS: Mapping[str, Any] = {"name": "", "description": None, "schema": None, "strict": False}


def new_response(asked: ProgramRequest, model: str, response_id: str, at: int) -> Json:
    """As it is before anything was said."""
    return {
        "id": response_id,
        "object": "response",
        "created_at": at,
        "completed_at": None,
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "model": model,
        "output": [],
        "store": asked.store,
        "usage": None,
        **_echoed(asked.body),
    }


def _echoed(body: Mapping[str, Any]) -> Json:
    said = {name: _or_default(body.get(name), default) for name, default in DEFAULTS.items()}
    also = {name: body[name] for name in ALSO if body.get(name) is not None}
    tools = [_tool(tool) for tool in rows(body.get("tools"))]
    return said | also | {"tools": tools, "text": _text(body), "reasoning": _reasoning(body)}


def _or_default(value: Any, default: Any) -> Any:
    return default if value is None else value


def _tool(tool: Json) -> Json:
    if tool.get("type") != "function":
        return tool
    return tool | {name: tool.get(name) for name in FUNCTION_FIELDS}


def _text(body: Mapping[str, Any]) -> Json:
    text = fields(body.get("text"))
    form = fields(text.get("format")) or {"type": "text"}
    if form.get("type") == "json_schema":
        form |= {name: _or_default(form.get(name), default) for name, default in SCHEMA_FIELDS.items()}
    return {**text, "format": form}


def _reasoning(body: Mapping[str, Any]) -> Json:
    return {"effort": None, "summary": None, **fields(body.get("reasoning"))}


def usage_of(usage: Usage) -> Json:
    """What the provider did not say is zero: programs that add it up expect numbers."""
    taken, given = usage.input or 0, usage.output or 0
    return {
        "input_tokens": taken,
        "input_tokens_details": {
            "cached_tokens": usage.cached or 0,
            "cache_write_tokens": usage.cache_written or 0,
        },
        "output_tokens": given,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
        "total_tokens": taken + given,
    }


def completed(output: Sequence[Json], usage: Usage, at: int) -> Json:
    return {"status": "completed", "completed_at": at, "output": list(output), "usage": usage_of(usage)}


def incomplete(output: Sequence[Json], usage: Usage, reason: str) -> Json:
    details = {"reason": reason}
    return {
        "status": "incomplete",
        "incomplete_details": details,
        "output": list(output),
        "usage": usage_of(usage),
    }


def failed(output: Sequence[Json], usage: Usage, error: Json) -> Json:
    said = None if usage == Usage() else usage_of(usage)
    return {"status": "failed", "error": error, "output": list(output), "usage": said}
