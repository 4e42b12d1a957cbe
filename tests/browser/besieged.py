"""Rows full of hostile text: as question, thought, call, result and answer, as an error's words, as a title."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from uuid import uuid4

from django.contrib.auth.models import User
from django.utils import timezone

from chatapp.core.items import Kind, clean
from chatapp.store.models import Conversation, Item, Message, Role, Status

AT_ONCE = 16


def items_of(owner: str, attacks: Sequence[str]) -> str:
    """A conversation in which each text stands in every kind of item."""
    row = _conversation(owner, "Besieged")
    messages: list[Message] = []
    items: list[Item] = []
    for first in range(0, len(attacks), AT_ONCE):
        some = attacks[first : first + AT_ONCE]
        question = _below(messages, row, Role.USER)
        items.append(_item(question, 0, Kind.USER_MESSAGE, "\n\n".join(some)))
        answer = _below(messages, row, Role.ASSISTANT)
        seqs = count()
        for attack in some:
            call = {"name": attack, "call_id": attack[:50]}
            items.append(_item(answer, next(seqs), Kind.REASONING, attack))
            items.append(_item(answer, next(seqs), Kind.TOOL_CALL, attack, **call))
            items.append(_item(answer, next(seqs), Kind.TOOL_RESULT, attack, outcome="done", **call))
            items.append(_item(answer, next(seqs), Kind.ASSISTANT_MESSAGE, attack))
        answer.next_seq = next(seqs)
    return _stored(row, messages, items)


def failures(owner: str, attacks: Sequence[str]) -> str:
    """A conversation in which each answer failed with such words."""
    row = _conversation(owner, "Failing")
    messages: list[Message] = []
    items: list[Item] = []
    for attack in attacks:
        question = _below(messages, row, Role.USER)
        items.append(_item(question, 0, Kind.USER_MESSAGE, "Why?"))
        answer = _below(messages, row, Role.ASSISTANT)
        answer.status, answer.next_seq = Status.FAILED, 0
        answer.metadata = {"ended": {"reason": "refused", "sentence": clean(attack), "raw": clean(attack)}}
    return _stored(row, messages, items)


def titles(owner: str, attacks: Sequence[str]) -> None:
    """A conversation of each title."""
    whose = User.objects.get(username=owner)
    rows = [Conversation(owner=whose, title=clean(attack)[:200], titled_by="person") for attack in attacks]
    Conversation.objects.bulk_create(rows)


def _conversation(owner: str, title: str) -> Conversation:
    return Conversation.objects.create(
        owner=User.objects.get(username=owner), title=title, titled_by="person"
    )


def _below(messages: list[Message], row: Conversation, role: str) -> Message:
    message = Message(id=uuid4(), conversation=row, role=role, order=len(messages), next_seq=1)
    message.parent = messages[-1] if messages else None
    message.author = row.owner
    message.created_at = timezone.now()
    message.model = "openai:gpt-5" if role == Role.ASSISTANT else ""
    messages.append(message)
    return message


def _item(message: Message, seq: int, kind: Kind, text: str, **more: str) -> Item:
    cleaned = {name: clean(value) for name, value in more.items()}
    return Item(message=message, seq=seq, key=f"part-{seq}", kind=kind, text=clean(text), **cleaned)


def _stored(row: Conversation, messages: list[Message], items: list[Item]) -> str:
    Message.objects.bulk_create(messages)
    Item.objects.bulk_create(items)
    Conversation.objects.filter(pk=row.pk).update(head=messages[-1], next_order=len(messages))
    return str(row.pk)
