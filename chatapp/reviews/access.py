"""Who may do what to a submission: asked by the loaded row, here and nowhere else. What one may not see is what does not exist."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404

from ..core.named import identity, number
from ..store.models import Conversation
from .models import LabelSet, Note, Submission, Suggestion, Wish
from .store import reviewing
from .store.reviewers import is_reviewer, reviewers
from .store.submitting import submissions_of, wishes_of
from .store.suggesting import suggestions_for


def may_see_the_queue(user: User) -> bool:
    """Of staff who review nothing: what is there and who holds it."""
    return user.is_staff or is_reviewer(user)


def my_submission(user: User, pk: UUID) -> Submission:
    """One of a conversation of one's own."""
    return _one(submissions_of(user), pk)


def held_submission(user: User, pk: UUID) -> Submission:
    """One that was taken by them or given to them, to review."""
    return _one(reviewing.held_by(user), pk)


def readable_submission(user: User, pk: UUID) -> Submission:
    return _one(reviewing.readable_by(user), pk)


def queued_submission(user: User, pk: UUID) -> Submission:
    """One that they hold or may take."""
    return _one(reviewing.queue_of(user), pk)


def submission_to_assign(user: User, pk: UUID) -> Submission:
    """Any that nobody has judged, for staff."""
    return _one(reviewing.to_assign() if user.is_staff else Submission.objects.none(), pk)


def submission_to_rate(user: User, pk: UUID) -> Submission:
    """One that they hold, which asks for labels."""
    return _one(reviewing.held_by(user).filter(label_set__isnull=False), pk)


def label_set_named(user: User, pk: UUID) -> LabelSet:
    """For staff, who write them."""
    found = LabelSet.objects.filter(pk=pk).first()
    if found is None or not user.is_staff:
        raise Http404
    return found


def my_suggestion(user: User, pk: UUID) -> Suggestion:
    """Offered for a conversation of one's own."""
    found = suggestions_for(user).filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def submitted_message(submission: Submission, name: str) -> UUID:
    """A message of this submission, as a form or an address names it."""
    pk = identity(name)
    found = reviewing.load_submitted(submission, pk) if pk else None
    if found is None:
        raise Http404
    return found.message_id


def note_on(submission: Submission, viewer: User, name: str) -> Note:
    """A note of this submission that they may see, as a form names it."""
    pk = number(name)
    found = None if pk is None else reviewing.load_note(submission, viewer, pk)
    if found is None:
        raise Http404
    return found


def reviewer_named(name: str) -> User:
    pk = number(name)
    found = None if pk is None else reviewers().filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def conversation_to_ask_for(user: User, pk: UUID) -> Conversation:
    """Anybody's but one's own, for staff. It opens none of its words."""
    rows = Conversation.objects.select_related("owner").defer("tools", "instructions")
    found = rows.filter(pk=pk, deleted_at=None, owner__is_active=True).exclude(owner=user).first()
    if found is None or not user.is_staff:
        raise Http404
    return found


def my_wish(user: User, pk: UUID) -> Wish:
    found = wishes_of(user).filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def _one(rows: QuerySet[Submission], pk: UUID) -> Submission:
    found = rows.filter(pk=pk).first()
    if found is None:
        raise Http404
    return found
