"""What a program wishes of a chat completion, in the words of this protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.values import Json
from ..base import Ask, Form

DIALECT = "chat"
# Said by the request itself, or not for a program to say.
OURS = frozenset(
    {
        "model",
        "messages",
        "stream",
        "stream_options",
        "n",
        "store",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "functions",
        "function_call",
        "response_format",
        "temperature",
        "top_p",
        "stop",
        "max_tokens",
        "max_completion_tokens",
        "reasoning_effort",
        "reasoning",
        "thinking",
    }
)


def wished(ask: Ask) -> Json:
    wishes = ask.wishes
    own = wishes.extras if wishes.dialect == DIALECT else {}
    fields = {name: value for name, value in own.items() if name not in OURS}
    fields |= {"temperature": wishes.temperature, "top_p": wishes.top_p, "stop": list(wishes.stop) or None}
    fields |= {_most_output(ask): wishes.most_output, "response_format": _form(wishes.form)}
    if ask.tools:
        fields["parallel_tool_calls"] = wishes.parallel
    return {
        name: value
        for name, value in fields.items()
        if value is not None and name not in ask.contract.refuses
    }


def hosted_tools(ask: Ask) -> list[Mapping[str, Any]]:
    return list(ask.wishes.hosted) if ask.wishes.dialect == DIALECT else []


def _most_output(ask: Ask) -> str:
    """OpenAI's newer models refuse the older name, which all others know."""
    return "max_completion_tokens" if ask.contract.newer_names else "max_tokens"


def _form(form: Form | None) -> Json | None:
    if form is None:
        return None
    if form.schema is None:
        return {"type": "json_object"}
    told = {"name": form.name or "answer", "description": form.description, "strict": form.strict}
    said = {name: value for name, value in told.items() if value not in ("", None)}
    return {"type": "json_schema", "json_schema": {**said, "schema": form.schema}}
