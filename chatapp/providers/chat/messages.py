"""Words a folded history as the messages of a chat completion: one round of a model is one assistant message."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.attached import Attached, AttachedKind, Part, words_of
from ...core.contracts import IN_CONTENT, Contract, Filler, Repair
from ...core.history import Question, Response, Result, SendableItem
from ...core.items import Kind
from ...core.values import Json, fields, rows, word
from ..base import OFF, Ask
from .growing_words import REFUSAL

DETAILS = "reasoning_details"
REASONING_CONTENT = "reasoning_content"
SEE_BELOW = "The result stands below."
# Gemini takes this in place of a signature that is not its own.
NO_SIGNATURE = "skip_thought_signature_validator"


def messages_of(ask: Ask) -> list[Json]:
    messages: list[Json] = [{"role": "system", "content": ask.instructions}] if ask.instructions else []
    seen = ""
    for step in ask.history.steps:
        match step:
            case Question():
                messages.append(_question(step))
            case Response():
                seen = next((_field_back(part, ask) for part in _thoughts_of(step)), seen)
                messages.append(_assistant(step, ask, seen))
                messages += [
                    {"role": "tool", "tool_call_id": result.call_id, "content": _result(result)}
                    for result in step.results
                ]
                if beside := [part for result in step.results for part in _pictures(result)]:
                    messages.append({"role": "user", "content": beside})
    return messages


def _question(question: Question) -> Json:
    """Of the roles that are not a user's, all servers know this one."""
    role = "user" if question.role == "user" else "system"
    return {"role": role, "content": [*map(_part, question.parts)] if question.parts else question.whole}


def _result(result: Result) -> str:
    """A tool says nothing but words here; pictures follow behind."""
    return words_of(result.parts) or SEE_BELOW if result.parts else result.text


def _pictures(result: Result) -> list[Json]:
    return [_part(part) for part in result.parts if isinstance(part, Attached)]


def _part(part: Part) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    here = part.data and f"data:{part.media_type};base64,{part.data}"
    match part.kind:
        case AttachedKind.PICTURE if part.url or here:
            detail = {"detail": part.detail} if part.detail else {}
            return {"type": "image_url", "image_url": {"url": part.url or here, **detail}}
        case AttachedKind.FILE if here or part.file_id:
            told = {"file_data": here, "file_id": part.file_id, "filename": part.name}
            return {"type": "file", "file": {name: value for name, value in told.items() if value}}
        case _:
            return {"type": "text", "text": part.in_words}


def thoughts_in(ask: Ask, messages: Sequence[Json]) -> int:
    """One message carries all thoughts of its response, in whatever fields they came."""
    responses = [step for step in ask.history.steps if isinstance(step, Response)]
    answers = [message for message in messages if message["role"] == "assistant"]
    return sum(
        _carries(message, part, ask)
        for response, message in zip(responses, answers, strict=True)
        for part in _thoughts_of(response)
    )


def _thoughts_of(response: Response) -> list[SendableItem]:
    return [part for part in response.parts if part.item.kind is Kind.REASONING]


def _carries(message: Json, part: SendableItem, ask: Ask) -> bool:
    field = _field_back(part, ask)
    said, words = message.get(field), _between_tags(part, ask) if field == IN_CONTENT else _thought(part)
    return words in said if isinstance(said, str) and words else bool(said)


def _assistant(response: Response, ask: Ask, seen: str) -> Json:
    calls = [part for part in response.parts if part.item.kind is Kind.TOOL_CALL]
    refusal = "".join(_wire(part, REFUSAL) for part in response.parts)
    message: Json = {"role": "assistant", "content": _content(response, ask)}
    message |= _thought_fields(response, ask, _filler(ask.contract, seen, called=bool(calls)))
    if not message["content"] and (calls or refusal):
        message["content"] = None
    message |= {REFUSAL: refusal} if refusal else {}
    return message | ({"tool_calls": _calls(calls, ask)} if calls else {})


def _content(response: Response, ask: Ask) -> str | list[Json]:
    """What came in one message is joined as it came; separate messages of another wire are paragraphs."""
    said = [part for part in response.parts if _is_content(part, ask)]
    if any(_came_as_parts(part) for part in said):
        return [row for part in said for row in _rows(part)]
    joint = "" if all(part.verbatim for part in said) else "\n\n"
    texts = [part for part in said if part.item.kind is Kind.ASSISTANT_MESSAGE]
    thoughts = "".join(_between_tags(part, ask) for part in said if part.item.kind is Kind.REASONING)
    return thoughts + joint.join(_wire(part, "content") or part.item.text for part in texts)


def _is_content(part: SendableItem, ask: Ask) -> bool:
    kind = part.item.kind
    if kind is Kind.ASSISTANT_MESSAGE:
        return not _wire(part, REFUSAL)
    return kind is Kind.REASONING and _field_back(part, ask) == IN_CONTENT


def _came_as_parts(part: SendableItem) -> bool:
    return part.verbatim and isinstance(part.item.wire.get("content"), list)


def _rows(part: SendableItem) -> list[Json]:
    if _came_as_parts(part):
        return rows(part.item.wire["content"])
    words = _wire(part, "content") or part.item.text
    return [{"type": "text", "text": words}] if words else []


def _between_tags(part: SendableItem, ask: Ask) -> str:
    """As it came, or as a server wants it that gives thoughts in a field of their own."""
    if came := _wire(part, IN_CONTENT):
        return came
    opening, closing = ask.contract.tags[0] if ask.contract.tags else ("", "")
    return f"{opening}{_thought(part)}{closing}"


def _wire(part: SendableItem, name: str) -> str:
    return word(part.item.wire.get(name)) if part.verbatim else ""


def _thought_fields(response: Response, ask: Ask, filler: Json) -> Json:
    """The thoughts that have fields of their own."""
    thoughts = _thoughts_of(response)
    if not thoughts and ask.effort != OFF:
        return _details(response, ask) or filler
    words: dict[str, str] = {}
    for part in thoughts:
        if (field := _field_back(part, ask)) not in (DETAILS, IN_CONTENT):
            words[field] = words.get(field, "") + _thought(part)
    return _details(response, ask) | words


def _details(response: Response, ask: Ask) -> Json:
    """Of its thoughts, and those that came for its text: for the model that made them, as long as it takes them."""
    parts = [part for part in response.parts if part.verbatim and part.item.model == ask.model.name]
    if Repair.STALE in ask.repairs or Repair.FORBIDDEN in ask.repairs or ask.effort == OFF:
        parts = [part for part in parts if part.item.kind is Kind.REASONING]
    found = [row for part in parts for row in rows(part.item.wire.get(DETAILS))]
    return {DETAILS: found} if found else {}


def _field_back(part: SendableItem, ask: Ask) -> str:
    """Where a thought goes back: where it came; the details stand beside its words for whoever does not want them alone. Only a server that
    wants all in the content is told otherwise."""
    wire = part.item.wire
    if ask.contract.field == IN_CONTENT or wire.get("content"):
        return IN_CONTENT
    fields_first = (REASONING_CONTENT, DETAILS, "reasoning")
    order = (DETAILS, *fields_first) if ask.contract.field == DETAILS else fields_first
    return next((name for name in order if wire.get(name)), _field(ask.contract) or REASONING_CONTENT)


def _field(contract: Contract) -> str:
    """Where words alone go."""
    return {DETAILS: "reasoning", IN_CONTENT: REASONING_CONTENT}.get(contract.field, contract.field)


def _thought(part: SendableItem) -> str:
    return _wire(part, REASONING_CONTENT) or _wire(part, "reasoning") or part.item.text


def _filler(contract: Contract, seen: str, *, called: bool) -> Json:
    """`seen`: where the thoughts before it came."""
    field = seen if seen not in (DETAILS, IN_CONTENT) else ""
    match contract.filler:
        case Filler.NEVER:
            wanted = False
        case Filler.SEEN:
            wanted = bool(field)
        case Filler.CALLS:
            wanted = called
        case Filler.ALL:
            wanted = True
    return {field or _field(contract) or REASONING_CONTENT: ""} if wanted else {}


def _calls(parts: Sequence[SendableItem], ask: Ask) -> list[Json]:
    calls = [_call(part) for part in parts]
    return _signed(calls) if ask.contract.signed else calls


def _signed(calls: list[Json]) -> list[Json]:
    """The first call of a message must have a signature, those after it may. The fold says which are still good."""
    calls = [call if _signature(call) else _unsigned(call) for call in calls]
    if not _signature(calls[0]):
        extra = fields(calls[0].get("extra_content")) | {"google": {"thought_signature": NO_SIGNATURE}}
        calls[0] = calls[0] | {"extra_content": extra}
    return calls


def _call(part: SendableItem) -> Json:
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
