"""What a person allowed for a whole conversation, and took back."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.contrib.auth.models import User

from ..database.worded import Worded
from ..models import Conversation, Grant


def load_grants(conversation: UUID) -> list[Grant]:
    return _GRANTS.rows(conversation)


_GRANTS = Worded(
    lambda conversation: (
        Grant.objects.filter(conversation=conversation).select_related("by").order_by("tool")
    ),
    UUID,
)


def give(conversation: UUID, tool: str, fingerprint: str, by: User) -> None:
    given = {"fingerprint": fingerprint, "by": by}
    Grant.objects.update_or_create(conversation_id=conversation, tool=tool, defaults=given)


def take_back(conversation: UUID, tool: str) -> None:
    Grant.objects.filter(conversation=conversation, tool=tool).delete()


def granted(conversation: Conversation) -> dict[str, str]:
    """The fingerprints of the allowed tools, by name."""
    return holding(load_grants(conversation.pk), conversation)


def holding(grants: Iterable[Grant], conversation: Conversation) -> dict[str, str]:
    """Only the owner's word counts."""
    return {row.tool: row.fingerprint for row in grants if row.by_id == conversation.owner_id}
