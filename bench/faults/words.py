"""What the model says: each word tells which request it was said to and which of its words it is, so that none can be lost, doubled
or somebody else's without being seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

SERVER, ACT = "outside", "act"
PLAIN, ACTING = "plain", "acting"
# Deltas a second of so many signs each.
PACE, SIGNS = 4, 7
THOUGHT, BEFORE, AFTER = 8, 12, 50
_WORD = re.compile(r"a(\d{1,12})n(\d{1,6})")


def _words(first: int, count: int) -> str:
    return " ".join(f"a{{{{request}}}}n{number}" for number in range(first, first + count))


def _thought(count: int) -> dict[str, Any]:
    return {"reasoning": {"summary": _words(0, count)}}


def scenarios() -> dict[str, dict[str, Any]]:
    """An answer of one round, and one of two with a call of a tool between them that must not run twice."""
    call = {"tool": {"name": f"{SERVER}__{ACT}", "args": {"call": "{{last_user}}"}}}
    last = {"items": [_thought(THOUGHT), {"text": _words(0, AFTER)}]}
    speed = {"tps": PACE, "chunk": SIGNS}
    return {
        PLAIN: {"speed": speed, "turns": [last]},
        ACTING: {
            "speed": speed,
            "after_last": "stay",
            "turns": [{"items": [_thought(THOUGHT), {"text": _words(0, BEFORE)}, call]}, last],
        },
    }


def wrong_in(text: str, *, grows: bool) -> Iterator[str]:
    """In a body that says one piece of an answer. `grows`: its last word may not be whole yet."""
    words = text.split()
    if grows and words:
        words.pop()
    said = [(int(found[1]), int(found[2])) for word in words if (found := _WORD.fullmatch(word))]
    if len(said) < len(words):
        yield f"nobody said it like this: {text!r}"
    elif said and said != [(said[0][0], number) for number in range(len(said))]:
        yield f"words are lost, doubled or of another attempt: {text!r}"


def count_in(text: str) -> int:
    return len(text.split())
