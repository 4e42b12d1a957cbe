"""The ids of elements that a stream changes: made from the message's id and the item's key, here and nowhere else."""

from __future__ import annotations

import re
from uuid import UUID

_STRANGE = re.compile(r"[^A-Za-z0-9_-]")


def message_id(message: UUID | str) -> str:
    return f"m-{message}"


def item_id(message: UUID | str, key: str) -> str:
    """Keys are any printable signs; two different ones never share an id."""
    return f"m-{message}-i-{_STRANGE.sub(lambda sign: f'.{ord(sign[0]):x}.', key)}"


def body_id(item: str) -> str:
    """Inside the element of an item that has a heading: going there opens it."""
    return f"{item}-b"
