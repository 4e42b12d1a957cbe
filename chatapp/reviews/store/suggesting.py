"""Suggested answers: what of a reviewer's fork may be offered, what is offered to an owner, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from ...branches.models import Origin
from ...branches.store.copying import Copy, Parts, copy_messages
from ...core.items import clean
from ...core.recorded import SUGGESTED_BY
from ...sharing.store import facts_for_reviewers, forget_deciders, keep_facts
from ...store.changes import tell, tell_person
from ...store.models import Conversation, Message, Role, Status
from ...store.tree import Refused
from ..models import Submission, Suggestion
from .reviewing import holds, load_reading
from .submitting import there

MOST_OF_ONE = 20
NOT_TO_SUGGEST = "That is no finished answer of yours to a question that was submitted."
BLIND = "It is rated blind. Suggest another answer when all have handed in."
NOT_OFFERED = "That answer is not offered any more."
TOO_MANY = f"There are {MOST_OF_ONE} suggested answers for it already."


# What may be suggested


@dataclass(frozen=True, slots=True)
class MayBeSuggested:
    """An answer of a fork, and the question that was submitted to which it is one."""

    answer: Message
    question: UUID


def load_suggestible(submission: Submission, reviewer: User) -> list[MayBeSuggested]:
    """Finished answers in their forks of it that came after forking, each right below what was copied. The newest first."""
    tree = load_reading(submission).tree
    forks = Origin.objects.filter(
        submission=submission, by=reviewer, conversation__owner=reviewer, conversation__deleted_at=None
    )
    offered = set(Suggestion.objects.filter(submission=submission).values_list("answer", flat=True))
    found = []
    for fork in forks:
        copied = tree.path_to(fork.message_id)
        for answer in _answers_after(fork.conversation_id, len(copied)):
            if answer.pk not in offered and answer.parent:
                found.append(MayBeSuggested(answer, copied[answer.parent.order]))
    return sorted(found, key=lambda each: each.answer.created_at, reverse=True)


def _answers_after(fork: UUID, copied: int) -> QuerySet[Message]:
    """Copies have the first numbers, in the order of their branch."""
    done = {"role": Role.ASSISTANT, "status": Status.COMPLETE, "deletion": None, "order__gte": copied}
    below = {"parent__role": Role.USER, "parent__order__lt": copied, "parent__deletion": None}
    return Message.objects.filter(conversation=fork, **done, **below).select_related("parent")


@transaction.atomic
def suggest(submission: Submission, *, by: User, answer: UUID, words: str = "") -> Suggestion:
    """Sent twice it is suggested once."""
    held = there().select_for_update(of=("self",), no_key=True).filter(pk=submission.pk).first()
    if held is None or not holds(held, by):
        raise Refused(NOT_OFFERED)
    if held.is_blind:
        raise Refused(BLIND)
    if before := Suggestion.objects.filter(submission=held, answer=answer, by=by).first():
        return before
    if held.suggestions.count() >= MOST_OF_ONE:
        raise Refused(TOO_MANY)
    chosen = next((each for each in load_suggestible(held, by) if each.answer.pk == answer), None)
    if chosen is None:
        raise Refused(NOT_TO_SUGGEST)
    made = Suggestion.objects.create(
        submission=held, question_id=chosen.question, answer=chosen.answer, by=by, words=clean(words)
    )
    _tell_owner(held)
    return made


def _tell_owner(submission: Submission) -> None:
    Submission.objects.filter(pk=submission.pk).update(news_for_owner=True)
    tell_person(submission.conversation.owner_id, "reviews")


# What is offered


def suggestions_for(owner: User) -> QuerySet[Suggestion]:
    """Those of which both sides are still there. One that was taken stays, also where it is gone from the fork."""
    here = Suggestion.objects.filter(
        submission__in=there().filter(conversation__owner=owner).values("pk"),
        question__deletion=None,
        answer__deletion=None,
        answer__conversation__deleted_at=None,
    )
    named = here.select_related("by", "question", "answer__conversation", "submission__conversation", "taken")
    unread = ("question__metadata", "answer__conversation__tools", "submission__conversation__tools")
    return named.defer(*unread).order_by("-created_at", "-pk")


def open_suggestions(owner: User, conversation: UUID) -> QuerySet[Suggestion]:
    return suggestions_for(owner).filter(settled_at=None, submission__conversation=conversation)


def suggestions_by(reviewer: User, submission: Submission) -> QuerySet[Suggestion]:
    rows = Suggestion.objects.filter(submission=submission, by=reviewer).select_related("answer")
    return rows.defer("answer__metadata").order_by("-created_at", "-pk")


@transaction.atomic
def take(suggestion: Suggestion, *, by: User) -> UUID:
    """It becomes a branch beside the owner's; nothing is asked of a model. Taken twice it is taken once."""
    conversation = _hold(suggestion)
    row = suggestions_for(by).filter(pk=suggestion.pk).first()
    if row is None:
        raise Refused(NOT_OFFERED)
    if row.taken_id and row.taken and row.taken.deletion is None:
        return row.taken_id
    new = _copied(row, conversation, by)
    Suggestion.objects.filter(pk=row.pk).update(settled_at=timezone.now(), taken=new)
    Conversation.objects.filter(pk=conversation.pk).update(next_order=F("next_order") + 1)
    tell(conversation.pk, "listed")
    if row.by_id:
        tell_person(row.by_id, "reviews")
    return new


def decline_suggestion(suggestion: Suggestion) -> None:
    Suggestion.objects.filter(pk=suggestion.pk, settled_at=None).update(settled_at=timezone.now())


def _hold(suggestion: Suggestion) -> Conversation:
    """Nobody writes into it meanwhile."""
    rows = Conversation.objects.select_for_update(no_key=True).only("pk", "next_order")
    row = rows.filter(pk=suggestion.submission.conversation_id, deleted_at=None).first()
    if row is None:
        raise Refused(NOT_OFFERED)
    return row


def _copied(row: Suggestion, conversation: Conversation, owner: User) -> UUID:
    new = uuid4()
    copy = Copy(row.answer_id, new, row.question_id, None, conversation.next_order)
    copy_messages([copy], into=conversation.pk, by=owner, parts=Parts())
    keep_facts([new], facts_for_reviewers)
    forget_deciders([new])
    made = Message.objects.get(pk=new)
    made.metadata = {**made.metadata, SUGGESTED_BY: row.by.get_username() if row.by else ""}
    made.save(update_fields=["metadata"])
    return new
