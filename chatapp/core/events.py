"""What a running turn says, in the order in which it says it: to the draft, to those who watch, to scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from .items import Item, Kind, clean

LONGEST_REASON, MOST_REASONS = 100, 10


class Finish(StrEnum):
    """Why a model's response ended."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CUT = "cut"
    FILTER = "filter"
    REFUSAL = "refusal"
    PAUSE = "pause"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request went out; `round` counts the model's responses inside the message."""

    round: int


@dataclass(frozen=True, slots=True)
class ItemStarted:
    key: str
    kind: Kind
    name: str = ""
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class ItemDelta:
    """`refuses`: the words refuse, in a protocol that tells such words apart."""

    key: str
    text: str
    refuses: bool = False


@dataclass(frozen=True, slots=True)
class ItemDone:
    item: Item


@dataclass(frozen=True, slots=True)
class ItemAmended:
    """What goes back of a finished item has grown; what it says has not."""

    item: Item


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one response; None where the provider did not say. `input` includes the cached ones,
    `output` includes the reasoning."""

    input: int | None = None
    cached: int | None = None
    cache_written: int | None = None
    output: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class ResponseEnded:
    finish: Finish


@dataclass(frozen=True, slots=True)
class Skipped:
    """A frame that nobody could read was left out."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """The provider took thoughts out of the request by itself: so many for each of its reasons."""

    reasons: Mapping[str, int]

    @classmethod
    def of(cls, reasons: Iterable[str]) -> Withheld:
        """They are its own words, and may be anything."""
        return cls(
            dict(Counter(clean(reason[:LONGEST_REASON]) for reason in reasons).most_common(MOST_REASONS))
        )


@dataclass(frozen=True, slots=True)
class Retrying:
    """The provider could not answer yet; the same request goes out again after `seconds`. `lost`: keys of thoughts that
    were seen, and are no part of the answer."""

    seconds: float
    sentence: str
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Repaired:
    """The provider refused the request as it was; it goes out again, changed as `how` says."""

    how: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Saving:
    """What was said is kept, and cannot be stored at the moment."""

    sentence: str


@dataclass(frozen=True, slots=True)
class ItemsStored:
    """These items are rows now; the draft lets go of them."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnEnded:
    status: str
    sentence: str = ""


Event = (
    Asked
    | ItemStarted
    | ItemDelta
    | ItemDone
    | ItemAmended
    | Usage
    | ResponseEnded
    | Skipped
    | Withheld
    | Retrying
    | Repaired
    | Saving
    | ItemsStored
    | TurnEnded
)

NAMES: dict[type[Any], str] = {
    Asked: "asked",
    ItemStarted: "item_started",
    ItemDelta: "item_delta",
    ItemDone: "item_done",
    ItemAmended: "item_amended",
    Usage: "usage",
    ResponseEnded: "response_ended",
    Skipped: "skipped",
    Withheld: "withheld",
    Retrying: "retrying",
    Repaired: "repaired",
    Saving: "saving",
    ItemsStored: "items_stored",
    TurnEnded: "turn_ended",
}


def as_dict(event: Event) -> dict[str, Any]:
    """Plain values for a line of JSON. What providers sent stays behind: nobody who watches needs it."""
    values = {f.name: getattr(event, f.name) for f in fields(event)}
    if isinstance(event, ItemDone | ItemAmended):
        item = event.item
        values = {"key": item.key, "kind": item.kind, "text": item.text, "round": item.round, "cut": item.cut}
        values |= {"name": item.name, "call_id": item.call_id, "outcome": item.outcome}
    return {"event": NAMES[type(event)], **values}
