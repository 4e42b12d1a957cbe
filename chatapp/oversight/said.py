"""What an item says in a transcript: its kind with its duration, and its text as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..core.decision import Decided
from ..core.durations import in_short, thought_in_words
from ..core.items import Kind
from ..core.pretty_json import pretty_result
from ..core.visible import Leave, visible, visible_name
from ..thread.bodies import arguments
from ..thread.pieces import Piece

MOST_SIGNS = 20_000
_NAMES = {Kind.USER_MESSAGE: "Question", Kind.ASSISTANT_MESSAGE: "Answer"}


@dataclass(frozen=True, slots=True)
class Said:
    """`more`: so many signs of it stand only where the message is shown whole."""

    kind: str
    head: str
    text: str
    more: int = 0


def said_of(pieces: Sequence[Piece], *, whole: bool) -> list[Said]:
    return [_said(kind, head, text, whole) for piece in pieces for kind, head, text in _parts(piece)]


def _parts(piece: Piece) -> Iterator[tuple[str, str, str]]:
    """Kind, head and text; a call is followed by its result."""
    match piece.kind:
        case Kind.REASONING:
            yield piece.kind, thought_in_words(piece.ms, cut=piece.cut), piece.text
        case Kind.TOOL_CALL:
            yield piece.kind, f"Call of {visible_name(piece.name)}", arguments(piece.text)
            if piece.result:
                yield from _parts(piece.result)
        case Kind.TOOL_RESULT:
            yield piece.kind, _result(piece), pretty_result(piece.text)
        case Kind.PERMISSION_DECISION:
            yield piece.kind, _decided(piece.decided), ""
        case Kind.USER_MESSAGE | Kind.ASSISTANT_MESSAGE:
            head = _NAMES[piece.kind]
            yield piece.kind, f"{head}, {piece.cut}" if piece.cut else head, piece.text


def _result(piece: Piece) -> str:
    took = "" if piece.ms is None else f" after {in_short(piece.ms, tenths=True)}"
    return f"Result{took}: {piece.outcome}" if piece.outcome else f"Result{took}"


def _decided(decided: Decided | None) -> str:
    if decided is None:
        return "Permission"
    return f"Permission: {decided.decision}, by {visible(decided.name)} at {visible(decided.at)}"


def _said(kind: str, head: str, text: str, whole: bool) -> Said:
    shown = text if whole else text[:MOST_SIGNS]
    return Said(kind, visible(head), visible(shown, Leave.PROSE), len(text) - len(shown))
