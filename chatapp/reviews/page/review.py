"""What was submitted as its reviewer and its owner read it: one branch of it, as it was then, with the notes beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.urls import reverse

from ...branches.models import Origin
from ...pages.words.moments import Moment
from ...providers.configured import Catalog
from ...sharing.page.shared import AT_ONCE, without_decider
from ...sharing.store import facts_for_reviewers
from ...store import load_branch
from ...store.models import Message
from ...thread.message import ShownMessage, Standpoint
from ...thread.page import for_others
from ..models import Note, Scope, Submitted, Suggestion, Verdict
from ..news import ShownSubmission, name_or_somebody, shown_submissions
from ..store.reviewing import Reading, forks_from, load_notes, load_then
from ..store.suggesting import suggestions_for
from .passages import quote_in_words
from .rating import AskedOfMessage, RatedPage, load_rated

OWNER, REVIEWER = "owner", "reviewer"


@dataclass(frozen=True, slots=True)
class ShownNote:
    row: Note
    by: str
    at: Moment

    @property
    def quote(self) -> str:
        return quote_in_words(self.row.quote)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A message, and beside it the notes on it, each with its answers, and what is asked of it."""

    message: ShownMessage
    threads: Sequence[Sequence[ShownNote]]
    asked: AskedOfMessage | None = None


@dataclass(frozen=True, slots=True)
class TakenFork:
    """`url`: empty where the viewer may not go there."""

    by: str
    url: str
    at: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPage:
    """Some messages of one branch; `earlier` and `later`: where the page before these and after them begins."""

    reading: Reading
    role: str
    leaf: UUID
    begin: int
    shown: ShownSubmission
    reviewer: str
    decided: Moment | None
    forks: Sequence[TakenFork]
    rated: RatedPage | None
    suggestions: Sequence[Suggestion]
    messages: Sequence[Reviewed]
    earlier: int | None
    later: int | None
    verdicts: Sequence[tuple[str, str]] = tuple(Verdict.choices)

    @property
    def is_tree(self) -> bool:
        """There are several branches."""
        return any(len(children) > 1 for children in self.reading.tree.children.values())

    @property
    def is_whole(self) -> bool:
        return self.reading.submission.scope == Scope.TREE


def load_review_page(
    reading: Reading, at: UUID, viewer: User, catalog: Catalog, zone: tzinfo, start: int | None
) -> ReviewPage:
    """The branch through the message `at`; without a place to start, the part of it where that stands."""
    row = reading.submission
    leaf = reading.tree.newest_leaf(at) or at
    path = reading.tree.path_to(leaf)
    begin = path.index(at) // AT_ONCE * AT_ONCE if start is None else min(start, len(path) - 1)
    role = OWNER if row.conversation.owner_id == viewer.pk else REVIEWER
    shown = path[begin : begin + AT_ONCE]
    siblings = {pk: reading.tree.siblings(pk) for pk in shown}
    acts, end = f"reviews/_acts_{role}.html", "thread/_end_shared.html"
    look = Standpoint(viewer=viewer, leaf=None, siblings=siblings, zone=zone, acts=acts, end=end)
    rated = load_rated(row, viewer, zone)
    return ReviewPage(
        reading=reading,
        role=role,
        leaf=leaf,
        begin=begin,
        shown=shown_submissions([row], viewer, catalog, zone)[0],
        reviewer=name_or_somebody(row.reviewer),
        decided=Moment(row.decided_at.astimezone(zone)) if row.decided_at else None,
        forks=[_taken_fork(fork, viewer, zone) for fork in forks_from(row, viewer)],
        rated=rated,
        suggestions=list(suggestions_for(viewer).filter(submission=row)) if role == OWNER else [],
        messages=_reviewed(reading, shown, viewer, look, catalog, rated),
        earlier=max(0, begin - AT_ONCE) if begin else None,
        later=begin + AT_ONCE if begin + AT_ONCE < len(path) else None,
    )


def _reviewed(
    reading: Reading,
    shown: Sequence[UUID],
    viewer: User,
    look: Standpoint,
    catalog: Catalog,
    rated: RatedPage | None,
) -> list[Reviewed]:
    branch = load_branch(shown[-1], newest=len(shown), of=reading.submission.conversation)
    notes = load_notes(reading, viewer)
    then = load_then(reading.submission, shown)
    return [
        Reviewed(
            _as_submitted(row, branch.items.get(row.pk, []), then[row.pk], look, catalog),
            [[_shown_note(note, look) for note in thread] for thread in notes.get(row.pk, [])],
            rated.by_message.get(row.pk) if rated else None,
        )
        for row in branch.messages
        if row.pk in then
    ]


def _as_submitted(
    row: Message, items: list[Any], then: Submitted, look: Standpoint, catalog: Catalog
) -> ShownMessage:
    """As it was when it was submitted: what came later is taken out before anything is made of it."""
    items = items[: then.items]
    row.metadata, row.next_seq = facts_for_reviewers(row.metadata), then.items
    if then.facts is not None:
        row.status, row.metadata = then.status, then.facts
    return for_others(row, items, look, catalog.label(row.model), told=without_decider)


def _shown_note(row: Note, look: Standpoint) -> ShownNote:
    return ShownNote(row, name_or_somebody(row.author), Moment(row.created_at.astimezone(look.zone)))


def _taken_fork(row: Origin, viewer: User, zone: tzinfo) -> TakenFork:
    mine = row.conversation.owner_id == viewer.pk
    url = reverse("conversation", args=[row.conversation_id]) if mine else ""
    return TakenFork("you" if mine else name_or_somebody(row.by), url, Moment(row.made_at.astimezone(zone)))
