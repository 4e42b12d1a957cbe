"""Proves that what waits can be asked, and that nothing waits that was."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from ..core.items import ITEM_CAP
from ..store.models import Message, Role
from ..store.verify import ALSO, SOME
from .models import NextQuestion


def next_question_breaches() -> Iterator[str]:
    rows = NextQuestion.objects.select_related("after__conversation", "asked_as__parent")
    for row in rows.iterator(SOME):
        yield from (f"Next question {row.pk}: {breach}." for breach in _breaches(row))


def _breaches(row: NextQuestion) -> Iterator[str]:
    if row.after.role != Role.ASSISTANT:
        yield f"it waits for message {row.after_id}, which is no answer"
    if row.person_id != row.after.conversation.owner_id:
        yield f"it waits in conversation {row.after.conversation_id}, which is somebody else's"
    if not isinstance(row.keys, list):
        yield "the forms that it was made of cannot be read"
    yield from _of_what_was_asked(row, row.asked_as_id) if row.asked_as_id else _of_what_waits(row)


def _of_what_waits(row: NextQuestion) -> Iterator[str]:
    if not row.text.strip() or len(row.text.encode()) > ITEM_CAP:
        yield "its words cannot be asked"
    for answer in Message.objects.filter(submission=row.pk).values_list("pk", flat=True):
        yield f"it waits, although it was asked: answer {answer}"


def _of_what_was_asked(row: NextQuestion, answer: UUID) -> Iterator[str]:
    if row.text or row.is_edited or row.why_not:
        yield "it was asked, and waits still"
    named = Message.objects.filter(pk=answer, submission=row.pk, parent__parent=row.after_id)
    if not named.exists():
        yield f"it was asked as {answer}, which is not the answer to it"


ALSO.append(next_question_breaches)
