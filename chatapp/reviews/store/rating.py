"""Seats, and what is said from them: who sits where, what there is to rate, ratings, and handing in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from ...core.items import Kind, clean
from ...store.changes import tell_person
from ...store.models import Item, Role
from ...store.tree import Refused
from ..models import Label, LabelOf, LabelScale, LabelSet, Rating, Seat, Submission, Submitted
from .reviewers import reviewers

STEPS = ("1", "2", "3", "4", "5")
YES_OR_NO = ("yes", "no")
LONGEST_WORDS = 10_000
NOT_ON_THE_SCALE = "That is not on the scale."
ALL_HANDED_IN = "All have handed in. Nothing of it changes any more."
SOMETHING_IS_MISSING = "Something has no label yet. Fill it in, and hand in then."
NO_SEAT = "You do not rate it any more."


# Who sits where


def counted_seats() -> QuerySet[Seat]:
    """Of those who have handed in, or review."""
    reviews = Q(reviewer__in=reviewers().order_by().values("pk"))
    return Seat.objects.filter(Q(handed_in_at__isnull=False) | reviews)


def seats_taken() -> Coalesce:
    """As a column of a submission."""
    seats = (
        counted_seats().filter(submission=OuterRef("pk")).order_by().annotate(every=Value(1)).values("every")
    )
    return Coalesce(Subquery(seats.annotate(number=Count("pk")).values("number")), 0)


def seats_of(person: User) -> QuerySet[Seat]:
    """Of the submission in whose query it stands."""
    return Seat.objects.filter(submission=OuterRef("pk"), reviewer=person)


def load_seats(submissions: Collection[Submission]) -> dict[UUID, list[Seat]]:
    """Of those that ask for labels."""
    rated = [row.pk for row in submissions if row.label_set_id]
    found: dict[UUID, list[Seat]] = defaultdict(list)
    if rated:
        for seat in counted_seats().filter(submission__in=rated).select_related("reviewer").order_by("pk"):
            found[seat.submission_id].append(seat)
    return found


def take_seat(submission: Submission, person: User, *, assigned: bool) -> bool:
    """False where all are taken. The submission is held."""
    if seat := submission.seats.filter(reviewer=person).first():
        if assigned and not seat.handed_in_at:
            Seat.objects.filter(pk=seat.pk).update(assigned=True, news=True)
        return True
    if counted_seats().filter(submission=submission).count() >= raters_of(submission):
        return False
    Seat.objects.create(submission=submission, reviewer=person, assigned=assigned, news=assigned)
    return True


def leave_seat(submission: Submission, person: User) -> None:
    """With what they have said from it."""
    submission.seats.filter(reviewer=person).delete()


def raters_of(submission: Submission) -> int:
    return submission.label_set.raters if submission.label_set else 1


# What there is to rate


@dataclass(frozen=True, slots=True)
class ToRate:
    """A label for an answer, or for a thought of it."""

    label: Label
    message: UUID
    item_key: str = ""

    @property
    def place(self) -> tuple[int, UUID, str]:
        return self.label.pk, self.message, self.item_key

    @property
    def may_be_left_out(self) -> bool:
        return self.label.scale == LabelScale.WORDS


def load_to_rate(submission: Submission) -> list[ToRate]:
    """Label by label for each answer and each thought with words that was submitted and is not deleted, from the first on."""
    if submission.label_set is None:
        return []
    labels = list(submission.label_set.labels.all())
    here = {"message__deletion": None, "message__role": Role.ASSISTANT}
    answers = Submitted.objects.filter(submission=submission, **here).order_by("message__order")
    items = dict(answers.values_list("message_id", "items"))
    thoughts = _load_thoughts(items) if any(label.of == LabelOf.THOUGHT for label in labels) else {}
    return [
        ToRate(label, message, key)
        for message in items
        for label in labels
        for key in (thoughts.get(message, []) if label.of == LabelOf.THOUGHT else [""])
    ]


def _load_thoughts(items: Mapping[UUID, int]) -> dict[UUID, list[str]]:
    rows = Item.objects.filter(message__in=items, kind=Kind.REASONING).exclude(text="").order_by("seq")
    found: dict[UUID, list[str]] = defaultdict(list)
    for message, key, seq in rows.values_list("message_id", "key", "seq"):
        if seq < items[message]:
            found[message].append(key)
    return found


def choices_of(label: Label) -> tuple[str, ...]:
    """What may be said by it; none where that is words."""
    match LabelScale(label.scale):
        case LabelScale.YES_NO:
            return YES_OR_NO
        case LabelScale.CHOICE:
            return tuple(label.choices)
        case LabelScale.STEPS | LabelScale.EVEN_STEPS:
            return STEPS
        case LabelScale.WORDS:
            return ()


# What is said


def load_ratings(seats: Iterable[Seat]) -> dict[tuple[int, UUID, str], list[Rating]]:
    """By what they are of, in the order of their seats."""
    found: dict[tuple[int, UUID, str], list[Rating]] = defaultdict(list)
    for row in Rating.objects.filter(seat__in=[seat.pk for seat in seats]).order_by("seat", "pk"):
        found[row.label_id, row.message_id, row.item_key].append(row)
    return found


@transaction.atomic
def rate(
    submission: Submission, *, by: User, said: Mapping[tuple[int, UUID, str], str], hand_in: bool
) -> None:
    """`said`: by label, message and item. Of what there is nothing to say words are taken away. What is not named stays as it is."""
    row, seat = _hold_seat(submission, by)
    asked = {each.place: each for each in load_to_rate(row)}
    for place, value in said.items():
        if place in asked:
            _say(seat, asked[place], clean(value).strip())
    if hand_in:
        _hand_in(row, seat, list(asked.values()))
    tell_person(by.pk, "reviews")


def _hold_seat(submission: Submission, person: User) -> tuple[Submission, Seat]:
    rows = Submission.objects.select_for_update(of=("self",), no_key=True).select_related(
        "label_set", "conversation"
    )
    row = rows.filter(pk=submission.pk, withdrawn_at=None).first()
    seat = row.seats.filter(reviewer=person).first() if row else None
    if row is None or seat is None:
        raise Refused(NO_SEAT)
    if row.decided_at:
        raise Refused(ALL_HANDED_IN)
    return row, seat


def _say(seat: Seat, what: ToRate, value: str) -> None:
    place: dict[str, Any] = {"label": what.label, "message_id": what.message, "item_key": what.item_key}
    if not value:
        if what.may_be_left_out:
            seat.ratings.filter(**place).delete()
        return
    allowed = choices_of(what.label)
    if (allowed and value not in allowed) or len(value) > LONGEST_WORDS:
        raise Refused(NOT_ON_THE_SCALE)
    seat.ratings.update_or_create(**place, defaults={"value": value})


def missing_of(asked: Sequence[ToRate], said: Collection[tuple[int, UUID, str]]) -> list[ToRate]:
    return [each for each in asked if not each.may_be_left_out and each.place not in said]


def _hand_in(row: Submission, seat: Seat, asked: Sequence[ToRate]) -> None:
    said = set(seat.ratings.values_list("label_id", "message_id", "item_key"))
    if missing_of(asked, said):
        raise Refused(SOMETHING_IS_MISSING)
    if not seat.handed_in_at:
        Seat.objects.filter(pk=seat.pk).update(handed_in_at=timezone.now())
    if row.seats.filter(handed_in_at__isnull=False).count() >= raters_of(row):
        _decide(row, seat)


def _decide(row: Submission, last: Seat) -> None:
    Submission.objects.filter(pk=row.pk).update(decided_at=timezone.now(), news_for_owner=True)
    others = row.seats.exclude(pk=last.pk)
    others.update(news=True)
    for person in [row.conversation.owner_id, *others.values_list("reviewer_id", flat=True)]:
        if person is not None:
            tell_person(person, "reviews")


# What was agreed on


def load_decided(label_set: LabelSet) -> dict[int, list[list[str]]]:
    """By label: what was said of each answer or thought, in submissions that are decided."""
    rows = Rating.objects.filter(
        label__label_set=label_set,
        seat__submission__decided_at__isnull=False,
        seat__submission__withdrawn_at=None,
        seat__handed_in_at__isnull=False,
        message__deletion=None,
    )
    units: dict[int, dict[tuple[UUID, UUID, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    named = rows.values_list("label_id", "seat__submission_id", "message_id", "item_key", "value")
    for label, submission, message, key, value in named.iterator():
        units[label][submission, message, key].append(value)
    return {label: list(found.values()) for label, found in units.items()}


def sets_with_ratings() -> QuerySet[LabelSet]:
    """Those in which something is decided."""
    decided = Submission.objects.filter(label_set__isnull=False, decided_at__isnull=False, withdrawn_at=None)
    return LabelSet.objects.filter(pk__in=decided.values("label_set")).order_by("created_at", "pk")


def sets_handed_in_by(person: User) -> QuerySet[LabelSet]:
    """Those in which they have handed in, and have nothing to hand in."""
    mine = Seat.objects.filter(reviewer=person, submission__withdrawn_at=None)
    asked = mine.filter(handed_in_at=None).values("submission__label_set")
    done = mine.filter(handed_in_at__isnull=False).values("submission__label_set")
    return sets_with_ratings().filter(pk__in=done).exclude(pk__in=asked)


def has_room() -> Q:
    """Of a submission that asks for labels."""
    return Q(label_set__isnull=False, seats_taken__lt=F("label_set__raters"))
