"""What is rated, as its rater fills it in, and as everybody reads it who has a part in it when all have handed in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from uuid import UUID

from django.contrib.auth.models import User

from ...core.named import identity, number
from ...pages.elements import item_id
from ...pages.words.moments import Moment
from ..models import Label, LabelOf, LabelScale, Rating, Seat, Submission
from ..news import name_or_somebody
from ..store.rating import (
    ToRate,
    choices_of,
    load_ratings,
    load_seats,
    load_to_rate,
    missing_of,
    sets_handed_in_by,
)
from .agreement import SetAgreement, agreement_in

Place = tuple[int, UUID, str]


@dataclass(frozen=True, slots=True)
class AskedLabel:
    """A label for one answer or thought. `value`: what its rater says; `said`: what each of them said, where all may read it."""

    what: ToRate
    number: int
    value: str = ""
    said: Sequence[tuple[str, str]] = ()

    @property
    def label(self) -> Label:
        return self.what.label

    @property
    def name(self) -> str:
        """Of its field."""
        return name_of_field(self.what)

    @property
    def id(self) -> str:
        """Of its element."""
        return f"r-{self.label.pk}-{item_id(self.what.message, self.what.item_key)}"

    @property
    def thought(self) -> str:
        """The element of the thought that it is of."""
        return item_id(self.what.message, self.what.item_key)

    @property
    def choices(self) -> list[tuple[str, str]]:
        """Each with its words."""
        yes_or_no = self.label.scale == LabelScale.YES_NO
        return [(value, value.title() if yes_or_no else value) for value in choices_of(self.label)]

    @property
    def is_words(self) -> bool:
        return self.label.scale == LabelScale.WORDS

    @property
    def is_list(self) -> bool:
        """Choices that stand below each other."""
        return self.label.scale == LabelScale.CHOICE and self.label.of == LabelOf.ANSWER


@dataclass(frozen=True, slots=True)
class AskedOfMessage:
    answer: Sequence[AskedLabel]
    thoughts: Sequence[AskedLabel]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedPage:
    """`filled` of so many (`of`) that must be; `missing`: the first of those that are not. `handed_in`: by the viewer; `others`: by how
    many in words. `agreement`: in its set, where the viewer may know."""

    submission: Submission
    seat: Seat | None
    filled: int
    of: int
    missing: Sequence[AskedLabel]
    handed_in: Moment | None
    others: str
    by_message: Mapping[UUID, AskedOfMessage] = field(default_factory=dict)
    agreement: SetAgreement | None = None

    @property
    def is_open(self) -> bool:
        """The viewer may still change what they say."""
        return self.seat is not None and self.submission.decided_at is None

    @property
    def stands(self) -> str:
        return (
            f"{self.filled} {self.of} {bool(self.handed_in)} {self.others} {bool(self.submission.decided_at)}"
        )


def load_rated(submission: Submission, viewer: User, zone: tzinfo) -> RatedPage | None:
    """None where nothing is asked for."""
    if submission.label_set is None:
        return None
    seats = load_seats([submission]).get(submission.pk, [])
    mine = next((seat for seat in seats if seat.reviewer_id == viewer.pk), None)
    asked = load_to_rate(submission)
    shown = seats if submission.decided_at else [mine] if mine else []
    said = load_ratings(shown)
    made = [
        _asked(n, each, said.get(each.place, []), mine, seats, submission) for n, each in enumerate(asked, 1)
    ]
    filled = {place for place, rows in said.items() if mine and any(row.seat_id == mine.pk for row in rows)}
    missing = {each.place for each in missing_of(asked, filled)}
    must = [each for each in asked if not each.may_be_left_out]
    handed = [seat for seat in seats if seat.handed_in_at]
    return RatedPage(
        submission=submission,
        seat=mine,
        filled=len(must) - len(missing),
        of=len(must),
        missing=[each for each in made if each.what.place in missing],
        handed_in=_moment(mine, zone),
        others=f"{len(handed)} of {submission.label_set.raters}",
        by_message=_by_message(made),
        agreement=_agreement(submission, viewer, mine),
    )


def _agreement(submission: Submission, viewer: User, mine: Seat | None) -> SetAgreement | None:
    """To a rater after handing in everything of that set."""
    if submission.label_set is None or mine is None:
        return None
    may = sets_handed_in_by(viewer).filter(pk=submission.label_set.pk).exists()
    return agreement_in(submission.label_set) if may else None


def _asked(
    place: int,
    what: ToRate,
    said: Sequence[Rating],
    mine: Seat | None,
    seats: Sequence[Seat],
    row: Submission,
) -> AskedLabel:
    own = next((rating.value for rating in said if mine and rating.seat_id == mine.pk), "")
    names = {seat.pk: name_or_somebody(seat.reviewer) for seat in seats}
    everybodys = [(names[rating.seat_id], rating.value) for rating in said] if row.decided_at else []
    return AskedLabel(what, place, own, everybodys)


def _moment(seat: Seat | None, zone: tzinfo) -> Moment | None:
    return Moment(seat.handed_in_at.astimezone(zone)) if seat and seat.handed_in_at else None


def _by_message(made: Sequence[AskedLabel]) -> dict[UUID, AskedOfMessage]:
    found: dict[UUID, tuple[list[AskedLabel], list[AskedLabel]]] = defaultdict(lambda: ([], []))
    for each in made:
        found[each.what.message][each.label.of == LabelOf.THOUGHT].append(each)
    return {message: AskedOfMessage(*both) for message, both in found.items()}


# The fields of its form


def name_of_field(what: ToRate) -> str:
    return f"r.{what.label.pk}.{what.message}.{what.item_key}"


def said_in(form: Mapping[str, str]) -> dict[Place, str]:
    """By label, message and item, as far as a name names them."""
    found: dict[Place, str] = {}
    for name, value in form.items():
        first, *rest = name.split(".", 3)
        if first != "r" or len(rest) != 3:
            continue
        label, message = number(rest[0]), identity(rest[1])
        if label is not None and message is not None:
            found[label, message, rest[2]] = value
    return found
