"""What every format is read into: conversations, one after the other, each with its messages as they come; and what a reader has to
tell of what it could not take as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from ...core.items import Item
from .json_reader import JsonReader

# Moments outside of these years are nobody's.
EARLIEST, LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


class Remark(StrEnum):
    """What was done to make it right, and what cannot come."""

    ORPHAN = "orphan"
    LOOP = "loop"
    TWICE = "twice"
    LATE_PARENT = "late parent"
    ROOTS = "roots"
    HEAD = "head"
    TIME = "time"
    DURATION = "duration"
    NO_QUESTION = "no question"
    NO_RESULT = "no result"
    ENDED = "ended"
    FOR_SHOW = "for show"
    # What cannot come.
    PICTURE = "picture"
    FILE = "file"
    SYSTEM = "system"
    UNKNOWN = "unknown"
    EMPTY = "empty"
    TOOL = "tool"
    TOO_LARGE = "too large"
    SIDE = "side"

    @property
    def is_left_out(self) -> bool:
        return self in _LEFT_OUT


_LEFT_OUT = frozenset(
    {
        Remark.PICTURE,
        Remark.FILE,
        Remark.SYSTEM,
        Remark.UNKNOWN,
        Remark.EMPTY,
        Remark.TOOL,
        Remark.TOO_LARGE,
        Remark.SIDE,
    }
)


@dataclass(slots=True, kw_only=True)
class ToldMessage:
    """`id` and `parent` are the file's own. `author`: who wrote it, in words; None where the format has no word for it. `recorded`: what
    was measured, by the names of our own format."""

    id: str
    parent: str | None
    role: str
    items: list[Item] = field(default_factory=list)
    author: str | None = None
    model: str = ""
    effort: str = ""
    status: str = ""
    at: datetime | None = None
    sent_from: str | None = None
    recorded: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class ToldConversation:
    """Known to its end when its messages have been read. `id`: the other program's; `came_from`: what is told of it beside."""

    id: str = ""
    title: str = ""
    titled_by: str = ""
    instructions: str = ""
    tools: list[Any] = field(default_factory=list)
    program: str = ""
    moments: dict[str, datetime] = field(default_factory=dict)
    head: str | None = None
    forks: dict[str, str] = field(default_factory=dict)
    came_from: dict[str, Any] = field(default_factory=dict)
    remarks: dict[Remark, int] = field(default_factory=dict)

    def note(self, remark: Remark, count: int = 1) -> None:
        if count:
            self.remarks[remark] = self.remarks.get(remark, 0) + count


# Messages are to be read to their end before the next conversation is asked for.
Told = Iterator[tuple[ToldConversation, Iterator[ToldMessage]]]


@dataclass(frozen=True, slots=True)
class FileFormat:
    """`keys`: names of which the first conversation, or the whole, has these; `lines`: a value on each line. `wires`: what it tells of
    wires may go back to a provider, where a model can have made it."""

    name: str
    label: str
    fits: Callable[[frozenset[str], bool], bool]
    read: Callable[[JsonReader], Told]
    wires: bool = False


def moment(value: object) -> datetime | None:
    """Of an epoch with fractions, or ISO text with or without an offset. None where that cannot be."""
    try:
        match value:
            case bool():
                return None
            case int() | float():
                found = datetime.fromtimestamp(value / 1000 if value > 10**11 else value, UTC)
            case str() if 8 <= len(value) <= 40:
                found = datetime.fromisoformat(value)
                found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
            case _:
                return None
    except (ValueError, OverflowError, OSError):
        return None
    return found if EARLIEST <= found < LATEST else None
