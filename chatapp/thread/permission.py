"""What a person is asked before a call runs: which tool, what it would do, and with exactly which arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from ..core.decision import shown_hash
from ..core.hosts import Misleading
from ..core.signs.visible import visible, visible_name
from ..pages.elements import item_id
from ..store import asks_of
from ..store.models import Message
from ..tools import Tool
from .item_body import arguments, misleading
from .items_so_far import ItemSoFar

# Longer ones scroll, and say how long they are.
SHORT, FEW_LINES = 600, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCall:
    """`seen`: the hash of what is shown. `arguments`: every sign of them. `size`: how long they are, where they scroll. `hosts`: where
    their addresses lead, if not where it seems."""

    id: str
    item: str
    key: str
    seen: str
    name: str
    wants: str
    arguments: str
    size: str
    hosts: Sequence[Misleading]
    server: str
    description: str
    is_here: bool


def asked_calls(
    row: Message, pieces: Sequence[ItemSoFar], tools: Mapping[str, Tool]
) -> tuple[AskedCall, ...]:
    """In the order in which they were made."""
    asks = set(asks_of(row))
    return tuple(_asked_call(row.pk, piece, tools.get(piece.name)) for piece in pieces if piece.key in asks)


def panel_id(message: UUID, key: str) -> str:
    return f"{item_id(message, key)}-ask"


def in_a_sentence(asks: Sequence[AskedCall]) -> str:
    """For those who listen to the page."""
    if len(asks) == 1:
        return f"Waits for you: {asks[0].name} wants to {asks[0].wants}"
    names = ", ".join(dict.fromkeys(ask.name for ask in asks))
    return f"Waits for you: {len(asks)} calls want to run, {names}"


def _asked_call(message: UUID, call: ItemSoFar, tool: Tool | None) -> AskedCall:
    shown = arguments(call.text)
    return AskedCall(
        id=panel_id(message, call.key),
        item=item_id(message, call.key),
        key=call.key,
        seen=shown_hash(call.text, tool.fingerprint if tool else ""),
        name=visible_name(call.name),
        wants=_wants(tool),
        arguments=shown,
        size=_length_in_words(shown),
        hosts=misleading(call.text),
        server=tool.server if tool else "",
        description=visible(tool.description) if tool else "",
        is_here=tool is not None,
    )


def _wants(tool: Tool | None) -> str:
    """In our own words, where the tool is ours."""
    if tool is None or tool.server or not tool.title:
        return "run"
    return tool.title[0].lower() + tool.title[1:]


def _length_in_words(shown: str) -> str:
    lines = shown.count("\n") + 1
    if len(shown) <= SHORT and lines <= FEW_LINES:
        return ""
    return f"{len(shown):,} characters" + (f" in {lines:,} lines" if lines > 1 else "")
