"""Anthropic's Messages API: what a request says, and which models there are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from ...core.attached import Attached, AttachedKind, Part, words_in
from ...core.contracts import Repair
from ...core.history import Question, Response, Result, SendableItem, Step
from ...core.items import Kind, Outcome
from ..base import OFF, Ask, Endpoint, ModelSpec, ToolSpec, Wire
from .model_facts import abilities, known
from .refusals import refusal
from .stream import MessagesParser, arguments_object
from .wishes import hosted_tools, must_call, tool_choice, with_wishes

VERSION = "2023-06-01"
# Models that think by a budget think between their calls only when asked with this.
INTERLEAVED = "interleaved-thinking-2025-05-14"
# Lets a server drop thoughts that do not belong behind what stands before them now, where it would refuse the whole request.
BINDING = "thinking-binding-controls-2026-08-01"
DROP = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}
MAX_OUTPUT = 32_000
BUDGETS = {"low": 4_096, "medium": 12_288, "high": 32_000}
LEAST_BUDGET = 1_024
THOUGHTS = ("thinking", "redacted_thinking")
# The API refuses blank texts, and a conversation that does not open with a question.
NO_WORDS = "(no text)"

Row = dict[str, Any]


class MessagesWire:
    dialect = "messages"
    parser, refusal = MessagesParser, staticmethod(refusal)

    def path(self, endpoint: Endpoint) -> str:
        return "/v1/messages"

    def models_path(self, endpoint: Endpoint) -> str:
        return "/v1/models?limit=1000"

    def headers(self, endpoint: Endpoint, ask: Ask) -> dict[str, str]:
        key = {"x-api-key": endpoint.key} if endpoint.key else {}
        betas = [INTERLEAVED] if ask.model.thinking == "budget" and ask.tools else []
        betas += [BINDING] if _is_bound(ask) else []
        betas = [*dict.fromkeys([*betas, *ask.wishes.betas])]
        return {"anthropic-version": VERSION, **key, **({"anthropic-beta": ",".join(betas)} if betas else {})}

    def body(self, ask: Ask) -> dict[str, Any]:
        messages = _messages(ask)
        body = {
            "model": ask.model.name,
            "max_tokens": _max_tokens(ask),
            "stream": True,
            **_system(ask),
            **_tools(ask),
            **_thinking(ask, messages),
        }
        return with_wishes(ask, body) | {"messages": _with_breakpoints(messages)}

    def thoughts(self, ask: Ask, body: Mapping[str, Any]) -> int:
        return sum(block["type"] in THOUGHTS for message in body["messages"] for block in message["content"])

    def model(self, endpoint: Endpoint, row: Mapping[str, Any]) -> ModelSpec:
        name = str(row["id"])
        facts = known(name)
        thinking, efforts = abilities(row, facts)
        label = row.get("display_name")
        return ModelSpec(
            provider=endpoint.name,
            dialect=self.dialect,
            name=name,
            label=label if isinstance(label, str) else name,
            efforts=efforts,
            thinking=thinking,
            thinks=bool(thinking) and (bool(facts.where) or "capabilities" in row),
            window=_positive(row.get("max_input_tokens")),
            max_output=_positive(row.get("max_tokens")) or facts.max_output,
        )


def _positive(value: object) -> int | None:
    return value if type(value) is int and value > 0 else None


def _max_tokens(ask: Ask) -> int:
    most = ask.model.max_output or MAX_OUTPUT
    return min(most, ask.wishes.most_output or most)


def _system(ask: Ask) -> dict[str, Any]:
    return {"system": _marked([_text(ask.instructions)])} if ask.instructions.strip() else {}


def _tools(ask: Ask) -> dict[str, Any]:
    """The tools stay in the list when none may be called: the history speaks of them, the cache begins with them."""
    tools = [*map(_tool, ask.tools), *hosted_tools(ask)]
    choice = tool_choice(ask)
    return {"tools": _marked(tools), **({"tool_choice": choice} if choice else {})} if tools else {}


def _tool(tool: ToolSpec) -> Row:
    if tool.wire and tool.dialect == MessagesWire.dialect:
        return {name: value for name, value in tool.wire.items() if name != "cache_control"}
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}


def _thinking(ask: Ask, messages: list[Row]) -> dict[str, Any]:
    asked = _asked_to_think(ask, messages)
    if "thinking" in asked and _is_bound(ask):
        asked["thinking"] = asked["thinking"] | DROP
    return asked


def _is_bound(ask: Ask) -> bool:
    """Said where thinking is on: what is switched off takes no such word."""
    off = ask.effort == OFF and OFF in ask.model.efforts
    thinks = ask.model.thinking in ("adaptive", "budget") and Repair.FORBIDDEN not in ask.repairs
    return ask.contract.bound and thinks and not off


def _asked_to_think(ask: Ask, messages: list[Row]) -> dict[str, Any]:
    if Repair.FORBIDDEN in ask.repairs:
        return {}
    off = (ask.effort == OFF and OFF in ask.model.efforts) or must_call(ask)
    match ask.model.thinking:
        case "adaptive" if not off:
            depth = {"output_config": {"effort": ask.effort}} if ask.effort not in ("", OFF) else {}
            display = "omitted" if ask.wishes.hides_thoughts else "summarized"
            return {"thinking": {"type": "adaptive", "display": display}, **depth}
        case "budget" if not off and not _thoughts_are_missing(messages):
            return {"thinking": _with_budget(ask)}
        case "adaptive" | "budget":
            return {"thinking": {"type": "disabled"}}
        case _:
            return {}


def _with_budget(ask: Ask) -> dict[str, Any]:
    """Half of the output at most: thoughts leave room for an answer."""
    budget = min(BUDGETS.get(ask.effort, BUDGETS["medium"]), _max_tokens(ask) // 2)
    if budget < LEAST_BUDGET:
        return {"type": "disabled"}
    hidden = {"display": "omitted"} if ask.wishes.hides_thoughts else {}
    return {"type": "enabled", "budget_tokens": budget, **hidden}


def _thoughts_are_missing(messages: list[Row]) -> bool:
    """True when results are to be read without any thought that led to their calls: a model that thinks by a budget
    refuses to think on from there."""
    if not _holds(messages[-1], "tool_result"):
        return False
    for message in reversed(messages[:-1]):
        if _holds(message, *THOUGHTS):
            return False
        if message["role"] == "user" and _holds(message, "text"):
            break
    return True


def _holds(message: Row, *types: str) -> bool:
    return any(block["type"] in types for block in message["content"])


def _messages(ask: Ask) -> list[Row]:
    """Roles alternate, and a question opens."""
    messages: list[Row] = []
    takes_system = known(ask.model.name).system_turns
    for role, blocks in (turn for step in ask.history.steps for turn in _turns(step, takes_system)):
        if not messages and role != "user":
            messages.append(_message("user", [_text("")]))
        if messages and messages[-1]["role"] == role:
            messages[-1] = _message(role, [*messages[-1]["content"], *blocks])
        elif blocks:
            messages.append(_message(role, blocks))
    return messages or [_message("user", [_text("")])]


def _message(role: str, blocks: list[Row]) -> Row:
    return {"role": role, "content": blocks}


def _turns(step: Step, takes_system: bool) -> Iterator[tuple[str, list[Row]]]:
    match step:
        case Question() if step.role != "user":
            words = _text(step.text)
            yield ("system", [words]) if takes_system else ("user", [_as_operators(words)])
        case Question():
            yield "user", [*map(_part, step.parts or step.texts)]
        case Response():
            yield "assistant", [_block(part) for part in step.parts]
            yield "user", [_result(result) for result in step.results]
        case _:
            assert_never(step)


def _as_operators(words: Row) -> Row:
    return words | {"text": f"<system>\n{words['text']}\n</system>"}


def _part(part: Part) -> Row:
    if isinstance(part, str):
        return _text(part)
    source = _source(part)
    if source is None:
        return _text(part.in_words)
    titled = {"title": part.name} if part.kind is AttachedKind.FILE and part.name else {}
    return {"type": _BLOCKS[part.kind], "source": source, **titled}


_BLOCKS = {AttachedKind.PICTURE: "image", AttachedKind.FILE: "document"}


def _source(attached: Attached) -> Row | None:
    if attached.file_id:
        return {"type": "file", "file_id": attached.file_id}
    if attached.url:
        return {"type": "url", "url": attached.url}
    if attached.media_type == "text/plain":
        return {"type": "text", "media_type": "text/plain", "data": words_in(attached.data)}
    here = {"type": "base64", "media_type": attached.media_type, "data": attached.data}
    return here if attached.data else None


def _text(text: str) -> Row:
    return {"type": "text", "text": text if text.strip() else NO_WORDS}


def _block(part: SendableItem) -> Row:
    """What its model wrote goes back as the very same value: thoughts are signed."""
    if part.verbatim:
        wire: Row = part.item.wire
        return wire
    if part.item.kind is Kind.TOOL_CALL:
        words = {"name": _tool_name(part.item.name), "input": arguments_object(part.item.text)}
        return {"type": "tool_use", "id": part.call_id, **words}
    return _text(part.item.text)


def _tool_name(name: str) -> str:
    """Other providers let a model make up names that are refused here."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:128] or "unknown"


def _result(result: Result) -> Row:
    words = result.text if result.text.strip() else NO_WORDS
    failed = {} if result.outcome == Outcome.DONE else {"is_error": True}
    content = [*map(_part, result.parts)] if result.parts else words
    return {"type": "tool_result", "tool_use_id": result.call_id, "content": content, **failed}


def _with_breakpoints(messages: list[Row]) -> list[Row]:
    """The cache is marked at the end of the two newest user messages. The older of them is where the last request ended,
    so what that one left in the cache is found again. With tools and system this makes four, which is the limit."""
    places = [at for at, message in enumerate(messages) if message["role"] == "user"][-2:]
    return [
        _message("user", _marked(message["content"])) if at in places else message
        for at, message in enumerate(messages)
    ]


def _marked(blocks: list[Row]) -> list[Row]:
    return [*blocks[:-1], {**blocks[-1], "cache_control": {"type": "ephemeral"}}]


WIRE: Wire = MessagesWire()
