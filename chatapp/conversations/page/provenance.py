"""Where a fork came from, what was forked from a conversation and which administrators looked at it, for its owner: of readers
no more than that they did it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from django.contrib.auth.models import User
from django.urls import reverse

from ...branches.models import Origin
from ...branches.store.forking import load_origins
from ...core.plural import times
from ...exchange.store.bringing import load_imported
from ...exchange.store.imports import label_of
from ...oversight.models import Look
from ...oversight.store.looks import looks_at
from ...pages.elements import message_id
from ...pages.words.moments import Moment
from ...reviews.news import name_or_somebody
from ...reviews.store.reviewing import held_by
from ...store.models import Conversation

# More forks than these are only counted.
MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class CameFrom:
    """`url` and `compare`: empty where the viewer may not go there."""

    title: str
    by: str
    url: str
    compare: str
    at: Moment


@dataclass(frozen=True, slots=True)
class Fork:
    title: str
    url: str
    compare: str
    at: Moment


@dataclass(frozen=True, slots=True)
class ReviewersFork:
    """Somebody to whom it was submitted took a branch to go on with."""

    by: str
    at: Moment


@dataclass(frozen=True, slots=True)
class Looked:
    """An administrator at somebody's conversation, and what they did there."""

    name: str
    what: str
    at: Moment


@dataclass(frozen=True, slots=True)
class Imported:
    """`program`: what wrote the file."""

    program: str
    file: str
    at: Moment


@dataclass(frozen=True, slots=True)
class Provenance:
    came_from: CameFrom | None = None
    imported: Imported | None = None
    forks: Sequence[Fork] = ()
    count: int = 0
    by_others: int = 0
    reviewers: Sequence[ReviewersFork] = ()
    looks: Sequence[Looked] = ()

    @property
    def times(self) -> str:
        return times(self.count)

    @property
    def looked(self) -> str:
        return times(len(self.looks))


def provenance_of(conversation: Conversation, viewer: User, zone: tzinfo) -> Provenance:
    origins = load_origins(conversation.pk, lambda: held_by(viewer))
    origin, made = origins.own, origins.forks
    own = [row for row in made if row.conversation.owner_id == viewer.pk]
    taken = [row for row in made if row.submission_id and row.conversation.owner_id != viewer.pk]
    return Provenance(
        came_from=_came_from(origin, conversation, viewer, zone) if origin else None,
        forks=[_fork(row, zone) for row in own[:MOST_LISTED]],
        imported=_imported(conversation, zone),
        count=len(made),
        by_others=len(made) - len(own) - len(taken),
        reviewers=[
            ReviewersFork(name_or_somebody(row.by), Moment(row.made_at.astimezone(zone))) for row in taken
        ],
        looks=[_looked(row, zone) for row in looks_at(conversation.pk)],
    )


def _imported(conversation: Conversation, zone: tzinfo) -> Imported | None:
    """Whether it was is read with the conversation that is opened."""
    row = load_imported(conversation.pk) if vars(conversation).get("is_imported") else None
    if row is None:
        return None
    at = Moment((row.brought.ended_at or row.brought.created_at).astimezone(zone))
    return Imported(label_of(row.format), row.file.name if row.file else "", at)


def _looked(row: Look, zone: tzinfo) -> Looked:
    return Looked(row.name, row.get_what_display(), Moment(row.at.astimezone(zone)))


def _came_from(row: Origin, fork: Conversation, viewer: User, zone: tzinfo) -> CameFrom:
    mine = row.owner_id == viewer.pk
    by = "you" if mine else row.owner_name if row.owner_id else "somebody whose account is gone"
    url = _url(row, viewer)
    return CameFrom(
        title=row.title or "a conversation",
        by=by,
        url=url,
        compare=_compare(row, fork) if url else "",
        at=Moment(row.made_at.astimezone(zone)),
    )


def _url(row: Origin, viewer: User) -> str:
    """Of the message in the source, while both are there: in the conversation of its owner, else where it is reviewed."""
    source, message = row.source, row.message
    if not (source and message) or source.deleted_at or message.deletion:
        return ""
    if source.owner_id != viewer.pk:
        return _url_of_review(row)
    return f"{_address(source)}?at={message.pk}#{message_id(message.pk)}"


def _url_of_review(row: Origin) -> str:
    if not row.opens_review:
        return ""
    address = reverse("review", args=[row.submission_id])
    return f"{address}?at={row.message_id}#{message_id(row.message_id or '')}"


def _fork(row: Origin, zone: tzinfo) -> Fork:
    title = row.conversation.title or "Conversation"
    return Fork(
        title,
        _address(row.conversation),
        _compare(row, row.conversation),
        Moment(row.made_at.astimezone(zone)),
    )


def _compare(row: Origin, fork: Conversation) -> str:
    """The source beside the fork, while there is something in both."""
    message, head = row.message, fork.head
    there = message and head and not (message.deletion or head.deletion)
    return f"{reverse('compare')}?a={row.message_id}&b={fork.head_id}" if there else ""


def _address(conversation: Conversation) -> str:
    return reverse("conversation", args=[conversation.pk])
