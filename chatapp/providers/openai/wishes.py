"""What a program wishes of a response, in the words of this protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.values import fields
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


def speaks_it(ask: Ask) -> bool:
    """Whether a program asks in this protocol's own words."""
    return ask.wishes.dialect == DIALECT


def own_words(ask: Ask) -> Mapping[str, Any]:
    return ask.wishes.extras if speaks_it(ask) else {}


def wished(ask: Ask) -> dict[str, Any]:
    """A model that always thinks refuses to be told how to choose its words."""
    wishes = ask.wishes
    own = own_words(ask)
    fields = {name: value for name, value in own.items() if name not in OURS and value is not None}
    if ask.model.thinking == NO_THINKING or not ask.contract.sealed:
        fields |= {"temperature": wishes.temperature, "top_p": wishes.top_p}
    fields |= {"max_output_tokens": wishes.most_output, "text": _text(wishes.form, own)}
    return {name: value for name, value in fields.items() if value is not None}


def hosted_tools(ask: Ask) -> list[Mapping[str, Any]]:
    return list(ask.wishes.hosted) if speaks_it(ask) else []


def wished_reasoning(ask: Ask) -> Mapping[str, Any]:
    """What a program wants to see of the thoughts, and which earlier ones its model is to see."""
    return fields(own_words(ask).get("reasoning"))


def wished_beside(ask: Ask) -> list[str]:
    """What is to come with the answer."""
    beside = own_words(ask).get("include")
    return [each for each in beside if isinstance(each, str)] if isinstance(beside, list) else []


def _text(form: Form | None, own: Mapping[str, Any]) -> dict[str, Any] | None:
    return fields(own.get("text")) | ({"format": _format(form)} if form else {}) or None


def _format(form: Form) -> dict[str, Any]:
    if form.schema is None:
        return {"type": "json_object"}
    told = {"name": form.name or "answer", "description": form.description, "strict": form.strict}
    said = {name: value for name, value in told.items() if value not in ("", None)}
    return {"type": "json_schema", **said, "schema": form.schema}
