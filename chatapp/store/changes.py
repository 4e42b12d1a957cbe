"""Says inside the transaction that something became true, so that whoever carries news can carry it on commit."""

from __future__ import annotations

from uuid import UUID

from django.dispatch import Signal

# Receivers get `conversation` (its id), `message` (an id or None) and `what`.
changed = Signal()


def tell(conversation: UUID, what: str, message: UUID | None = None) -> None:
    changed.send(sender=None, conversation=conversation, message=message, what=what)
