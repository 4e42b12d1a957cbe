"""Permissions as items: who decided what about which call, and about exactly which arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from .items import Item, Kind


class Decision(StrEnum):
    ONCE = "once"
    CONVERSATION = "conversation"
    DENIED = "denied"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """`call` is the key of the call's item; `at` a moment as ISO text."""

    call: str
    decision: Decision
    by: str
    name: str
    at: str
    arguments_hash: str


def arguments_hash(arguments: str) -> str:
    return sha256(arguments.encode("utf-8", "surrogatepass")).hexdigest()


def shown_hash(arguments: str, fingerprint: str) -> str:
    """Of everything a person saw before deciding: the arguments, and what the tool says it is."""
    return sha256(f"{arguments_hash(arguments)} {fingerprint}".encode()).hexdigest()


def decision_item(key: str, call: Item, decided: Decided) -> Item:
    facts = {name: getattr(decided, name) for name in Decided.__slots__}
    return Item(
        key=key,
        kind=Kind.PERMISSION_DECISION,
        text=decided.decision,
        wire=facts,
        round=call.round,
        call_id=call.call_id,
        name=call.name,
    )


def decisions_by_call(items: Iterable[Item]) -> dict[str, Decided]:
    """What was decided, by the key of the call; the first decision counts."""
    made: dict[str, Decided] = {}
    for item in items:
        decided = read_decision(item)
        if decided:
            made.setdefault(decided.call, decided)
    return made


def read_decision(item: Item) -> Decided | None:
    """It may have come from anywhere: what is no decision of ours counts as none."""
    facts = item.wire
    if item.kind is not Kind.PERMISSION_DECISION or not isinstance(facts, Mapping):
        return None
    words = {name: value for name, value in facts.items() if isinstance(value, str)}
    if words.get("decision") not in list(Decision) or not words.keys() >= set(Decided.__slots__):
        return None
    return Decided(
        call=words["call"],
        decision=Decision(words["decision"]),
        by=words["by"],
        name=words["name"],
        at=words["at"],
        arguments_hash=words["arguments_hash"],
    )
