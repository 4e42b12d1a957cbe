"""The Chat Completions protocol, as DeepSeek, OpenRouter, Ollama, vLLM, llama.cpp and many others speak it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.contracts import matched_line
from ...core.items import clean
from ...core.values import Json, count_in, fields, word
from ..base import OFF, Ask, Endpoint, ModelSpec, ToolSpec
from .messages import messages_of, thoughts_in
from .refusals import refusal_of
from .stream import ChatParser
from .thinking import LEVELS, Style, thinking_fields, thinking_of
from .wishes import hosted_tools, wished

# How servers call the window in their lists of models: OpenRouter, vLLM, Groq, Mistral.
_WINDOWS = ("context_length", "max_model_len", "context_window", "max_context_length")


class ChatCompletions:
    dialect = "chat"
    parser, refusal = ChatParser, staticmethod(refusal_of)

    def path(self, endpoint: Endpoint) -> str:
        return "/chat/completions"

    def headers(self, endpoint: Endpoint, ask: Ask) -> dict[str, str]:
        return {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}

    def body(self, ask: Ask) -> Json:
        body: Json = {"model": ask.model.name, "messages": messages_of(ask), "stream": True}
        if "stream_options" not in ask.contract.refuses:
            body["stream_options"] = {"include_usage": True}
        body |= wished(ask) | _tools(ask) | dict(ask.contract.asks)
        return body | thinking_fields(ask.model.thinking, ask.effort)

    def thoughts(self, ask: Ask, body: Mapping[str, Any]) -> int:
        return thoughts_in(ask, body["messages"])

    def models_path(self, endpoint: Endpoint) -> str:
        return "/models"

    def model(self, endpoint: Endpoint, row: Mapping[str, Any]) -> ModelSpec:
        name = str(row["id"])
        efforts, thinking = _thinking(endpoint, name, row)
        return ModelSpec(
            provider=endpoint.name,
            dialect=self.dialect,
            name=name,
            label=clean(word(row.get("name"))),
            efforts=efforts,
            thinking=thinking,
            thinks=bool(thinking),
            window=next((size for size in map(count_in, map(row.get, _WINDOWS)) if size), None),
            max_output=count_in(fields(row.get("top_provider")).get("max_completion_tokens")),
            tiny=endpoint.name == "local",
            sees=endpoint.name != "local",
        )


def _tools(ask: Ask) -> Json:
    """A model that may not call sees the same tools, unless its server knows no such choice."""
    hosted = hosted_tools(ask)
    if not (ask.tools or hosted) or (not ask.may_call and "tool_choice" in ask.contract.refuses):
        return {}
    return {"tools": [*map(_tool, ask.tools), *hosted]} | _choice(ask)


def _choice(ask: Ask) -> Json:
    if not ask.may_call:
        return {"tool_choice": "none"}
    if "tool_choice" in ask.contract.refuses:
        return {}
    if ask.wishes.call:
        return {"tool_choice": {"type": "function", "function": {"name": ask.wishes.call}}}
    return {"tool_choice": ask.wishes.choice} if ask.wishes.choice else {}


def _tool(tool: ToolSpec) -> Json:
    if tool.wire and tool.dialect == ChatCompletions.dialect:
        return dict(tool.wire)
    function: Json = {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)}
    function |= {} if tool.strict is None else {"strict": tool.strict}
    return {"type": "function", "function": function}


def _thinking(endpoint: Endpoint, name: str, row: Mapping[str, Any]) -> tuple[tuple[str, ...], str]:
    """OpenRouter's list says it of each model; for the others our own rows do."""
    line = matched_line(model=name, host=endpoint.host)
    if "openrouter" in line:
        # Before its list has come, a model counts as one that thinks: the field is harmless to those that do not.
        takes = row.get("supported_parameters", ["reasoning"])
        thinks = isinstance(takes, list) and "reasoning" in takes
        return ((OFF, *LEVELS), Style.REASONING) if thinks else ((), "")
    known = thinking_of(line)
    return (known.efforts, known.style) if known else ((), "")


WIRE = ChatCompletions()
