"""OpenAI's Responses protocol: what a request says, and which models there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from ...core.contracts import Repair
from ...core.history import Question, Response, Result, SendableItem, Step
from ...core.items import Kind
from ..base import OFF, Ask, Endpoint, ModelSpec, ToolSpec, Wire
from .model_facts import NO_THINKING, known
from .refusals import refusal
from .stream import KINDS, ResponsesParser

ENCRYPTED = "reasoning.encrypted_content"


class ResponsesWire:
    dialect = "responses"
    parser, refusal = ResponsesParser, staticmethod(refusal)

    def path(self, endpoint: Endpoint) -> str:
        return "/responses"

    def models_path(self, endpoint: Endpoint) -> str:
        return "/models"

    def headers(self, endpoint: Endpoint, ask: Ask) -> dict[str, str]:
        return {"authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}

    def body(self, ask: Ask) -> dict[str, Any]:
        fields = {
            "model": ask.model.name,
            "store": False,
            "stream": True,
            "stream_options": {"include_obfuscation": False},
            **_thinking(ask),
            **_tools(ask),
            "instructions": ask.instructions,
            "prompt_cache_key": ask.conversation,
        }
        said = {
            name: value for name, value in fields.items() if value != "" and name not in ask.contract.refuses
        }
        return said | {"input": [item for step in ask.history.steps for item in _items(step)]}

    def thoughts(self, ask: Ask, body: Mapping[str, Any]) -> int:
        return sum(item.get("type") == "reasoning" for item in body["input"])

    def model(self, endpoint: Endpoint, row: Mapping[str, Any]) -> ModelSpec:
        name = str(row["id"])
        facts = known(name)
        return ModelSpec(
            provider=endpoint.name,
            dialect=self.dialect,
            name=name,
            label=name,
            efforts=facts.efforts,
            thinking=facts.thinking,
            thinks=bool(facts.where) and facts.thinking != NO_THINKING,
            window=facts.window,
            max_output=facts.max_output,
        )


def _thinking(ask: Ask) -> dict[str, Any]:
    """A model that does not think refuses a request that speaks of thoughts at all."""
    if ask.model.thinking == NO_THINKING or Repair.FORBIDDEN in ask.repairs:
        return {}
    reasoning = {} if Repair.NO_SUMMARY in ask.repairs else {"summary": "auto"}
    if ask.effort:
        reasoning["effort"] = "none" if ask.effort == OFF else ask.effort
    return {"include": [ENCRYPTED]} | ({"reasoning": reasoning} if reasoning else {})


def _tools(ask: Ask) -> dict[str, Any]:
    if not ask.tools:
        return {}
    choice = {} if ask.may_call else {"tool_choice": "none"}
    return {"tools": [_tool(tool) for tool in ask.tools], "parallel_tool_calls": True, **choice}


def _tool(tool: ToolSpec) -> dict[str, Any]:
    words = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", **words, "strict": False}


def _items(step: Step) -> Iterator[dict[str, Any]]:
    match step:
        case Question():
            yield {"role": "user", "content": step.whole}
        case Response():
            yield from (item for part in step.parts if (item := _sent_back(part)))
            yield from (_result(result) for result in step.results)
        case _:
            assert_never(step)


def _sent_back(part: SendableItem) -> dict[str, Any] | None:
    if part.verbatim:
        return _verbatim(part)
    match part.item.kind:
        case Kind.ASSISTANT_MESSAGE:
            return {"role": "assistant", "content": part.item.text}
        case Kind.TOOL_CALL:
            words = {"name": part.item.name, "arguments": part.item.text or "{}"}
            return {"type": "function_call", "call_id": part.call_id, **words}
        case Kind.REASONING | Kind.USER_MESSAGE | Kind.PERMISSION_DECISION | Kind.TOOL_RESULT:
            return None


def _verbatim(part: SendableItem) -> dict[str, Any] | None:
    """An item of a kind unknown to us goes back with its id or not at all: without it, it means nothing."""
    wire: dict[str, Any] = part.item.wire
    if not part.with_id and wire.get("type") not in KINDS:
        return None
    left_out = set() if part.with_id else {"id"}
    if part.item.kind is Kind.REASONING:
        left_out.add("status")
    return {name: value for name, value in wire.items() if name not in left_out}


def _result(result: Result) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": result.call_id, "output": result.text}


WIRE: Wire = ResponsesWire()
