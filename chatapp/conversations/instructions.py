"""Writes what a conversation's model is told before everything else."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from ..core.items import clean
from ..store.models import LIVE, Conversation, Message
from ..store.tree import Refused


@transaction.atomic
def save_instructions(conversation: UUID, text: str) -> None:
    """Not while an answer is written: its rounds must all begin alike."""
    row = Conversation.objects.select_for_update().get(pk=conversation)
    if Message.objects.filter(conversation=row, status__in=LIVE).exists():
        raise Refused("An answer is being written here. Change the instructions when it has ended.")
    row.instructions = clean(text)
    row.save(update_fields=["instructions"])
