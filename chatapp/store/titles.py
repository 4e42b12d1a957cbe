"""The title of a conversation: first the question's words, then the model's, and a person's above all."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from ..core.items import Kind
from ..core.titles import TITLE_CAP, first_words, one_line
from .changes import tell
from .models import Conversation, Item, Message, Role, Status, TitledBy
from .tree import Refused

# A server that was switched off for longer does not ask for what nobody waits for.
RECENT = timedelta(days=1)
MOST_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a model needs to find a title, and the words that stand there until it has."""

    model: str
    words: str
    question: str
    answer: str


@transaction.atomic
def retitle(conversation: UUID, title: str) -> None:
    """A person's title; without any it is found again."""
    line = one_line(title)
    if len(line) > TITLE_CAP:
        raise Refused(f"A title has at most {TITLE_CAP} signs.")
    by = TitledBy.PERSON if line else TitledBy.WORDS
    rows = Conversation.objects.filter(pk=conversation)
    rows.update(title=line or first_words(_first_question(conversation)), titled_by=by)
    tell(conversation, "titled")


def load_untitled(*, also: Collection[UUID] = ()) -> list[UUID]:
    """Conversations, recent or named here, that have an answer and only words for a title."""
    answers = Message.objects.filter(conversation=OuterRef("pk"), status=Status.COMPLETE, deletion=None)
    rows = Conversation.objects.filter(
        Q(updated_at__gt=timezone.now() - RECENT) | Q(pk__in=also), titled_by=TitledBy.WORDS, deleted_at=None
    )
    found = rows.filter(Exists(answers.filter(role=Role.ASSISTANT))).order_by("-updated_at")
    return list(found.values_list("pk", flat=True)[:MOST_AT_ONCE])


@transaction.atomic
def claim_title(conversation: UUID) -> Exchange | None:
    """Leaves the title to the model, once: of several processes who see that it is missing, one asks."""
    rows = Conversation.objects.filter(pk=conversation, titled_by=TitledBy.WORDS)
    if not rows.update(titled_by=TitledBy.MODEL):
        return None
    answers = Message.objects.filter(
        conversation=conversation, role=Role.ASSISTANT, status=Status.COMPLETE, deletion=None
    )
    answer = answers.order_by("order").first()
    if answer is None or answer.parent_id is None:
        return None
    words = Conversation.objects.values_list("title", flat=True).get(pk=conversation)
    return Exchange(answer.model, words, _message_text(answer.parent_id), _message_text(answer.pk))


@transaction.atomic
def title_by_model(conversation: UUID, title: str, *, instead_of: str) -> bool:
    """False when somebody was faster."""
    rows = Conversation.objects.filter(pk=conversation, titled_by=TitledBy.MODEL, title=instead_of)
    if not title or not rows.update(title=title):
        return False
    tell(conversation, "titled")
    return True


def _first_question(conversation: UUID) -> str:
    rows = Message.objects.filter(conversation=conversation, role=Role.USER, deletion=None)
    first = rows.order_by("order").values_list("pk", flat=True).first()
    return _message_text(first) if first else ""


def _message_text(message: UUID) -> str:
    kinds = (Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE)
    rows = Item.objects.filter(message=message, kind__in=kinds).order_by("seq")
    return "\n".join(rows.values_list("text", flat=True))
