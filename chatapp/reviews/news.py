"""Reviews in words: one row of the queue or of one's own list, what stands above a conversation, and the marks beside every page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Exists, Window
from django.template.loader import render_to_string
from django.utils import timezone

from ..catalog.page.models_shown import models_in_words
from ..core.durations import in_short
from ..core.plural import many
from ..pages import operations
from ..pages.operations import Operation
from ..pages.words.moments import Moment, ago
from ..providers.configured import Catalog
from .models import Seat, Submission, Suggestion, Verdict, Wish
from .store.marks import load_marks
from .store.rating import load_seats
from .store.reviewing import load_titles
from .store.submitting import may_have_reviews, submissions_of, wishes_of
from .store.suggesting import open_suggestions

# So long may something wait.
LATE = timedelta(days=2)
SOMEBODY = "somebody whose account is gone"
_JUDGED = {
    Verdict.APPROVED: ("approved", "good"),
    Verdict.NEEDS_WORK: ("needs work", "work"),
    Verdict.REJECTED: ("rejected", "bad"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewState:
    """In words, and the sign before them: open, good, work or bad."""

    words: str
    sign: str = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSubmission:
    """One in a list. `title` and `question` are empty for staff who only assign. `news`: something in it was not opened yet."""

    row: Submission
    title: str
    question: str
    owner: str
    facts: str
    at: Moment
    ago: str
    state: ReviewState
    labels: str
    is_late: bool
    news: bool
    may_open: bool
    may_take: bool
    may_give_back: bool
    may_assign: bool


@dataclass(frozen=True, slots=True)
class ShownWish:
    row: Wish
    by: str
    at: Moment

    @property
    def title(self) -> str:
        return self.row.conversation.title


def shown_submissions(
    rows: Iterable[Submission], viewer: User, catalog: Catalog, zone: tzinfo, *, takes: bool = False
) -> list[ShownSubmission]:
    """`takes`: the viewer may take what nobody reads."""
    rows, now = list(rows), timezone.now()
    titles = load_titles(row for row in rows if not _own_title(row, viewer))
    seats = load_seats(rows)
    return [
        _row_in_queue(
            row,
            _own_title(row, viewer) or titles[row.pk],
            viewer,
            catalog,
            zone,
            now,
            seats=seats.get(row.pk, []),
            takes=takes,
        )
        for row in rows
    ]


def _own_title(row: Submission, viewer: User) -> str:
    return row.conversation.title if row.conversation.owner_id == viewer.pk else ""


def _row_in_queue(
    row: Submission,
    title: str,
    viewer: User,
    catalog: Catalog,
    zone: tzinfo,
    now: datetime,
    *,
    seats: Sequence[Seat],
    takes: bool,
) -> ShownSubmission:
    own = row.conversation.owner_id == viewer.pk
    seat = next((seat for seat in seats if seat.reviewer_id == viewer.pk), None)
    mine = not own and (seat is not None if row.label_set else row.is_held and row.reviewer_id == viewer.pk)
    may_take = takes and not (own or mine or row.is_held or row.decided_at)
    sees = own or mine or may_take
    return ShownSubmission(
        row=row,
        title=title if sees else "",
        question=row.question if sees else "",
        owner=row.conversation.owner.get_username(),
        facts=facts_of(row, catalog),
        at=Moment(row.created_at.astimezone(zone)),
        ago=ago(row.created_at, now),
        state=state_of(row, viewer, seats, free=not row.is_held),
        labels=row.label_set.name if row.label_set else "",
        is_late=not row.decided_at and now - row.created_at > LATE,
        news=row.news_for_owner if own else mine and (seat.news if seat else row.news_for_reviewer),
        may_open=own or mine,
        may_take=may_take,
        may_give_back=mine and not row.decided_at,
        may_assign=viewer.is_staff and not row.decided_at,
    )


def facts_of(row: Submission, catalog: Catalog) -> str:
    """`5 branches, 3 min 45 s of thought, by GPT-5`, as it was submitted."""
    branches = many(row.branches, "branch", "branches")
    thought = f"{in_short(row.thought_ms)} of thought" if row.thought_ms is not None else ""
    models = list(dict.fromkeys(catalog.label(model) or model for model in row.by_models))
    return ", ".join(filter(None, [branches, thought, f"by {models_in_words(models)}" if models else ""]))


def state_of(row: Submission, viewer: User, seats: Sequence[Seat], *, free: bool) -> ReviewState:
    if row.label_set:
        return _state_of_rated(row, viewer, seats, row.label_set.raters)
    if row.verdict:
        words, sign = _JUDGED[Verdict(row.verdict)]
        return ReviewState(words=words, sign=sign)
    if free:
        return ReviewState(words="waits for a reviewer")
    if row.reviewer_id == viewer.pk:
        return ReviewState(words="assigned to you" if row.assigned else "you read it")
    return ReviewState(words=f"{name_or_somebody(row.reviewer)} reads it")


def _state_of_rated(row: Submission, viewer: User, seats: Sequence[Seat], raters: int) -> ReviewState:
    handed = sum(seat.handed_in_at is not None for seat in seats)
    if row.decided_at:
        return ReviewState(words=f"rated by {handed}", sign="rated")
    if not seats:
        return ReviewState(words=f"waits for {many(raters, 'reviewer')}")
    mine = next((seat for seat in seats if seat.reviewer_id == viewer.pk), None)
    if mine and not mine.handed_in_at:
        return ReviewState(words="assigned to you" if mine.assigned else "you rate it")
    return ReviewState(words=f"{handed} of {raters} handed in")


@dataclass(frozen=True, slots=True)
class ReviewsHere:
    """What the page of a conversation says of its reviews. `count`: of those that are not the newest."""

    newest: ShownSubmission | None
    older: int
    wishes: list[ShownWish]
    suggestions: Sequence[Suggestion] = ()


def reviews_here(conversation: UUID, viewer: User, catalog: Catalog, zone: tzinfo) -> ReviewsHere:
    if not may_have_reviews(conversation):
        return ReviewsHere(None, 0, [])
    offered = Exists(Suggestion.objects.filter(submission__conversation=conversation, settled_at=None))
    found = submissions_of(viewer, conversation).annotate(every=Window(Count("pk")), is_offered=offered)[:1]
    newest = next(iter(found), None)
    shown = shown_submissions([newest], viewer, catalog, zone)[0] if newest else None
    wishes = shown_wishes(wishes_of(viewer, conversation), zone)
    suggestions = list(open_suggestions(viewer, conversation)) if newest and newest.is_offered else []
    return ReviewsHere(shown, newest.every - 1 if newest else 0, wishes, suggestions)


def shown_wishes(rows: Iterable[Wish], zone: tzinfo) -> list[ShownWish]:
    return [ShownWish(row, name_or_somebody(row.by), Moment(row.created_at.astimezone(zone))) for row in rows]


def name_or_somebody(person: User | None) -> str:
    return person.get_username() if person else SOMEBODY


def review_news(person: User) -> list[Operation]:
    """The marks in the list beside their other pages; a page of a review looks what is new there."""
    context = {"marks": load_marks(person)}
    names = ("reviews/_mark_queue.html", "reviews/_mark_own.html")
    return [
        *(operations.put(render_to_string(name, context)) for name in names),
        operations.changed("reviews"),
    ]
