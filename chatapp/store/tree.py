"""Writes the tree: conversations, questions and the empty answers below them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from ..core.items import ITEM_CAP, Kind, clean
from ..models import LIVE, Conversation, Item, Message, Role, Status
from .changes import tell


class Refused(Exception):
    """What was asked for cannot be done; the words are for the person."""


@dataclass(frozen=True, slots=True)
class Started:
    """A question and the answer that is still to come."""

    conversation: UUID
    question: UUID
    answer: UUID


def start_conversation(owner: Any, *, tools: list[str], instructions: str = "") -> Conversation:
    return Conversation.objects.create(owner=owner, tools=tools, instructions=clean(instructions))


@transaction.atomic
def start_turn(
    conversation: UUID,
    text: str,
    *,
    parent: UUID | None,
    model: str,
    effort: str = "",
    runner: str = "",
    author: Any,
) -> Started:
    """A question below `parent` and its queued answer; the head moves there."""
    words = clean(text).strip()
    if not words:
        raise Refused("Write a question first.")
    if len(words.encode()) > ITEM_CAP:
        raise Refused("The question is too long: at most 4 MiB.")
    order = _take_orders(conversation, 2)
    _refuse_bad_parent(conversation, parent)
    question = Message.objects.create(
        conversation_id=conversation, parent_id=parent, order=order, role=Role.USER, author=author, next_seq=1
    )
    Item.objects.create(message=question, seq=0, key="part-0", kind=Kind.USER_MESSAGE, text=words)
    answer = _start_answer(question, order + 1, model=model, effort=effort, runner=runner)
    return Started(conversation, question.id, answer.id)


@transaction.atomic
def open_conversation(
    owner: Any,
    text: str,
    *,
    tools: list[str],
    model: str,
    effort: str = "",
    runner: str = "",
    instructions: str = "",
) -> Started:
    """A conversation with its first question, or nothing at all."""
    conversation = start_conversation(owner, tools=tools, instructions=instructions)
    return start_turn(
        conversation.id, text, parent=None, model=model, effort=effort, runner=runner, author=owner
    )


@transaction.atomic
def start_answer(question: UUID, *, model: str, effort: str = "", runner: str = "") -> Started:
    """Another answer to the same question, beside those it has."""
    row = Message.objects.filter(pk=question, role=Role.USER).first()
    if row is None:
        raise Refused("That question is not there any more.")
    order = _take_orders(row.conversation_id, 1)
    answer = _start_answer(row, order, model=model, effort=effort, runner=runner)
    return Started(row.conversation_id, row.id, answer.id)


def move_head(conversation: UUID, message: UUID) -> None:
    if not Message.objects.filter(pk=message, conversation=conversation).exists():
        raise Refused("That message is not in this conversation.")
    Conversation.objects.filter(pk=conversation).update(head=message, updated_at=timezone.now())
    tell(conversation, "head moved", message)


def _start_answer(question: Message, order: int, *, model: str, effort: str, runner: str) -> Message:
    answer = Message.objects.create(
        conversation_id=question.conversation_id,
        parent=question,
        order=order,
        role=Role.ASSISTANT,
        model=model,
        effort=effort,
        status=Status.QUEUED,
        runner=runner,
        touched_at=timezone.now(),
    )
    move_head(question.conversation_id, answer.id)
    tell(question.conversation_id, "turn queued", answer.id)
    return answer


def _take_orders(conversation: UUID, count: int) -> int:
    """The first of `count` new sibling numbers. The update also locks the conversation for this transaction."""
    if not Conversation.objects.filter(pk=conversation).update(next_order=F("next_order") + count):
        raise Refused("That conversation is not there any more.")
    return Conversation.objects.values_list("next_order", flat=True).get(pk=conversation) - count


def _refuse_bad_parent(conversation: UUID, parent: UUID | None) -> None:
    if parent is None:
        return
    row = Message.objects.filter(pk=parent, conversation=conversation).first()
    if row is None:
        raise Refused("The message to answer to is not in this conversation.")
    if row.role != Role.ASSISTANT:
        raise Refused("A question can only follow an answer.")
    if row.status in LIVE:
        raise Refused("This answer is still being written. Stop it, or wait until it has ended.")
