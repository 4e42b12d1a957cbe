"""A message as Markdown, as it was written: what the reader takes elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..core.durations import thought_in_words
from ..core.items import Item, Kind
from ..store.models import Message
from .items_so_far import items_so_far
from .whole_text import as_whole_texts


def as_markdown(row: Message, items: Iterable[Item], *, thoughts: bool = False) -> str:
    """Its words; with thoughts also these, quoted under how long they took, and which tools were called. What was cut and went on is
    one text, and a thought that came in between stands above it: a quote would part what it stands in."""
    return "\n\n".join(_parts(row, items, thoughts=thoughts))


def _parts(row: Message, items: Iterable[Item], *, thoughts: bool) -> Iterator[str]:
    for piece in as_whole_texts(items_so_far(row, items)):
        if piece.whole:
            yield from piece.whole.said[-1:] if piece.whole.is_last else ()
        elif piece.kind in (Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE) and not piece.role:
            yield piece.text
        elif thoughts and piece.kind is Kind.REASONING:
            yield _quoted(f"**{thought_in_words(piece.ms, cut=piece.cut)}**", piece.text)
        elif thoughts and piece.kind is Kind.TOOL_CALL:
            yield f"> **Called** {_as_code(piece.name or 'a tool')}"


def _quoted(heading: str, text: str) -> str:
    lines = [heading, *(["", *text.splitlines()] if text.strip() else [])]
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _as_code(name: str) -> str:
    """As code, whatever backticks it holds."""
    line = " ".join(name.split())
    fence = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    return f"{fence} {line} {fence}" if "`" in line else f"`{line}`"
