"""What was found, as it is shown: a few signs around the words, and where on which branch they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from ..core.durations import thought_in_words
from ..core.items import Kind
from ..core.model_name import ModelName
from ..core.plural import many
from ..core.recorded import Recorded
from ..core.signs.folded import places_of
from ..core.signs.visible import Leave, visible
from ..core.tree import Tree
from ..pages.elements import body_id, item_id, message_id
from ..pages.words.moments import Moment
from ..store.models import Item
from ..store.places import load_trees
from ..thread.item_words import KINDS, cut_in_words
from .store.finding import FoundConversation, FoundItem

FEW, MANY = 3, 50
# Signs before the first word that is marked, and of all that is shown.
BEFORE, LONGEST = 80, 280
UNTITLED = "New conversation"


@dataclass(frozen=True, slots=True)
class MarkedText:
    """Of a text, as people may read it: what was looked for is marked."""

    text: str
    is_marked: bool = False


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
    trees = load_trees([pk for pk, some in hits.items() if some])
    return [
        ShownFound(
            id=each.conversation.pk,
            title=marked(each.conversation.title or UNTITLED, terms if each.in_title else ()),
            is_run=bool(each.conversation.program),
            count=f"{many(each.count, 'match', 'matches')}, {_day(each.conversation.updated_at, zone)}",
            hits=list(_hits(each, hits[each.conversation.pk], items, trees, terms, zone)),
            more=max(0, len(each.items) - skip - most),
        )
        for each in found
    ]


def marked(text: str, terms: tuple[str, ...]) -> list[MarkedText]:
    """All of a text."""
    places = places_of(text, terms) if terms else []
    return _pieces(text, places, 0, len(text))


def excerpt(text: str, terms: tuple[str, ...]) -> list[MarkedText]:
    """Around the first place that has most of these words."""
    places = places_of(text, terms)
    first = _densest(text, places) if places else 0
    begins = max(0, first - BEFORE)
    if begins:
        # A whole word, where one begins soon.
        space = text.find(" ", begins, first)
        begins = space + 1 if space >= 0 else begins
    ends = min(len(text), begins + LONGEST)
    inside = [(max(one, begins), min(other, ends)) for one, other in places if one < ends and other > begins]
    pieces = _pieces(text, inside, begins, ends)
    before = [MarkedText("… ")] if begins else []
    return [*before, *pieces, *([MarkedText(" …")] if ends < len(text) else [])]


def _densest(text: str, places: Sequence[tuple[int, int]]) -> int:
    """Where a stretch begins that shows the most of them, the first of those."""
    best, most, last = places[0][0], 0, 0
    for n, (begins, _) in enumerate(places[:200]):
        while last < len(places) and places[last][1] <= begins - BEFORE + LONGEST:
            last += 1
        different = len({text[one:other].lower() for one, other in places[n:last]})
        if different > most:
            best, most = begins, different
    return best


def _pieces(text: str, places: Sequence[tuple[int, int]], begins: int, ends: int) -> list[MarkedText]:
    pieces, at = list[MarkedText](), begins
    for one, other in [*places, (ends, ends)]:
        if text[at:one]:
            pieces.append(MarkedText(visible(text[at:one], Leave.PROSE)))
        if text[one:other]:
            pieces.append(MarkedText(visible(text[one:other], Leave.PROSE), is_marked=True))
        at = other
    return pieces


def _load_items(items: Sequence[int]) -> dict[int, Item]:
    rows = Item.objects.select_related("message").defer("wire", "message__conversation")
    return rows.in_bulk(items)


def _hits(
    found: FoundConversation,
    hits: Sequence[FoundItem],
    items: Mapping[int, Item],
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
            words=excerpt(item.text, terms),
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
