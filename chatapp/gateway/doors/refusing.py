"""Refusals: words that two protocols tell apart from all others, each in its own way."""

from __future__ import annotations

from ...core.items import Item
from ...core.values import fields, rows, word

REFUSAL = "refusal"


def refuses(item: Item) -> bool:
    """Whether its model said so, in whichever of them."""
    wire = fields(item.wire)
    content = rows(wire.get("content"))
    return bool(word(wire.get(REFUSAL))) or (
        bool(content) and all(part.get("type") == REFUSAL for part in content)
    )
