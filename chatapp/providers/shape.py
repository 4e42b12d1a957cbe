"""What a request is made of, line by line: kinds, numbers and sizes, and none of its words, blobs or ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..core.plural import many
from ..core.verbatim import dumps, encode

MOST_LINES, LONGEST_LINE, LONGEST_SETTING = 60, 300, 200
# Who asks, and where: nobody else's business.
LEFT_OUT = frozenset({"prompt_cache_key", "safety_identifier", "user", "metadata"})
# Their values are choices of ours, never somebody's words.
SETTINGS = frozenset(
    {
        "model",
        "include",
        "output_config",
        "reasoning",
        "reasoning_effort",
        "stream_options",
        "thinking",
        "tool_choice",
        "chat_template_kwargs",
    }
)
SEALS = ("encrypted_content", "signature", "data")
BESIDE_THE_WORDS = ("reasoning_content", "reasoning", "reasoning_details", "tool_calls")
KIND = re.compile(r"[a-z0-9_.-]{1,40}", re.ASCII)


def shape_of(body: Mapping[str, Any]) -> list[str]:
    told = ((name, _value_in_words(name, value)) for name, value in body.items() if name not in LEFT_OUT)
    return [_within(f"{name}: {words}", LONGEST_LINE) for name, words in told][:MOST_LINES]


def _value_in_words(name: str, value: Any) -> str:
    if name == "tools":
        return _tool_names(value)
    if name in SETTINGS and len(setting := dumps(value)) <= LONGEST_SETTING:
        return setting
    match value:
        case None | bool() | int() | float():
            return dumps(value)
        case str():
            return f"{len(value):,} characters"
        case list():
            return f"{many(len(value), 'entry', 'entries')}, {_in_bytes(value)}{_kinds(value)}"
        case _:
            return _in_bytes(value)


def _tool_names(tools: Sequence[Mapping[str, Any]]) -> str:
    names = ", ".join(_name_of(tool.get("function", tool)) for tool in tools)
    shown = _within(names, LONGEST_SETTING)
    return shown if shown == names else f"{shown} ({len(tools)} of them)"


def _name_of(tool: Mapping[str, Any]) -> str:
    """A provider's own tools have none but that of their kind."""
    return str(tool.get("name") or tool.get("type") or "unnamed")


def _kinds(entries: list[Any]) -> str:
    blocks = [block for entry in entries for block in _content_blocks(entry)]
    counted = [words for group in (entries, blocks) if (words := ", ".join(_counted(group)))]
    return ": " + "; ".join(counted) if counted else ""


def _content_blocks(entry: Any) -> list[Any]:
    """What a message of the Messages API is made of."""
    content = entry.get("content") if isinstance(entry, dict) and "type" not in entry else None
    return content if isinstance(content, list) else []


def _counted(entries: Iterable[Any]) -> Iterator[str]:
    kinds: Counter[str] = Counter()
    marks: dict[str, Counter[str]] = {}
    for entry in entries:
        kind = _kind_of_entry(entry)
        kinds[kind] += 1
        marks.setdefault(kind, Counter()).update(_marks(entry))
    for kind, number in kinds.items():
        marked = ", ".join(f"{times:,} {mark}" for mark, times in marks[kind].items())
        yield f"{number:,} {kind}" + (f" ({marked})" if marked else "")


def _kind_of_entry(entry: Any) -> str:
    said = (entry.get("role") or entry.get("type")) if isinstance(entry, dict) else None
    return said if isinstance(said, str) and KIND.fullmatch(said) else "other"


def _marks(entry: Any) -> Iterator[str]:
    if isinstance(entry, dict):
        if any(entry.get(seal) for seal in SEALS):
            yield "sealed"
        yield from (f"with {name}" for name in BESIDE_THE_WORDS if entry.get(name))
        yield from (f"with empty {name}" for name in BESIDE_THE_WORDS if entry.get(name) == "")


def _in_bytes(value: Any) -> str:
    return f"{len(encode(value)):,} bytes"


def _within(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"
