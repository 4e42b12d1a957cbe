"""Proves that every fork says truly where it came from."""

from __future__ import annotations

from collections.abc import Iterator

from ..store.verify import ALSO, SOME
from .models import Origin


def fork_breaches() -> Iterator[str]:
    said = ("conversation_id", "conversation__forked_from_id", "message_id")
    rows = Origin.objects.values_list(*said, "source_id", "message__conversation_id")
    for fork, taken_from, message, source, place in rows.iterator(SOME):
        if taken_from != message:
            yield f"Conversation {fork}: it was forked from {taken_from}, and its origin says {message}."
        if message and place != source:
            yield f"Conversation {fork}: its origin is message {message}, which is not in conversation {source}."


ALSO.append(fork_breaches)
