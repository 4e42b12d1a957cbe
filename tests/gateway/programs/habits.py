"""What programs do to the answers that they keep in their history, before they send them back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .doors import THINKING, Door, Json, Told

THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details")
# Of an answer: in the form of its door, and the how many-th of its conversation it is.
Change = Callable[[Door, Told, int], Told]


@dataclass(frozen=True)
class Habit:
    name: str
    change: Change

    def __str__(self) -> str:
        return self.name


def stripped(door: Door, answer: Told, number: int = 0) -> Told:
    """Without a word of thoughts."""
    match door.name:
        case "chat":
            return [{name: row[name] for name in row if name not in THOUGHTS} for row in answer]
        case "responses":
            return [item for item in answer if item.get("type") != "reasoning"]
        case _:
            blocks = answer[0]["content"]
            if isinstance(blocks, list):
                blocks = [block for block in blocks if block["type"] not in THINKING]
            return [{**answer[0], "content": blocks}] if blocks else []


def without_thoughts(door: Door, told: Told) -> Told:
    """Whatever was told, and without seals in calls."""
    rows = stripped(door, told) if door.is_answer(told) else told
    return [_unsigned(row) for row in rows]


def _unsigned(value: Any) -> Any:
    match value:
        case dict():
            return {name: _unsigned(each) for name, each in value.items() if name != "extra_content"}
        case list():
            return [_unsigned(each) for each in value]
        case _:
            return value


def kept(door: Door, answer: Told, number: int) -> Told:
    return answer


def half(door: Door, answer: Told, number: int) -> Told:
    return answer if number % 2 else stripped(door, answer)


def reordered(door: Door, answer: Told, number: int) -> Told:
    """It reads arguments and writes them anew, in its own order and with its own blanks."""
    return [_reordered(each) for each in stripped(door, answer)]


def _reordered(value: Any, name: str = "") -> Any:
    match value:
        case dict():
            turned = {key: _reordered(value[key], key) for key in reversed(value)}
            return turned
        case list():
            return [_reordered(each) for each in value]
        case str() if name == "arguments":
            return json.dumps(_reordered(json.loads(value or "{}")), indent=2)
        case _:
            return value


def rewritten(door: Door, answer: Told, number: int) -> Told:
    """It holds the bare minimum in classes of its own: words trimmed, one message for words and another for calls, no ids of items."""
    match door.name:
        case "chat":
            return [part for row in stripped(door, answer) for part in _two_messages(row)]
        case "responses":
            return [_plain_item(item) for item in stripped(door, answer)]
        case _:
            return [_two_blocks(row) for row in stripped(door, answer)]


def _two_messages(row: Json) -> Told:
    words, calls = (row.get("content") or "").strip(), row.get("tool_calls")
    said = [{"role": "assistant", "content": words}] if words else []
    bare = [{name: call[name] for name in ("id", "type", "function")} for call in calls or []]
    return [*said, *([{"role": "assistant", "content": "", "tool_calls": bare}] if bare else [])]


def _plain_item(item: Json) -> Json:
    if item["type"] == "message":
        words = "".join(part.get("text") or part.get("refusal") or "" for part in item["content"])
        return {"role": "assistant", "content": words.strip()}
    return {name: item[name] for name in ("type", "call_id", "name", "arguments")}


def _two_blocks(row: Json) -> Json:
    blocks = row["content"]
    if all(block["type"] == "text" for block in blocks):
        return {"role": "assistant", "content": "\n\n".join(block["text"] for block in blocks).strip()}
    bare = ("type", "text", "id", "name", "input")
    return {
        "role": "assistant",
        "content": [{name: block[name] for name in bare if name in block} for block in blocks],
    }


def of_its_own_ids(door: Door, answer: Told, number: int) -> Told:
    """It numbers calls by itself, and keeps no other id."""
    names = {call.id: f"call_{number}_{place}" for place, call in enumerate(door.calls(answer))}
    return [renamed(item, names) for item in stripped(door, answer)]


def renamed(value: Any, names: Mapping[str, str], name: str = "") -> Any:
    """`names`: of calls. Other ids go."""
    match value:
        case dict():
            found = {key: renamed(each, names, key) for key, each in value.items()}
            return {key: each for key, each in found.items() if key != "id" or value[key] in names}
        case list():
            return [renamed(each, names) for each in value]
        case str() if name in ("id", "call_id", "tool_call_id", "tool_use_id"):
            return names.get(value, value)
        case _:
            return value


STRIPS = Habit("strips", stripped)
RENAMES = Habit("renames", of_its_own_ids)
HABITS = (
    STRIPS,
    Habit("keeps", kept),
    Habit("keeps half", half),
    Habit("reorders", reordered),
    Habit("rewrites", rewritten),
    RENAMES,
)
