"""What a program wishes of an answer, in the words of this protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base import Ask, Choice

DIALECT = "messages"
# Said by the request itself, or not for a program to say.
OURS = frozenset(
    {
        "model",
        "messages",
        "system",
        "max_tokens",
        "stream",
        "tools",
        "tool_choice",
        "thinking",
        "output_config",
        "output_format",
        "temperature",
        "top_p",
        "top_k",
        "stop_sequences",
        "cache_control",
    }
)
_CHOICES = {Choice.AUTO: "auto", Choice.NONE: "none", Choice.REQUIRED: "any"}


def with_wishes(ask: Ask, body: dict[str, Any]) -> dict[str, Any]:
    """Whoever thinks refuses to be told how to choose its words."""
    wishes = ask.wishes
    own = wishes.extras if wishes.dialect == DIALECT else {}
    fields = {name: value for name, value in own.items() if name not in OURS}
    if body.get("thinking", {}).get("type", "disabled") == "disabled":
        fields |= {"temperature": wishes.temperature, "top_p": wishes.top_p, "top_k": own.get("top_k")}
    fields |= {"stop_sequences": list(wishes.stop) or None, "output_config": _output(ask, body)}
    return body | {name: value for name, value in fields.items() if value is not None}


def _output(ask: Ask, body: Mapping[str, Any]) -> dict[str, Any] | None:
    form = ask.wishes.form
    said = dict(body.get("output_config", {}))
    if form and form.schema is not None:
        said["format"] = {"type": "json_schema", "schema": form.schema}
    return said or None


def must_call(ask: Ask) -> bool:
    """Whoever is made to call may not think before it."""
    return ask.may_call and bool(ask.tools) and bool(ask.wishes.call or ask.wishes.choice is Choice.REQUIRED)


def tool_choice(ask: Ask) -> dict[str, Any] | None:
    wishes = ask.wishes
    if not ask.may_call or wishes.choice is Choice.NONE:
        return {"type": "none"}
    one = {"disable_parallel_tool_use": True} if wishes.parallel is False else {}
    if wishes.call:
        return {"type": "tool", "name": wishes.call, **one}
    if wishes.choice or one:
        return {"type": _CHOICES[wishes.choice or Choice.AUTO], **one}
    return None


def hosted_tools(ask: Ask) -> list[dict[str, Any]]:
    return [dict(tool) for tool in ask.wishes.hosted] if ask.wishes.dialect == DIALECT else []
