"""What a running turn does at the moment, by its draft."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ...core.draft import Draft, DraftItem
from ...core.items import Kind
from ...turns.state import SAVING


class Does(StrEnum):
    THINKS = "thinks"
    WRITES = "writes"
    CALLS = "calls"
    # Nothing has come yet.
    ASKS = "asks"
    # Its provider is busy, or the database takes nothing.
    RETRIES = "retries"
    SAVES = "saves"


_BY_KIND = {
    Kind.REASONING: Does.THINKS,
    Kind.ASSISTANT_MESSAGE: Does.WRITES,
    Kind.TOOL_CALL: Does.WRITES,
    Kind.TOOL_RESULT: Does.CALLS,
}


@dataclass(frozen=True, slots=True)
class Doing:
    """For so many milliseconds; `name`: the tool that it calls."""

    does: Does
    ms: int
    name: str = ""


def doing(draft: Draft, elapsed: float) -> Doing:
    pieces = tuple(draft.pieces.values())
    if draft.waits:
        does = Does.SAVES if draft.waits.startswith(SAVING) else Does.RETRIES
        return Doing(does, _since(draft.at, elapsed))
    for piece in reversed(pieces):
        if piece.done is None and piece.kind in _BY_KIND:
            span = draft.clock.spans.get(piece.key)
            since = span.start if span else draft.at
            return Doing(_BY_KIND[piece.kind], _since(since, elapsed), _tool(piece, pieces))
    return Doing(Does.ASKS, _since(draft.at, elapsed))


def _tool(piece: DraftItem, pieces: tuple[DraftItem, ...]) -> str:
    if piece.kind is not Kind.TOOL_RESULT:
        return ""
    called = (each.name for each in pieces if each.kind is Kind.TOOL_CALL and each.call_id == piece.call_id)
    return piece.name or next(called, "")


def _since(at: float, elapsed: float) -> int:
    return max(0, round(elapsed - at))
