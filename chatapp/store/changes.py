"""Says inside the transaction that something became true, so that whoever carries news can carry it on commit."""

from __future__ import annotations

from uuid import UUID

from django.dispatch import Signal

from ..models import Conversation

# Receivers get `conversation` (its id), `owner` (their id), `message` (an id or None) and `what`.
changed = Signal()


def tell(conversation: UUID, what: str, message: UUID | None = None) -> None:
    owner = Conversation.objects.values_list("owner_id", flat=True).filter(pk=conversation).first()
    changed.send(sender=None, conversation=conversation, owner=owner, message=message, what=what)
