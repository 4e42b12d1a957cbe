"""What an assistant message says: thinking, text, calls, and what tools on Anthropic's own side did."""

from __future__ import annotations

from collections.abc import Iterator

from ....core.values import Json
from ....core.verbatim import encode
from ..asked import ToldAnswer, ToldCall, ToldOther, ToldThought, ToldWords
from ..given import Given

# `cache_control` is about the request that it came in.
_PLACED = frozenset({"type", "id", "name", "input", "cache_control"})


def answer_of(content: Given) -> ToldAnswer:
    if isinstance(content.value, str):
        return ToldAnswer(parts=(ToldWords(text=content.text()),) if content.value else ())
    return ToldAnswer(parts=tuple(part for block in content.rows() for part in _block(block)))


def _block(block: Given) -> Iterator[ToldThought | ToldWords | ToldCall | ToldOther]:
    match block.must("type").name():
        case "text":
            text = block.must("text").text()
            yield from [ToldWords(text=text)] if text else []
        case "thinking":
            yield ToldThought(
                text=block.must("thinking").text(), seal=block.says("signature"), wire=block.value
            )
        case "redacted_thinking":
            yield ToldThought(seal=block.must("data").text(), wire=block.value)
        case "tool_use":
            yield _call(block)
        case _:
            yield ToldOther(wire=block.value, id=block.says("id"))


def _call(block: Given) -> ToldCall:
    return ToldCall(
        id=block.must("id").name(),
        name=block.must("name").name(),
        arguments=encode(block.take("input", Given.fields) or {}).decode(),
        wire=_wire(block.value),
    )


def _wire(block: Json) -> Json | None:
    """Where more came with it."""
    if block.keys() <= _PLACED:
        return None
    return {"input": {}} | {name: value for name, value in block.items() if name != "cache_control"}
