"""What a file says of a provider, and the provider cannot have said, is kept for show: it speaks a dialect that nobody is asked in.
That stands with the item itself, so it stays so wherever the item is copied to."""

from __future__ import annotations

from dataclasses import replace

from ...core.history import FOR_SHOW
from ...core.items import Item


def for_show(item: Item) -> Item:
    return replace(item, dialect=f"{FOR_SHOW}{item.dialect}"[:32])


def original(item: Item) -> Item:
    """As the file had it."""
    return replace(item, dialect=item.dialect.removeprefix(FOR_SHOW))
