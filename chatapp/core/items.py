"""Items: the finished pieces a message is made of, and the keys that name them inside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Json = Any

ITEM_CAP = 4 * 1024 * 1024
KEY_CAP = 200


class Kind(StrEnum):
    USER_MESSAGE = "user_message"
    REASONING = "reasoning"
    ASSISTANT_MESSAGE = "assistant_message"
    TOOL_CALL = "tool_call"
    PERMISSION_DECISION = "permission_decision"
    TOOL_RESULT = "tool_result"


FROM_MODEL = frozenset({Kind.REASONING, Kind.ASSISTANT_MESSAGE, Kind.TOOL_CALL})


class Outcome(StrEnum):
    """How a tool call ended."""

    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    DENIED = "denied"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """`text` is for people: words, a call's arguments as the model wrote them, a result.
    `wire` is for the provider that made it: exactly what it sent, never interpreted elsewhere."""

    key: str
    kind: Kind
    text: str = ""
    wire: Json = None
    provider: str = ""
    dialect: str = ""
    model: str = ""
    round: int = 0
    cut: bool = False
    call_id: str = ""
    name: str = ""
    outcome: str = ""


class KeyMaker:
    """Names the items of one message in the order in which they start."""

    def __init__(self, used: Iterable[str] = ()) -> None:
        self._used = set(used)
        self._started = len(self._used)

    def take(self, item_id: object = None) -> str:
        """The provider's id where it can be a key and is new here, else `part-<n>`."""
        key = (
            item_id
            if isinstance(item_id, str) and _is_right_id(item_id) and item_id not in self._used
            else self._part()
        )
        self._used.add(key)
        self._started += 1
        return key

    def _part(self) -> str:
        n = self._started
        while f"part-{n}" in self._used:
            n += 1
        return f"part-{n}"


def _is_right_id(item_id: str) -> bool:
    return 1 <= len(item_id) <= KEY_CAP and item_id.isascii() and item_id.isprintable()


def clean(text: str) -> str:
    """Text that any database and any page can hold: no U+0000, no lone surrogates."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
