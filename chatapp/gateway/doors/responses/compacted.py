"""What a conversation was made shorter to: a summary in a model's words, in an item that the program carries along. Nothing of it is
kept here, so any key of any house reads it, for any model."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from typing import Any

from ....core.items import clean
from ..given import Given

OURS = "thoughtline.1."
CONTENT = "encrypted_content"
BEFORE = "Here is a summary of what was said before. It stands in the place of all that it tells of:"


def packed(summary: str) -> str:
    return OURS + urlsafe_b64encode(clean(summary).encode()).decode()


def compaction_item(item_id: str, summary: str) -> dict[str, Any]:
    return {"id": item_id, "type": "compaction", CONTENT: packed(summary)}


def summary_in(item: Given) -> str | None:
    """In words for a model; None where the item is a provider's own."""
    content = item.says(CONTENT)
    if not content.startswith(OURS):
        return None
    return f"{BEFORE}\n\n{_unpacked(item.must(CONTENT), content[len(OURS) :])}"


def _unpacked(given: Given, content: str) -> str:
    try:
        return clean(urlsafe_b64decode(content.encode("ascii")).decode())
    except (Error, ValueError):
        raise given.wrong("is not whole: send the compaction as it came") from None
