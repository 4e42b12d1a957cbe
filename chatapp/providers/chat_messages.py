"""Words a folded history as the messages of a chat completion: one round of a model is one assistant message."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.contracts import Contract, Filler
from ..core.history import Part, Question, Response
from ..core.items import Kind
from .base import OFF, Ask
from .chat_values import Json, fields, rows, word

DETAILS = "reasoning_details"
REASONING_CONTENT = "reasoning_content"
# Gemini takes this in place of a signature that is not its own.
NO_SIGNATURE = "skip_thought_signature_validator"


def messages_of(ask: Ask) -> list[Json]:
    messages: list[Json] = [{"role": "system", "content": ask.instructions}] if ask.instructions else []
    for step in ask.history.steps:
        match step:
            case Question():
                messages.append({"role": "user", "content": step.text})
            case Response():
                messages.append(_assistant(step, ask))
                messages += [
                    {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
                    for result in step.results
                ]
    return messages


def _assistant(response: Response, ask: Ask) -> Json:
    by_kind: dict[Kind, list[Part]] = {Kind.REASONING: [], Kind.ASSISTANT_MESSAGE: [], Kind.TOOL_CALL: []}
    for part in response.parts:
        by_kind[part.item.kind].append(part)
    calls = by_kind[Kind.TOOL_CALL]
    message: Json = {"role": "assistant", "content": _words(by_kind[Kind.ASSISTANT_MESSAGE])}
    message |= _thoughts(by_kind[Kind.REASONING], ask, called=bool(calls))
    if not calls:
        return message
    if not message["content"]:
        message["content"] = None
    return message | {"tool_calls": _calls(calls, ask)}


def _words(parts: Sequence[Part]) -> str:
    """What came in one message is joined as it came; separate messages of another wire are paragraphs."""
    joint = "" if all(part.verbatim for part in parts) else "\n\n"
    return joint.join(_wire(part, "content") or part.item.text for part in parts)


def _wire(part: Part, name: str) -> str:
    return word(part.item.wire.get(name)) if part.verbatim else ""


def _thoughts(parts: Sequence[Part], ask: Ask, *, called: bool) -> Json:
    contract = ask.contract
    if not parts:
        return _filler(contract, called=called) if ask.effort != OFF else {}
    details = [row for part in parts for row in rows(part.item.wire.get(DETAILS))]
    if details and contract.field in ("", DETAILS):
        return {DETAILS: details}
    return {_field(contract) or _came_in(parts[0]): "".join(_thought(part) for part in parts)}


def _field(contract: Contract) -> str:
    """Where words alone go."""
    return "reasoning" if contract.field == DETAILS else contract.field


def _came_in(part: Part) -> str:
    return "reasoning" if "reasoning" in part.item.wire else REASONING_CONTENT


def _thought(part: Part) -> str:
    return _wire(part, REASONING_CONTENT) or _wire(part, "reasoning") or part.item.text


def _filler(contract: Contract, *, called: bool) -> Json:
    wanted = contract.filler is Filler.ALL or (contract.filler is Filler.CALLS and called)
    return {_field(contract) or REASONING_CONTENT: ""} if wanted else {}


def _calls(parts: Sequence[Part], ask: Ask) -> list[Json]:
    calls = [_call(part) for part in parts]
    return _signed(calls) if ask.contract.signed else calls


def _signed(calls: list[Json]) -> list[Json]:
    """The first call of a message must have a signature, those after it may. The fold says which are still good."""
    calls = [call if _signature(call) else _unsigned(call) for call in calls]
    if not _signature(calls[0]):
        extra = fields(calls[0].get("extra_content")) | {"google": {"thought_signature": NO_SIGNATURE}}
        calls[0] = calls[0] | {"extra_content": extra}
    return calls


def _call(part: Part) -> Json:
    """The original arguments, byte for byte: they are part of what the model remembers."""
    if part.verbatim:
        return {"type": "function", **part.item.wire, "id": part.call_id}
    function = {"name": part.item.name, "arguments": part.item.text or "{}"}
    return {"id": part.call_id, "type": "function", "function": function}


def _signature(call: Json) -> str:
    return word(fields(fields(call.get("extra_content")).get("google")).get("thought_signature"))


def _unsigned(call: Json) -> Json:
    """An empty signature is refused, so it is left out together with its place."""
    extra = {name: value for name, value in fields(call.get("extra_content")).items() if name != "google"}
    bare = {name: value for name, value in call.items() if name != "extra_content"}
    return bare | ({"extra_content": extra} if extra else {})
