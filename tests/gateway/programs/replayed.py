"""Holds what the strict fake received against what it had said: each answer goes back as it came, with the thoughts that may."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from tests.support.providers import Line
from tests.turns.ledger import TAKES_NONE, TAKES_THOSE_OF_TOOL_TURNS

from .doors import Json

# Fields in which a chat completion brings thoughts; those that say nothing, or that a filler put there, count as none.
FIELDS = ("reasoning_content", "reasoning", "reasoning_details")
THINKING = ("thinking", "redacted_thinking")
# Kimi's ids repeat: the fake knows a thought by what was said before it, and takes two people who say the same for one.
ALIKE = "differs from what was sent in this conversation"
# They think and take no thought back, and a call goes as it was made only with the thought that made it.
CALLS_ANEW = {"@groq", "@deepseek-r1"}


def assert_replayed(line: Line, earlier: Sequence[Json], request: Json) -> None:
    """`earlier`: the requests of the same conversation to the same model, as the fake wrote them down."""
    assert (request["status"], request["outcome"]) == (200, "completed"), request.get("error")
    assert [note for note in request["notes"] if not note.endswith(ALIKE)] == []
    told = told_in(line, request["body"])
    assert told == [row for turn in turns_of(earlier) for row in wanted_of(line, turn)]


def turns_of(requests: Sequence[Json]) -> Iterator[list[Json]]:
    """Those that one question led to."""
    for _, turn in groupby(requests, key=_questions):
        yield [*turn]


def _questions(request: Json) -> int:
    body = request["body"]
    return sum(is_question(row) for row in body.get("input") or body["messages"])


def is_question(row: Json) -> bool:
    """On one of the wires results are told by a user too."""
    said = row.get("content")
    kinds = [part.get("type") for part in said] if isinstance(said, list) else []
    return row.get("role") == "user" and "tool_result" not in kinds


def wanted_of(line: Line, turn: Sequence[Json]) -> list[Json]:
    """What goes back of it."""
    rows = [row for each in turn for row in said_in(line, each["said"])]
    if line.suffix in TAKES_THOSE_OF_TOOL_TURNS and not any(row["calls"] for row in rows):
        return [row | {"thought": ""} for row in rows]
    return rows


def said_in(line: Line, said: Json) -> list[Json]:
    match line.dialect:
        case "responses":
            return [_item(item) for item in said["output"]]
        case "messages":
            return [_block(block) for block in said["content"]]
        case _:
            return [_message(line, said["choices"][0]["message"])]


def told_in(line: Line, body: Json) -> list[Json]:
    match line.dialect:
        case "responses":
            return [_item(item) for item in body["input"] if _is_models(item)]
        case "messages":
            answers = [message for message in body["messages"] if message["role"] == "assistant"]
            return [_block(block) for message in answers for block in message["content"]]
        case _:
            answers = [message for message in body["messages"] if message["role"] == "assistant"]
            return [_message(line, message) for message in answers]


def shows_thoughts(line: Line, said: Json) -> bool:
    match line.dialect:
        case "responses":
            return any(item["type"] == "reasoning" for item in said["output"])
        case "messages":
            return any(block["type"] in THINKING for block in said["content"])
        case _:
            message = said["choices"][0]["message"]
            return bool(_thought(message)) or "</think>" in (message["content"] or "")


def seals_in(value: Any) -> Iterator[str]:
    """Everything that a provider sealed, and every thought."""
    match value:
        case dict():
            for name, each in value.items():
                if (
                    name in ("signature", "data", "encrypted_content", "thought_signature", *FIELDS[:2])
                    and each
                ):
                    yield each if isinstance(each, str) else str(each)
                else:
                    yield from seals_in(each)
        case list():
            for each in value:
                yield from seals_in(each)
        case _:
            pass


def _is_models(item: Json) -> bool:
    return item.get("type") in ("reasoning", "function_call") or item.get("role") == "assistant"


def _item(item: Json) -> Json:
    """A seal is worded anew whenever it is told, and opens to the same."""
    from tests.upstream.responses.ids import ENC
    from tests.upstream.sealing import unseal

    if item.get("type") != "reasoning":
        return item
    bare = {name: value for name, value in item.items() if name not in ("encrypted_content", "status")}
    opened = unseal("rs", item.get("encrypted_content"), ENC) or {}
    return bare | {"opens to": opened.get("i")}


def _block(block: Json) -> Json:
    return {name: value for name, value in block.items() if name != "cache_control"}


def _message(line: Line, message: Json) -> Json:
    thought = _thought(message) if line.suffix not in TAKES_NONE else ""
    calls = message.get("tool_calls") or []
    if line.suffix in CALLS_ANEW:
        calls = [call["function"] for call in calls]
    return {"words": message.get("content") or "", "calls": calls, "thought": thought}


def _thought(message: Json) -> str:
    details = "".join(row.get("text", "") for row in message.get("reasoning_details") or [])
    return details or message.get("reasoning_content") or message.get("reasoning") or ""
