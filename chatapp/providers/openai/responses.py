"""OpenAI's Responses protocol: what a request says, and which models there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, assert_never

from ...core.attached import Attached, AttachedKind, Part
from ...core.contracts import Repair
from ...core.history import Question, Response, Result, SendableItem, Step
from ...core.items import Kind
from ..base import OFF, Ask, Endpoint, ModelSpec, ToolSpec, Wire
from .model_facts import NO_THINKING, known
from .namespaces import said_once
from .refusals import refusal
from .stream import KINDS, ResponsesParser
from .wishes import hosted_tools, own_words, speaks_it, wished, wished_beside, wished_reasoning

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
            **wished(ask),
            **_included(ask),
            **_thinking(ask),
            **_tools(ask),
            "instructions": ask.instructions,
            "prompt_cache_key": own_words(ask).get("prompt_cache_key") or ask.conversation,
        }
        said = {
            name: value for name, value in fields.items() if value != "" and name not in ask.contract.refuses
        }
        return said | {"input": [item for step in ask.history.steps for item in _items(step, ask)]}

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
    reasoning = {"summary": "auto", **wished_reasoning(ask)}
    if Repair.NO_SUMMARY in ask.repairs:
        del reasoning["summary"]
    if ask.effort:
        reasoning["effort"] = "none" if ask.effort == OFF else ask.effort
    return {"reasoning": reasoning} if reasoning else {}


def _included(ask: Ask) -> dict[str, Any]:
    """What comes with the answer: sealed thoughts, wherever there can be any."""
    thinks = ask.model.thinking != NO_THINKING and Repair.FORBIDDEN not in ask.repairs
    beside = [*([ENCRYPTED] if thinks else []), *(each for each in wished_beside(ask) if each != ENCRYPTED)]
    return {"include": beside} if beside else {}


def _tools(ask: Ask) -> dict[str, Any]:
    hosted = hosted_tools(ask)
    if not ask.tools and not hosted:
        return {}
    parallel = {"parallel_tool_calls": ask.wishes.parallel is not False}
    return {"tools": [*map(_tool, said_once(ask.tools)), *hosted], **parallel, **_choice(ask)}


def _choice(ask: Ask) -> dict[str, Any]:
    if not ask.may_call:
        return {"tool_choice": "none"}
    if own := own_words(ask).get("tool_choice"):
        return {"tool_choice": own}
    if ask.wishes.call:
        return {"tool_choice": {"type": "function", "name": ask.wishes.call}}
    return {"tool_choice": ask.wishes.choice} if ask.wishes.choice else {}


def _tool(tool: ToolSpec) -> dict[str, Any]:
    if tool.wire and tool.dialect == ResponsesWire.dialect:
        return dict(tool.wire)
    words = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", **words, "strict": tool.strict is True}


def _items(step: Step, ask: Ask) -> Iterator[dict[str, Any]]:
    match step:
        case Question():
            yield {"role": step.role, "content": _content(step.parts) if step.parts else step.whole}
        case Response():
            yield from (item for part in step.parts if (item := _sent_back(part, ask)))
            yield from (_result(result) for result in step.results)
        case _:
            assert_never(step)


def _sent_back(part: SendableItem, ask: Ask) -> dict[str, Any] | None:
    if part.verbatim:
        return _verbatim(part, ask)
    match part.item.kind:
        case Kind.ASSISTANT_MESSAGE:
            return {"role": "assistant", "content": part.item.text}
        case Kind.TOOL_CALL:
            words = {"name": part.item.name, "arguments": part.item.text or "{}"}
            return {"type": "function_call", "call_id": part.call_id, **words}
        case Kind.REASONING | Kind.USER_MESSAGE | Kind.PERMISSION_DECISION | Kind.TOOL_RESULT:
            return None


def _verbatim(part: SendableItem, ask: Ask) -> dict[str, Any] | None:
    wire: dict[str, Any] = part.item.wire
    if wire.get("type") not in KINDS and not _means_something(part, ask):
        return None
    left_out = set() if part.with_id else {"id"}
    if part.item.kind is Kind.REASONING:
        left_out.add("status")
    return {name: value for name, value in wire.items() if name not in left_out}


def _means_something(part: SendableItem, ask: Ask) -> bool:
    """An item of a kind unknown to us does by its id, or as one side of a call of which the program that asks tells the other."""
    return speaks_it(ask) if "call_id" in part.item.wire else part.with_id


def _result(result: Result) -> dict[str, Any]:
    output = _content(result.parts) if result.parts else result.text
    return {"type": "function_call_output", "call_id": result.call_id, "output": output}


def _content(parts: Sequence[Part]) -> list[dict[str, Any]]:
    return [
        {"type": "input_text", "text": part} if isinstance(part, str) else _beside(part) for part in parts
    ]


def _beside(attached: Attached) -> dict[str, Any]:
    here = attached.data and f"data:{attached.media_type};base64,{attached.data}"
    match attached.kind:
        case AttachedKind.PICTURE:
            told = {"image_url": attached.url or here, "file_id": attached.file_id}
            told["detail"] = attached.detail or "auto"
            return {"type": "input_image"} | _filled(told)
        case AttachedKind.FILE:
            told = {"file_url": attached.url, "file_data": here, "file_id": attached.file_id}
            return {"type": "input_file"} | _filled(told | {"filename": attached.name})


def _filled(told: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in told.items() if value}


WIRE: Wire = ResponsesWire()
