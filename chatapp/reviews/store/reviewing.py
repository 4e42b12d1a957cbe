"""The reviewer's side of a review: who may read what, who holds it, notes and their answers, the verdict, and forks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Substr
from django.utils import timezone

from ...branches.models import Origin
from ...branches.store.copying import Parts
from ...branches.store.forking import NOT_THERE, NOTHING_ENDED, Extent, Forked, Manner, fork
from ...core.items import Kind, clean
from ...core.titles import first_words
from ...core.tree import Tree, repair
from ...sharing.store import chosen_title, facts_for_reviewers, forget_deciders, keep_facts
from ...store.changes import tell_person
from ...store.models import LIVE, Item, Message
from ...store.tree import Refused
from ..models import Note, Submission, Submitted, Verdict
from .reviewers import reviewers
from .submitting import tell_reviewers, there

MOST_NOTES = 1000
UNTITLED = "A conversation"
TAKEN_BACK = "That is not submitted any more."
TAKEN = "Somebody else has taken it."
JUDGED = "The verdict has been given. What is submitted again can be judged again."
NOT_A_REVIEWER = "Choose a reviewer who does not own it."


# Who may read what


def held_by(reviewer: User) -> QuerySet[Submission]:
    """What they took or were given, judged or not. One's own is not one's own to review."""
    return (
        there().filter(_is_among_reviewers(reviewer), reviewer=reviewer).exclude(conversation__owner=reviewer)
    )


def free_for(reviewer: User) -> QuerySet[Submission]:
    """What nobody holds, or somebody who reviews no more."""
    return (
        there()
        .filter(_is_among_reviewers(reviewer), _is_free(), verdict="")
        .exclude(conversation__owner=reviewer)
    )


def queue_of(reviewer: User) -> QuerySet[Submission]:
    """What they hold, and what they may take."""
    rows = there().filter(_is_among_reviewers(reviewer), Q(reviewer=reviewer) | Q(_is_free(), verdict=""))
    return rows.exclude(conversation__owner=reviewer).order_by("-created_at", "-pk")


def everything() -> QuerySet[Submission]:
    """For those who assign."""
    return there().order_by("-created_at", "-pk")


def to_assign() -> QuerySet[Submission]:
    return there().filter(verdict="")


def judged() -> QuerySet[Submission]:
    return there().exclude(verdict="")


def readable_by(person: User) -> QuerySet[Submission]:
    """One's own, and what one holds."""
    return there().filter(Q(conversation__owner=person) | Q(_is_among_reviewers(person), reviewer=person))


def open_for(person: User, submission: Submission) -> None:
    """They see now what was news to them."""
    side = "news_for_owner" if person.pk == submission.conversation.owner_id else "news_for_reviewer"
    if not getattr(submission, side):
        return
    rows = Submission.objects.filter(pk=submission.pk, **{side: True})
    if rows.update(**{side: False}):
        tell_person(person.pk, "reviews")


# What is read


@dataclass(frozen=True)
class Reading:
    """A submission and the tree of those of its messages that are left; of others it knows nothing."""

    submission: Submission
    tree: Tree[UUID]

    @property
    def leaf(self) -> UUID | None:
        """Where it opens."""
        leaf = self.submission.leaf_id
        return leaf if leaf in self.tree.parents else self.tree.newest_leaf()


def load_reading(submission: Submission) -> Reading:
    here = _left(submission).order_by("message__order")
    return Reading(submission, repair(here.values_list("message_id", "message__parent_id").iterator()))


def load_then(submission: Submission, messages: Collection[UUID]) -> dict[UUID, Submitted]:
    """How each of these messages stood when it was submitted."""
    return {row.message_id: row for row in _left(submission).filter(message__in=messages)}


def load_titles(submissions: Iterable[Submission]) -> dict[UUID, str]:
    """As in links: what a title tells of other branches is nothing to reviewers."""
    chosen = {row.pk: chosen_title(row.conversation) for row in submissions}
    without = [pk for pk, title in chosen.items() if not title]
    words = _load_first_words(without)
    return {pk: title or first_words(words.get(pk) or "") or UNTITLED for pk, title in chosen.items()}


def load_notes(reading: Reading) -> dict[UUID, list[list[Note]]]:
    """For each message its notes, each with the answers to it."""
    rows = Note.objects.filter(submission=reading.submission, message__deletion=None).select_related("author")
    threads: dict[int, list[Note]] = {}
    for row in rows.order_by("created_at", "pk"):
        threads.setdefault(row.answer_to_id or row.pk, []).append(row)
    found: dict[UUID, list[list[Note]]] = defaultdict(list)
    for thread in threads.values():
        if thread[0].message_id in reading.tree.parents:
            found[thread[0].message_id].append(thread)
    return found


def load_note(submission: Submission, pk: int) -> Note | None:
    return Note.objects.filter(submission=submission, pk=pk, message__deletion=None).first()


def load_submitted(submission: Submission, message: UUID) -> Submitted | None:
    """None for what was not submitted, or is deleted."""
    return _left(submission).filter(message=message).first()


def forks_from(submission: Submission) -> list[Origin]:
    rows = Origin.objects.filter(submission=submission, conversation__deleted_at=None)
    found = rows.select_related("conversation", "by").order_by("-made_at", "-pk")
    return list(found.defer("conversation__tools"))


# Who holds it


@transaction.atomic
def claim(submission: Submission, *, by: User) -> None:
    """The first one gets it; taking what one holds changes nothing."""
    row = _held_submission(submission.pk)
    if row.reviewer_id == by.pk:
        return
    if not free_for(by).filter(pk=row.pk).exists():
        raise Refused(TAKEN)
    _give(row, by, assigned=False)


@transaction.atomic
def release(submission: Submission, *, by: User) -> None:
    row = _hold_as(by, submission.pk)
    if row.verdict:
        raise Refused(JUDGED)
    _give(row, None, assigned=False)


@transaction.atomic
def assign(submission: Submission, *, to: User) -> None:
    row = _held_submission(submission.pk)
    if row.verdict:
        raise Refused(JUDGED)
    if to.pk == row.conversation.owner_id or not reviewers().filter(pk=to.pk).exists():
        raise Refused(NOT_A_REVIEWER)
    _give(row, to, assigned=True)


# What is said


@transaction.atomic
def append_note(submission: Submission, *, by: User, text: str, message: UUID) -> Note:
    """On a message, by whoever reviews it."""
    return _append_note(_hold_as(by, submission.pk), by, text, message)


@transaction.atomic
def append_answer(submission: Submission, *, by: User, text: str, to: Note) -> Note:
    """Of either side; an answer to an answer stands below the note that began it."""
    return _append_note(_held_submission(submission.pk), by, text, to.message_id, to.answer_to or to)


@transaction.atomic
def give_verdict(submission: Submission, *, by: User, verdict: Verdict, reason: str = "") -> None:
    row = _hold_as(by, submission.pk)
    if (row.verdict, row.reason) == (verdict, clean(reason)):
        return
    if row.verdict:
        raise Refused(JUDGED)
    changes = {"verdict": verdict, "reason": clean(reason), "decided_at": timezone.now()}
    Submission.objects.filter(pk=row.pk).update(**changes)
    _tell_other_side(row, by)


def fork_submitted(submission: Submission, *, by: User, until: UUID, key: UUID | None = None) -> Forked:
    """The branch down to this message as it was submitted, into a conversation of the reviewer's own."""
    row = _held_by(by, there().filter(pk=submission.pk).first())
    reading = load_reading(row)
    source = Message.objects.defer("metadata").filter(pk=until, deletion=None).first()
    if source is None or source.pk not in reading.tree.parents:
        raise Refused(NOT_THERE)
    if source.status in LIVE:
        raise Refused(NOTHING_ENDED)

    def dress(copies: Mapping[UUID, UUID]) -> None:
        keep_facts(copies.values(), facts_for_reviewers)
        forget_deciders(copies.values())
        _end_as_submitted(copies, row)

    return fork(
        source,
        by=by,
        extent=Extent.BRANCH,
        parts=Parts(instructions=False),
        called=load_titles([row])[row.pk],
        submission=key,
        allowed=reading.tree.parents,
        manner=Manner(lambda: _hold_as(by, row.pk), dress, {"submission": row}),
    )


def _end_as_submitted(copies: Mapping[UUID, UUID], submission: Submission) -> None:
    """What may have gone on after it was submitted ends in the copy where it ended then."""
    for then in submission.messages.filter(facts__isnull=False, message__in=copies.keys()):
        copy = copies[then.message_id]
        Item.objects.filter(message=copy, seq__gte=then.items).delete()
        changes = {"status": then.status, "next_seq": then.items, "metadata": then.facts}
        Message.objects.filter(pk=copy).update(**changes)


def _left(submission: Submission) -> QuerySet[Submitted]:
    """What was submitted and is not deleted."""
    here = {"message__deletion": None, "message__conversation": submission.conversation_id}
    return Submitted.objects.filter(submission=submission, **here)


def _held_submission(pk: UUID) -> Submission:
    """Nobody withdraws, takes or judges it meanwhile."""
    return _still_there(there().select_for_update(of=("self",), no_key=True).filter(pk=pk).first())


def _still_there(row: Submission | None) -> Submission:
    if row is None:
        raise Refused(TAKEN_BACK)
    return row


def _hold_as(reviewer: User, pk: UUID) -> Submission:
    return _held_by(reviewer, _held_submission(pk))


def _held_by(reviewer: User, found: Submission | None) -> Submission:
    row = _still_there(found)
    if row.reviewer_id != reviewer.pk:
        raise Refused(TAKEN)
    return row


def _give(row: Submission, to: User | None, *, assigned: bool) -> None:
    changes = {"reviewer": to, "assigned": assigned, "news_for_reviewer": assigned}
    Submission.objects.filter(pk=row.pk).update(**changes)
    tell_reviewers(row.conversation.owner_id)


def _tell_other_side(row: Submission, by: User) -> None:
    mine = by.pk == row.conversation.owner_id
    side, other = (
        ("news_for_reviewer", row.reviewer_id) if mine else ("news_for_owner", row.conversation.owner_id)
    )
    if other is not None:
        Submission.objects.filter(pk=row.pk).update(**{side: True})
        tell_person(other, "reviews")


def _append_note(row: Submission, by: User, text: str, message: UUID, answer_to: Note | None = None) -> Note:
    if by.pk not in (row.reviewer_id, row.conversation.owner_id):
        raise Refused(TAKEN)
    if not _left(row).filter(message=message).exists():
        raise Refused(NOT_THERE)
    if row.notes.count() >= MOST_NOTES:
        raise Refused(f"There are {MOST_NOTES:,} notes already.")
    said = {"message_id": message, "answer_to": answer_to, "author": by, "text": clean(text)}
    newest = row.notes.order_by("-pk").first()
    # Sent twice it is said once.
    if newest and all(getattr(newest, name) == value for name, value in said.items()):
        return newest
    made = Note.objects.create(submission=row, **said)
    _tell_other_side(row, by)
    return made


def _is_free() -> Q:
    return Q(reviewer=None) | ~Q(reviewer__in=reviewers().order_by().values("pk"))


def has_work() -> Q:
    return Q(verdict="") | Q(news_for_reviewer=True)


def _is_among_reviewers(person: User) -> Exists:
    """Whether they are a reviewer: asked with what they want."""
    return Exists(reviewers().order_by().filter(pk=person.pk))


def _load_first_words(submissions: Collection[UUID]) -> dict[UUID, str]:
    """Of each the question with which it begins; of several, the first."""
    firsts = Submitted.objects.filter(
        submission__in=submissions, message__deletion=None, message__parent=None
    )
    asked = Item.objects.filter(message=OuterRef("message"), kind=Kind.USER_MESSAGE).order_by("seq")
    said = firsts.annotate(words=Subquery(asked.values(start=Substr("text", 1, 1000))[:1]))
    return dict(said.order_by("-message__order").values_list("submission_id", "words"))
