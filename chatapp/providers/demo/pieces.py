"""What one response of the demo is made of, and what goes back to it of each piece."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thought:
    text: str


@dataclass(frozen=True, slots=True)
class Words:
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    argument: str
    value: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Here the response breaks off. `raw` is what a provider would have said."""

    sentence: str
    raw: str


Said = Thought | Words | Call
Piece = Said | Failure


def as_wire(piece: Said, call_id: str = "") -> dict[str, object]:
    """The demo knows its own thoughts again by this."""
    match piece:
        case Thought():
            return {"type": "thought", "text": piece.text}
        case Words():
            return {"type": "words", "text": piece.text}
        case Call():
            arguments = {piece.argument: piece.value}
            return {"type": "call", "call_id": call_id, "name": piece.name, "arguments": arguments}
