"""Reads what the map shows of some messages: their rows, and how each of them begins. Never a thought's text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Case, When
from django.db.models.functions import Substr

from ...core.items import Kind
from ...store.models import Item, Message

BEGINNING = 400
# What a program says in a role of its own stands in the wire of a question.
_IS_PERSONS = Case(When(kind=Kind.USER_MESSAGE, wire=None, then=1), default=0)


@dataclass(frozen=True, slots=True)
class Beginning:
    row: Message
    text: str


def load_beginnings(messages: Sequence[UUID]) -> list[Beginning]:
    """In the order asked for."""
    fields = ("role", "status", "model", "metadata", "created_at")
    rows = Message.objects.only(*fields).in_bulk(messages)
    spoken = Item.objects.filter(
        message__in=messages, kind__in=(Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE)
    ).order_by(_IS_PERSONS, "-seq")
    texts = dict(spoken.values_list("message", Substr("text", 1, BEGINNING)))
    return [Beginning(rows[pk], texts.get(pk, "")) for pk in messages if pk in rows]
