"""Who looked at whose conversation: written before they see it, and read by its owner."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.contrib.auth.models import User

from ...store.database.worded import Worded
from ...store.models import Conversation
from ..models import Look

MOST_SHOWN = 200


def append_looks(who: User, conversations: Collection[UUID], what: Look.What, *, address: str) -> None:
    """One row for each of these conversations. One's own leave none."""
    others = Conversation.objects.filter(pk__in=conversations).exclude(owner=who)
    name = who.get_username()
    Look.objects.bulk_create(
        Look(who=who, name=name, conversation_id=pk, what=what, address=address)
        for pk in others.values_list("pk", flat=True)
    )


def looks_at(conversation: UUID) -> list[Look]:
    """The newest first."""
    return _LOOKS.rows(conversation)


_LOOKS = Worded(
    lambda conversation: Look.objects.filter(conversation=conversation).order_by("-at", "-pk")[:MOST_SHOWN],
    UUID,
)
