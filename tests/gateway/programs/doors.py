"""The three doors as a program speaks to them: how a request is put, what an answer says, and in which form a history holds both."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Json = dict[str, Any]
THINKING = ("thinking", "redacted_thinking")
# A program's messages or items, in the form of its door.
Told = list[Json]


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Tool:
    name: str
    schema: Json = field(default_factory=lambda: {"type": "object", "properties": {}})


class Door(Protocol):
    name: str
    path: str

    def body(self, model: str, told: Told, tools: Sequence[Tool], *, stream: bool) -> Json: ...

    def question(self, words: str) -> Told: ...

    def results(self, results: Mapping[str, str]) -> Told: ...

    def answer(self, whole: Json) -> Told:
        """What was said, as a program appends it to its history."""

    def calls(self, answer: Told) -> list[Call]: ...

    def is_answer(self, told: Told) -> bool: ...

    def has_thoughts(self, answer: Told) -> bool: ...

    def gathered(self, events: Sequence[Json]) -> Json:
        """The whole answer of a stream."""


class ChatDoor:
    name, path = "chat", "/v1/chat/completions"

    def body(self, model: str, told: Told, tools: Sequence[Tool], *, stream: bool) -> Json:
        offered = [
            {"type": "function", "function": {"name": tool.name, "parameters": tool.schema}} for tool in tools
        ]
        system = {"role": "system", "content": "Be brief."}
        return {"model": model, "messages": [system, *told], "tools": offered, "stream": stream}

    def question(self, words: str) -> Told:
        return [{"role": "user", "content": words}]

    def results(self, results: Mapping[str, str]) -> Told:
        return [{"role": "tool", "tool_call_id": id, "content": words} for id, words in results.items()]

    def answer(self, whole: Json) -> Told:
        return [whole["choices"][0]["message"]]

    def calls(self, answer: Told) -> list[Call]:
        calls = [call for message in answer for call in message.get("tool_calls") or []]
        return [Call(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in calls]

    def is_answer(self, told: Told) -> bool:
        return bool(told[0]["role"] == "assistant")

    def has_thoughts(self, answer: Told) -> bool:
        return any(message.get("reasoning_content") for message in answer)

    def gathered(self, events: Sequence[Json]) -> Json:
        message: Json = {"role": "assistant", "content": None}
        for delta in (choice["delta"] for event in events for choice in event["choices"]):
            _join_delta(message, delta)
        return {"choices": [{"message": message}]}


def _join_delta(message: Json, delta: Json) -> None:
    for name in ("content", "reasoning_content", "reasoning"):
        if delta.get(name):
            message[name] = (message.get(name) or "") + delta[name]
    if delta.get("reasoning_details"):
        message.setdefault("reasoning_details", []).extend(delta["reasoning_details"])
    for piece in delta.get("tool_calls") or []:
        calls = message.setdefault("tool_calls", [])
        if piece["index"] == len(calls):
            calls.append({"function": {"name": "", "arguments": ""}})
        call = calls[piece["index"]]
        function = piece.get("function") or {}
        call |= {name: piece[name] for name in ("id", "type", "extra_content") if name in piece}
        call["function"] = {
            name: before + function.get(name, "") for name, before in call["function"].items()
        }


class ResponsesDoor:
    name, path = "responses", "/v1/responses"

    def body(self, model: str, told: Told, tools: Sequence[Tool], *, stream: bool) -> Json:
        offered = [{"type": "function", "name": tool.name, "parameters": tool.schema} for tool in tools]
        return {
            "model": model,
            "input": told,
            "tools": offered,
            "stream": stream,
            "instructions": "Be brief.",
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }

    def question(self, words: str) -> Told:
        return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]}]

    def results(self, results: Mapping[str, str]) -> Told:
        return [
            {"type": "function_call_output", "call_id": id, "output": words} for id, words in results.items()
        ]

    def answer(self, whole: Json) -> Told:
        output: Told = whole["output"]
        return output

    def calls(self, answer: Told) -> list[Call]:
        calls = [item for item in answer if item.get("type") == "function_call"]
        return [Call(call["call_id"], call["name"], call["arguments"]) for call in calls]

    def is_answer(self, told: Told) -> bool:
        return told[0].get("role") != "user" and told[0].get("type") != "function_call_output"

    def has_thoughts(self, answer: Told) -> bool:
        return any(item.get("type") == "reasoning" for item in answer)

    def gathered(self, events: Sequence[Json]) -> Json:
        numbers = [event["sequence_number"] for event in events]
        assert numbers == [*range(len(events))]
        assert events[-1]["type"] == "response.completed", events[-1]
        whole: Json = events[-1]["response"]
        return whole


class MessagesDoor:
    name, path = "messages", "/v1/messages"

    def body(self, model: str, told: Told, tools: Sequence[Tool], *, stream: bool) -> Json:
        offered = [{"name": tool.name, "input_schema": tool.schema} for tool in tools]
        thinking = {"type": "adaptive"}
        said = {"model": model, "messages": told, "tools": offered, "stream": stream, "thinking": thinking}
        return said | {"max_tokens": 20_000, "system": "Be brief."}

    def question(self, words: str) -> Told:
        return [{"role": "user", "content": words}]

    def results(self, results: Mapping[str, str]) -> Told:
        blocks = [
            {"type": "tool_result", "tool_use_id": id, "content": words} for id, words in results.items()
        ]
        return [{"role": "user", "content": blocks}]

    def answer(self, whole: Json) -> Told:
        return [{"role": "assistant", "content": whole["content"]}]

    def calls(self, answer: Told) -> list[Call]:
        blocks = [block for message in answer for block in message["content"] if _is_call(block)]
        return [Call(block["id"], block["name"], json.dumps(block["input"])) for block in blocks]

    def is_answer(self, told: Told) -> bool:
        return bool(told[0]["role"] == "assistant")

    def has_thoughts(self, answer: Told) -> bool:
        blocks = [block for message in answer for block in message["content"] if isinstance(block, dict)]
        return any(block["type"] in THINKING for block in blocks)

    def gathered(self, events: Sequence[Json]) -> Json:
        blocks: list[Json] = []
        for event in events:
            match event["type"]:
                case "content_block_start":
                    blocks.append(dict(event["content_block"]))
                case "content_block_delta":
                    _join_block(blocks[event["index"]], event["delta"])
                case kind:
                    assert kind != "error", event
        assert events[-1]["type"] == "message_stop"
        for block in blocks:
            if "partial_json" in block:
                block["input"] = json.loads(block.pop("partial_json") or "{}")
        return {"content": blocks}


def _is_call(block: Json | str) -> bool:
    """Words alone may stand there without a block."""
    return isinstance(block, dict) and block["type"] == "tool_use"


def _join_block(block: Json, delta: Json) -> None:
    for name, words in delta.items():
        if name != "type":
            block[name] = (block.get(name) or "") + words


DOORS: tuple[Door, ...] = (ChatDoor(), ResponsesDoor(), MessagesDoor())


def events_in(stream: str) -> Iterator[Json]:
    """The data of each event."""
    for line in stream.splitlines():
        data = line.removeprefix("data: ")
        if data != line and data != "[DONE]":
            yield json.loads(data)
