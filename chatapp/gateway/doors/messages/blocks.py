"""A piece of a response as a block of the Messages API: how it begins, how it ends, and what it is as a whole."""

from __future__ import annotations

from ....core.items import Kind
from ....core.values import Json, fields, word
from ....core.verbatim import encode
from ....providers.anthropic.stream import arguments_object
from ..handed import Handed
from ..in_turn import ToldPiece
from .tools import DIALECT

REDACTED = "redacted_thinking"
# The delta by which a block grows, and the field that holds its words there.
GROWTH = {
    Kind.REASONING: ("thinking_delta", "thinking"),
    Kind.ASSISTANT_MESSAGE: ("text_delta", "text"),
    Kind.TOOL_CALL: ("input_json_delta", "partial_json"),
}


def opening(piece: ToldPiece, handed: Handed) -> Json:
    match piece.kind:
        case Kind.REASONING if is_redacted(piece):
            return {"type": REDACTED, "data": handed.seal(piece.key, _sealed(piece))}
        case Kind.REASONING:
            return {"type": "thinking", "thinking": "", "signature": ""}
        case Kind.TOOL_CALL:
            return {
                "type": "tool_use",
                "id": handed.item("toolu_", piece.key),
                "name": piece.name,
                "input": {},
            }
        case _:
            return {"type": "text", "text": ""}


def growth(kind: Kind, words: str) -> Json:
    type_, name = GROWTH[kind]
    return {"type": type_, name: words}


def signature(piece: ToldPiece, handed: Handed, *, hidden: bool) -> Json:
    """What was sealed with words that its program does not see does not hold without them: only what is kept here can go back then."""
    real = "" if hidden and piece.text else _sealed(piece)
    return {"type": "signature_delta", "signature": handed.seal(piece.key, real)}


def arguments(piece: ToldPiece) -> str:
    """An object whatever the model wrote: clients give up on any other."""
    return encode(arguments_object(piece.text)).decode()


def whole(piece: ToldPiece, handed: Handed, *, hidden: bool) -> Json:
    """`hidden`: without the words of thoughts."""
    block = opening(piece, handed)
    match block["type"]:
        case "thinking":
            sealed = signature(piece, handed, hidden=hidden)["signature"]
            return block | {"thinking": "" if hidden else piece.text, "signature": sealed}
        case "tool_use":
            return block | {"input": arguments_object(piece.text)}
        case "text":
            return block | {"text": piece.text}
        case _:
            return block


def is_redacted(piece: ToldPiece) -> bool:
    return _wire(piece).get("type") == REDACTED and not (piece.told or piece.waiting)


def _sealed(piece: ToldPiece) -> str:
    wire = _wire(piece)
    return word(wire.get("data" if is_redacted(piece) else "signature"))


def _wire(piece: ToldPiece) -> Json:
    return fields(piece.item.wire) if piece.item and piece.item.dialect == DIALECT else {}
