"""The reviewer's side of a review: who may read what, who holds it, notes and their answers, the verdict, and forks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any
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
from .rating import has_room, leave_seat, seats_of, take_seat
from .reviewers import reviewers
from .submitting import tell_reviewers, there

MOST_NOTES = 1000
UNTITLED = "A conversation"
TAKEN_BACK = "That is not submitted any more."
TAKEN = "Somebody else has taken it."
JUDGED = "The verdict has been given. What is submitted again can be judged again."
RATED = "It is rated by its labels. Hand in when all of them are filled in."
NOT_A_REVIEWER = "Choose a reviewer who does not own it."


# Who may read what


def held_by(reviewer: User) -> QuerySet[Submission]:
    """What they took or were given, judged or not. One's own is not one's own to review."""
    rows = there().filter(_is_among_reviewers(reviewer), _is_held_by(reviewer))
    return rows.exclude(conversation__owner=reviewer)


def free_for(reviewer: User) -> QuerySet[Submission]:
    """What nobody holds, or somebody who reviews no more."""
    return (
        there()
        .filter(_is_among_reviewers(reviewer), _is_free(), decided_at=None)
        .exclude(conversation__owner=reviewer)
    )


def queue_of(reviewer: User) -> QuerySet[Submission]:
    """What they hold, and what they may take."""
    rows = there().filter(
        _is_among_reviewers(reviewer), _is_held_by(reviewer) | Q(_is_free(), decided_at=None)
    )
    return rows.exclude(conversation__owner=reviewer).order_by("-created_at", "-pk")


def everything() -> QuerySet[Submission]:
    """For those who assign."""
    return there().order_by("-created_at", "-pk")


def to_assign() -> QuerySet[Submission]:
    return there().filter(decided_at=None)


def judged() -> QuerySet[Submission]:
    return there().filter(decided_at__isnull=False)


def readable_by(person: User) -> QuerySet[Submission]:
    """One's own, and what one holds."""
    return there().filter(
        Q(conversation__owner=person) | Q(_is_among_reviewers(person)) & _is_held_by(person)
    )


def open_for(person: User, submission: Submission) -> None:
    """They see now what was news to them."""
    if submission.label_set_id and person.pk != submission.conversation.owner_id:
        if submission.seats.filter(reviewer=person, news=True).update(news=False):
            tell_person(person.pk, "reviews")
        return
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


def load_notes(reading: Reading, viewer: User) -> dict[UUID, list[list[Note]]]:
    """For each message its notes, each with the answers to it, as far as the viewer may see them."""
    rows = notes_seen_by(viewer, reading.submission).select_related("author")
    threads: dict[int, list[Note]] = {}
    for row in rows.order_by("created_at", "pk"):
        threads.setdefault(row.answer_to_id or row.pk, []).append(row)
    found: dict[UUID, list[list[Note]]] = defaultdict(list)
    for thread in threads.values():
        if thread[0].message_id in reading.tree.parents:
            found[thread[0].message_id].append(thread)
    return found


def load_note(submission: Submission, viewer: User, pk: int) -> Note | None:
    return notes_seen_by(viewer, submission).filter(pk=pk).first()


def notes_seen_by(viewer: User, submission: Submission) -> QuerySet[Note]:
    """Where it is rated blind, one's own alone until all have handed in."""
    rows = Note.objects.filter(submission=submission, message__deletion=None)
    return rows.filter(author=viewer) if submission.is_blind else rows


def load_submitted(submission: Submission, message: UUID) -> Submitted | None:
    """None for what was not submitted, or is deleted."""
    return _left(submission).filter(message=message).first()


def forks_from(submission: Submission, viewer: User) -> list[Origin]:
    """Where it is rated blind, one's own alone."""
    rows = Origin.objects.filter(submission=submission, conversation__deleted_at=None)
    rows = rows.filter(by=viewer) if submission.is_blind else rows
    found = rows.select_related("conversation", "by").order_by("-made_at", "-pk")
    return list(found.defer("conversation__tools"))


# Who holds it


@transaction.atomic
def claim(submission: Submission, *, by: User) -> None:
    """The first one gets it; taking what one holds changes nothing."""
    row = _held_submission(submission.pk)
    if holds(row, by):
        return
    if not free_for(by).filter(pk=row.pk).exists():
        raise Refused(TAKEN)
    _give(row, by, assigned=False)


@transaction.atomic
def release(submission: Submission, *, by: User) -> None:
    row = _hold_as(by, submission.pk)
    if row.decided_at:
        raise Refused(JUDGED)
    if row.label_set_id:
        leave_seat(row, by)
        tell_reviewers(row.conversation.owner_id)
    else:
        _give(row, None, assigned=False)


@transaction.atomic
def assign(submission: Submission, *, to: User) -> None:
    row = _held_submission(submission.pk)
    if row.decided_at:
        raise Refused(JUDGED)
    if to.pk == row.conversation.owner_id or not reviewers().filter(pk=to.pk).exists():
        raise Refused(NOT_A_REVIEWER)
    _give(row, to, assigned=True)


def assign_each(submissions: Collection[Submission], *, to: Sequence[User]) -> int:
    """To these people in turn, each the next that may have it; how many could be. What somebody holds already is not given away."""
    given = 0
    for row in submissions:
        for person in (to[(given + n) % len(to)] for n in range(len(to))):
            with suppress(Refused):
                _assign_free(row, person)
                given += 1
                break
    return given


@transaction.atomic
def _assign_free(submission: Submission, to: User) -> None:
    row = _held_submission(submission.pk)
    if row.is_held or holds(row, to):
        raise Refused(TAKEN)
    assign(row, to=to)


# What is said


@dataclass(frozen=True, slots=True)
class Passage:
    """Words of an item, and how many signs of what a page shows of it stand before them."""

    item_key: str
    quote: str
    begins: int


@transaction.atomic
def append_note(
    submission: Submission, *, by: User, text: str, message: UUID, passage: Passage | None = None
) -> Note:
    """On a message or on a passage of it, by whoever reviews it."""
    return _append_note(_hold_as(by, submission.pk), by, text, message, passage=passage)


@transaction.atomic
def append_answer(submission: Submission, *, by: User, text: str, to: Note) -> Note:
    """Of either side; an answer to an answer stands below the note that began it."""
    return _append_note(_held_submission(submission.pk), by, text, to.message_id, to.answer_to or to)


@transaction.atomic
def give_verdict(submission: Submission, *, by: User, verdict: Verdict, reason: str = "") -> None:
    row = _hold_as(by, submission.pk)
    if row.label_set_id:
        raise Refused(RATED)
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
    if not holds(row, reviewer):
        raise Refused(TAKEN)
    return row


def holds(row: Submission, person: User) -> bool:
    """Whether they review it."""
    if row.label_set_id:
        return row.seats.filter(reviewer=person).exists()
    return row.reviewer_id == person.pk


def _give(row: Submission, to: User | None, *, assigned: bool) -> None:
    if row.label_set_id and to:
        if not take_seat(row, to, assigned=assigned):
            raise Refused(TAKEN)
        tell_reviewers(row.conversation.owner_id)
        return
    changes: dict[str, Any] = {"reviewer": to, "assigned": assigned, "news_for_reviewer": assigned}
    changes |= {"held_at": timezone.now() if to else None, "reminded_at": None}
    Submission.objects.filter(pk=row.pk).update(**changes)
    tell_reviewers(row.conversation.owner_id)


def _tell_other_side(row: Submission, by: User) -> None:
    if row.is_blind:
        return
    if row.label_set_id:
        _tell_all_but(row, by)
        return
    mine = by.pk == row.conversation.owner_id
    side, other = (
        ("news_for_reviewer", row.reviewer_id) if mine else ("news_for_owner", row.conversation.owner_id)
    )
    if other is not None:
        Submission.objects.filter(pk=row.pk).update(**{side: True})
        tell_person(other, "reviews")


def _tell_all_but(row: Submission, by: User) -> None:
    """Of those who rated it together, and the owner."""
    others = row.seats.exclude(reviewer=by).exclude(reviewer=None)
    others.update(news=True)
    for person in others.values_list("reviewer_id", flat=True):
        tell_person(person, "reviews")
    if by.pk != row.conversation.owner_id:
        Submission.objects.filter(pk=row.pk).update(news_for_owner=True)
        tell_person(row.conversation.owner_id, "reviews")


def _append_note(
    row: Submission,
    by: User,
    text: str,
    message: UUID,
    answer_to: Note | None = None,
    passage: Passage | None = None,
) -> Note:
    if by.pk != row.conversation.owner_id and not holds(row, by):
        raise Refused(TAKEN)
    if not _left(row).filter(message=message).exists():
        raise Refused(NOT_THERE)
    if row.notes.count() >= MOST_NOTES:
        raise Refused(f"There are {MOST_NOTES:,} notes already.")
    said: dict[str, Any] = {"message_id": message, "answer_to": answer_to, "author": by, "text": clean(text)}
    if passage:
        said |= asdict(passage)
    newest = row.notes.order_by("-pk").first()
    # Sent twice it is said once.
    if newest and all(getattr(newest, name) == value for name, value in said.items()):
        return newest
    made = Note.objects.create(submission=row, **said)
    _tell_other_side(row, by)
    # In another tab of theirs.
    tell_person(by.pk, "reviews")
    return made


def _is_free() -> Q:
    nobodys = Q(reviewer=None) | ~Q(reviewer__in=reviewers().order_by().values("pk"))
    return Q(nobodys, label_set=None) | has_room()


def _is_held_by(person: User) -> Q:
    return Q(label_set=None, reviewer=person) | Q(Exists(seats_of(person)), label_set__isnull=False)


def has_work(person: User) -> Q:
    """For one in whose queue it is: something to judge or to hand in, or something new."""
    mine = seats_of(person)
    waits = Q(~Exists(mine.filter(handed_in_at__isnull=False)), decided_at=None)
    return waits | Q(label_set=None, news_for_reviewer=True) | Q(Exists(mine.filter(news=True)))


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
