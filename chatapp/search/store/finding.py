"""What one finds in one's own: conversation by conversation, the newest first, until a page is full."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from ...core.signs.folded import fold
from ...store.models import Conversation, Message
from ..forms import TITLE, ConversationPlace
from ..models import FoldedItem, Spoken

PAGE = 10
# So many conversations are looked through at once: a few where words are said often, many where they are rare.
FIRST, GROWTH, MOST = 20, 5, 500
# Seconds, after which it is said how far one came.
LONGEST = 1.0
MOST_MODELS = 50


@dataclass(frozen=True, slots=True)
class WantedWords:
    """All of these terms in one item, or in a title. With a model only what it said is looked through."""

    terms: tuple[str, ...]
    where: frozenset[str]
    since: datetime | None = None
    model: str = ""

    @property
    def kinds(self) -> list[str]:
        said = {Spoken.ANSWER, Spoken.THOUGHT} if self.model else set(Spoken)
        return sorted(kind for kind in said if kind in self.where)

    def are_in(self, folded: str) -> bool:
        return all(term in folded for term in self.terms)

    def are_in_title_of(self, listed: ListedTitle) -> bool:
        if TITLE not in self.where or self.model or (self.since and listed.updated_at < self.since):
            return False
        return self.are_in(fold(listed.title))


class ListedTitle(NamedTuple):
    """A conversation, as much of it as is read of those in which nothing may be found."""

    id: UUID
    updated_at: datetime
    title: str

    @property
    def place(self) -> ConversationPlace:
        return ConversationPlace(self.updated_at, self.id)


@dataclass(frozen=True, slots=True)
class FoundItem:
    item: int
    message: UUID
    kind: str


@dataclass(frozen=True, slots=True)
class FoundConversation:
    """`items` in the order of their messages."""

    conversation: Conversation
    in_title: bool
    items: Sequence[FoundItem]

    @property
    def count(self) -> int:
        return len(self.items) + self.in_title

    @property
    def place(self) -> ConversationPlace:
        return ConversationPlace(self.conversation.updated_at, self.conversation.pk)


@dataclass(frozen=True, slots=True)
class FoundPage:
    """`older`: where it goes on; `is_late`: it took too long to come there."""

    found: Sequence[FoundConversation]
    older: ConversationPlace | None = None
    is_late: bool = False


def find_own(owner: User, wanted: WantedWords, *, after: ConversationPlace | None = None) -> FoundPage:
    until, found = time.monotonic() + LONGEST, list[FoundConversation]()
    for some in _newest_first(owner, after):
        found += _found_in(some, wanted, PAGE + 1 - len(found))
        if len(found) > PAGE:
            return FoundPage(found[:PAGE], found[PAGE - 1].place)
        if time.monotonic() > until:
            return FoundPage(found, some[-1].place, is_late=True)
    return FoundPage(found)


def find_inside(conversation: Conversation, wanted: WantedWords) -> FoundConversation | None:
    listed = ListedTitle(conversation.pk, conversation.updated_at, conversation.title)
    return next(iter(_found_in([listed], wanted, 1)), None)


def load_models(owner: User) -> list[str]:
    """Those that answered one."""
    mine = Conversation.objects.filter(owner=owner, deleted_at=None)
    answers = Message.objects.filter(deletion=None)
    names, last = list[str](), ""
    # From one to the next in the index, and for each from one's conversations on: all others have answers of theirs.
    while len(names) < MOST_MODELS and (
        last := answers.filter(model__gt=last).order_by("model").values_list("model", flat=True).first() or ""
    ):
        if mine.filter(Exists(answers.filter(model=last, conversation=OuterRef("pk")))).exists():
            names.append(last)
    return names


def containing(terms: Collection[str]) -> Q:
    """The judge, on every database the same: what is looked for is folded like what was said."""
    found = Q()
    for term in terms:
        found &= Q(text__contains=term)
    return found


def _newest_first(owner: User, after: ConversationPlace | None) -> Iterator[list[ListedTitle]]:
    rows = Conversation.objects.filter(owner=owner, deleted_at=None).order_by("-updated_at", "-id")
    size = FIRST
    while some := [
        ListedTitle(*row) for row in _behind(rows, after).values_list(*ListedTitle._fields)[:size]
    ]:
        yield some
        after, size = some[-1].place, min(size * GROWTH, MOST)


def _behind(rows: QuerySet[Conversation], place: ConversationPlace | None) -> QuerySet[Conversation]:
    if place is None:
        return rows
    older = Q(updated_at__lt=place.updated_at) | Q(id__lt=place.id)
    return rows.filter(older, updated_at__lte=place.updated_at)


def _found_in(some: Sequence[ListedTitle], wanted: WantedWords, most: int) -> list[FoundConversation]:
    """In the first so many of these."""
    items = _items_in([listed.id for listed in some], wanted)
    with_title = {listed.id for listed in some if wanted.are_in_title_of(listed)}
    found = [listed.id for listed in some if listed.id in items or listed.id in with_title][:most]
    rows = Conversation.objects.defer("tools", "instructions").in_bulk(found)
    return [FoundConversation(rows[pk], pk in with_title, items.get(pk, ())) for pk in found if pk in rows]


def _items_in(conversations: Collection[UUID], wanted: WantedWords) -> dict[UUID, list[FoundItem]]:
    rows = FoldedItem.objects.filter(
        containing(wanted.terms), conversation__in=conversations, item__message__deletion=None
    )
    if wanted.kinds != sorted(Spoken):
        rows = rows.filter(kind__in=wanted.kinds)
    if wanted.since:
        rows = rows.filter(item__message__created_at__gte=wanted.since)
    if wanted.model:
        rows = rows.filter(item__message__model=wanted.model)
    names = ("conversation_id", "item__message__order", "item__seq", "item_id", "item__message_id", "kind")
    found: dict[UUID, list[FoundItem]] = defaultdict(list)
    for conversation, _, _, item, message, kind in sorted(rows.values_list(*names)):
        found[conversation].append(FoundItem(item, message, kind))
    return found
