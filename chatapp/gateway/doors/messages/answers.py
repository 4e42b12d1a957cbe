"""What an assistant message says: thinking, text, calls. Blocks of tools on Anthropic's own side are left out: no other model has them."""

from __future__ import annotations

from collections.abc import Iterator

from ....core.verbatim import encode
from ..asked import Answer, Call, Thought, Words
from ..given import Given

# `cache_control` is about the request that it came in.
_PLACED = ("type", "id", "name", "input", "cache_control")


def answer_of(content: Given) -> Answer:
    if isinstance(content.value, str):
        return Answer(parts=(Words(text=content.text()),) if content.value else ())
    return Answer(parts=tuple(part for block in content.rows() for part in _block(block)))


def _block(block: Given) -> Iterator[Thought | Words | Call]:
    match block.must("type").name():
        case "text":
            text = block.must("text").text()
            yield from [Words(text=text)] if text else []
        case "thinking":
            yield Thought(text=block.must("thinking").text(), seal=block.says("signature"), wire=block.value)
        case "redacted_thinking":
            yield Thought(seal=block.must("data").text(), wire=block.value)
        case "tool_use":
            yield _call(block)
        case _:
            pass


def _call(block: Given) -> Call:
    more = {name: value for name, value in block.value.items() if name not in _PLACED}
    return Call(
        id=block.must("id").name(),
        name=block.must("name").name(),
        arguments=encode(block.take("input", Given.fields) or {}).decode(),
        wire=more or None,
    )
