"""What was found, as it is shown: a few signs around the words, and where on which branch they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from ...core.durations import thought_in_words
from ...core.items import Kind
from ...core.model_name import ModelName
from ...core.plural import many
from ...core.recorded import Recorded
from ...core.signs.visible import visible
from ...core.tree import Tree
from ...pages.elements import body_id, item_id, message_id
from ...pages.words.moments import Moment
from ...store.models import Item
from ...store.places import load_trees
from ...thread.item_words import KINDS, cut_in_words
from ..store.as_read import knowing_what_was_cut, texts_as_read
from ..store.finding import FoundConversation, FoundItem
from .excerpts import MarkedText, excerpt, marked

FEW, MANY = 3, 50
UNTITLED = "New conversation"


@dataclass(frozen=True, slots=True)
class ShownHit:
    """`branch`: which one it stands on, where there are several; `is_here`: the one where one is."""

    address: str
    kind: str
    called: str
    model: str
    at: Moment
    words: Sequence[MarkedText]
    branch: str = ""
    is_here: bool = False


@dataclass(frozen=True, slots=True)
class ShownFound:
    """A conversation. `more`: so many hits are not shown."""

    id: UUID
    title: Sequence[MarkedText]
    is_run: bool
    count: str
    hits: Sequence[ShownHit]
    more: int


def shown_found(
    found: Sequence[FoundConversation],
    terms: tuple[str, ...],
    zone: tzinfo,
    *,
    most: int = FEW,
    skip: int = 0,
) -> list[ShownFound]:
    hits = {each.conversation.pk: each.items[skip : skip + most] for each in found}
    items = _load_items([hit.item for some in hits.values() for hit in some])
    texts = texts_as_read(list(items.values()))
    trees = load_trees([pk for pk, some in hits.items() if some])
    return [
        ShownFound(
            id=each.conversation.pk,
            title=marked(each.conversation.title or UNTITLED, terms if each.in_title else ()),
            is_run=bool(each.conversation.program),
            count=f"{many(each.count, 'match', 'matches')}, {_day(each.conversation.updated_at, zone)}",
            hits=list(_hits(each, hits[each.conversation.pk], items, texts, trees, terms, zone)),
            more=max(0, len(each.items) - skip - most),
        )
        for each in found
    ]


def _load_items(items: Sequence[int]) -> dict[int, Item]:
    rows = Item.objects.select_related("message").defer("wire", "message__conversation")
    return knowing_what_was_cut(rows).in_bulk(items)


def _hits(
    found: FoundConversation,
    hits: Sequence[FoundItem],
    items: Mapping[int, Item],
    texts: Mapping[int, str],
    trees: Mapping[UUID, Tree[UUID]],
    terms: tuple[str, ...],
    zone: tzinfo,
) -> Iterator[ShownHit]:
    branches = _Branches(trees[found.conversation.pk], found.conversation.head_id) if hits else None
    for hit in hits:
        if (item := items.get(hit.item)) is None or branches is None:
            continue
        row = item.message
        branch, is_here = branches.where(hit.message)
        yield ShownHit(
            address=_address(found.conversation.pk, item),
            kind=hit.kind,
            called=_called(item),
            model=visible(ModelName.of(row.model)[1] if row.model else ""),
            at=Moment(row.created_at.astimezone(zone)),
            words=excerpt(texts[item.pk], terms, Kind(item.kind)),
            branch=branch,
            is_here=is_here,
        )


class _Branches:
    """Of a conversation: which of them a message is on."""

    def __init__(self, tree: Tree[UUID], head: UUID | None) -> None:
        self._tree = tree
        self._leaves = [pk for pk in tree.parents if not tree.children.get(pk)]
        self._here = frozenset(
            tree.path_to(tree.newest_leaf(head) if head in tree.parents else tree.newest_leaf())
        )

    def where(self, message: UUID) -> tuple[str, bool]:
        if len(self._leaves) < 2:
            return "", False
        if message in self._here:
            return "", True
        leaf = self._tree.newest_leaf(message)
        number = self._leaves.index(leaf) + 1 if leaf in self._leaves else 1
        return f"side branch {number} of {len(self._leaves)}", False


def _address(conversation: UUID, item: Item) -> str:
    """On its branch, which moves nobody's place. What lies inside something that is closed opens that."""
    key = item_id(item.message_id, item.key)
    inside = body_id(key) if item.kind == Kind.REASONING else message_id(item.message_id)
    return f"{reverse('conversation', args=[conversation])}?at={item.message_id}#{inside}"


def _called(item: Item) -> str:
    if item.kind != Kind.REASONING:
        return KINDS[Kind(item.kind)]
    cut = cut_in_words(item.message) if item.cut else ""
    return thought_in_words(Recorded(item.message.metadata).thoughts.get(item.key), cut=cut)


def _day(moment: datetime, zone: tzinfo) -> str:
    at, now = moment.astimezone(zone), timezone.now().astimezone(zone)
    if at.date() == now.date():
        return "today"
    return f"{at.day} {at:%B}" if at.year == now.year else f"{at.day} {at:%B %Y}"
