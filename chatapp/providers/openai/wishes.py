"""What a program wishes of a response, in the words of this protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base import Ask, Form
from .model_facts import NO_THINKING

DIALECT = "responses"
# Said by the request itself, or not for a program to say.
OURS = frozenset(
    {
        "model",
        "input",
        "instructions",
        "stream",
        "stream_options",
        "store",
        "background",
        "previous_response_id",
        "conversation",
        "include",
        "reasoning",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "text",
        "temperature",
        "top_p",
        "max_output_tokens",
        "prompt_cache_key",
    }
)


def wished(ask: Ask) -> dict[str, Any]:
    """A model that always thinks refuses to be told how to choose its words."""
    wishes = ask.wishes
    own = wishes.extras if wishes.dialect == DIALECT else {}
    fields = {name: value for name, value in own.items() if name not in OURS and value is not None}
    if ask.model.thinking == NO_THINKING or not ask.contract.sealed:
        fields |= {"temperature": wishes.temperature, "top_p": wishes.top_p}
    fields |= {"max_output_tokens": wishes.most_output, "text": _text(wishes.form, own)}
    return {name: value for name, value in fields.items() if value is not None}


def hosted_tools(ask: Ask) -> list[Mapping[str, Any]]:
    return list(ask.wishes.hosted) if ask.wishes.dialect == DIALECT else []


def _text(form: Form | None, own: Mapping[str, Any]) -> dict[str, Any] | None:
    said = own.get("text")
    verbosity = {"verbosity": said["verbosity"]} if isinstance(said, dict) and said.get("verbosity") else {}
    return verbosity | ({"format": _format(form)} if form else {}) or None


def _format(form: Form) -> dict[str, Any]:
    if form.schema is None:
        return {"type": "json_object"}
    told = {"name": form.name or "answer", "description": form.description, "strict": form.strict}
    said = {name: value for name, value in told.items() if value not in ("", None)}
    return {"type": "json_schema", **said, "schema": form.schema}
