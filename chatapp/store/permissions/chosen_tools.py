"""Which tools a conversation's models are offered: frozen as they were described when somebody chose them, since everything
that is sent must begin alike from turn to turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from ..models import LIVE, Conversation, Message
from ..tree import Refused, refuse_to_write

MOST_TOOLS = 128


@transaction.atomic
def choose_tools(conversation: UUID, chosen: Sequence[Mapping[str, Any]]) -> None:
    """Not while an answer is written: its rounds must all begin alike. A tool that was on already keeps the words it had."""
    row = Conversation.objects.select_for_update().get(pk=conversation)
    refuse_to_write(row)
    if Message.objects.filter(conversation=row, status__in=LIVE).exists():
        raise Refused("An answer is being written here. Change the tools when it has ended.")
    if len(chosen) > MOST_TOOLS:
        raise Refused(f"At most {MOST_TOOLS} tools can be on in one conversation.")
    before = {definition["name"]: definition for definition in definitions_of(row)}
    wanted = [dict(definition) for definition in chosen]
    row.tools = [_as_first_chosen(before.get(definition["name"]), definition) for definition in wanted]
    row.save(update_fields=["tools"])


def _as_first_chosen(before: dict[str, Any] | None, now: dict[str, Any]) -> dict[str, Any]:
    return now if before is None or "schema" not in before else before


def definitions_of(conversation: Conversation) -> list[dict[str, Any]]:
    """A name alone, as older rows have it, is a tool described as it is now."""
    entries = conversation.tools if isinstance(conversation.tools, list) else []
    named = [{"name": entry} if isinstance(entry, str) else entry for entry in entries]
    return [entry for entry in named if isinstance(entry, dict) and isinstance(entry.get("name"), str)]


def names_of(conversation: Conversation) -> list[str]:
    return [definition["name"] for definition in definitions_of(conversation)]
