"""Where a viewer is in a conversation, and where they were under each fork. Going somewhere moves one's own place only."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery

from ..core.tree import Tree, repair
from .changes import tell
from .database.worded import Worded
from .models import LIVE, Conversation, Message, Place


def load_head(viewer: User, conversation: Conversation) -> UUID | None:
    """The leaf that opens: one's own place, else the newest. It may have got children since."""
    head = conversation.head_id
    if viewer.pk != conversation.owner_id:
        mine = Place.objects.filter(viewer=viewer, conversation=conversation).first()
        head = (mine and mine.head_id) or head
    if head and _opens(conversation, head):
        return head
    newest = Message.objects.filter(conversation=conversation, deletion=None).order_by("-order")
    return newest.values_list("pk", flat=True).first()


def load_tree(conversation: UUID, head: UUID | None = None) -> Tree[UUID]:
    """All of it, without what was deleted."""
    return repair(_messages_of(conversation).values_list("pk", "parent_id"), head=head)


def load_trees(conversations: Collection[UUID]) -> dict[UUID, Tree[UUID]]:
    rows = Message.objects.filter(conversation__in=conversations, deletion=None).order_by("order")
    pairs: dict[UUID, list[tuple[UUID, UUID | None]]] = {pk: [] for pk in conversations}
    for conversation, *pair in rows.values_list("conversation_id", "pk", "parent_id"):
        pairs[conversation].append((pair[0], pair[1]))
    return {pk: repair(of_one) for pk, of_one in pairs.items()}


def load_places(viewer: User, conversations: Collection[UUID]) -> dict[UUID, dict[UUID | None, UUID]]:
    """For each conversation, which way the viewer went at its forks."""
    rows = Place.objects.filter(viewer=viewer, conversation__in=conversations)
    forks = dict(rows.values_list("conversation_id", "forks"))
    return {pk: _known_forks(forks.get(pk)) for pk in conversations}


@dataclass(frozen=True, slots=True)
class Way:
    """The branch through a message. `is_live`: its leaf is being written."""

    tree: Tree[UUID]
    path: tuple[UUID, ...]
    is_live: bool

    @property
    def leaf(self) -> UUID:
        return self.path[-1]


def remembered(viewer: User | int) -> Subquery:
    """As a column of a conversation: the forks at which the viewer was."""
    return Subquery(Place.objects.filter(viewer=viewer, conversation=OuterRef("pk")).values("forks")[:1])


def load_way(conversation: UUID, message: UUID, forks: Mapping[str, str] | None) -> Way | None:
    """To the leaf where the viewer last was, by the `forks` that are remembered of them. None for a message that is not there."""
    rows = list(_messages_of(conversation).values_list("pk", "parent_id", "status"))
    tree = repair((pk, parent) for pk, parent, _ in rows)
    if message not in tree.parents:
        return None
    leaf = tree.newest_leaf(message, _known_forks(forks)) or message
    return Way(tree, tree.path_to(leaf), any(pk == leaf and status in LIVE for pk, _, status in rows))


def load_siblings(conversation: UUID, messages: list[Message]) -> dict[UUID, tuple[UUID, ...]]:
    """For each of these messages those that share its parent, itself among them, in their order."""
    parents = list({row.parent_id for row in messages if row.parent_id})
    has_roots = any(row.parent_id is None for row in messages)
    count = 1 << len(parents).bit_length()
    found = _beside(count, has_roots=has_roots).rows(
        conversation, *parents, *[conversation] * (count - len(parents))
    )
    children: dict[UUID | None, list[UUID]] = {}
    for row in found:
        children.setdefault(row.parent_id, []).append(row.pk)
    return {row.pk: tuple(children.get(row.parent_id, ())) for row in messages}


@cache
def _beside(count: int, *, has_roots: bool) -> Worded:
    """What is below so many messages, and the roots of a conversation. Counts are powers of two, so that there are few wordings; what is
    no message has nothing below it."""

    def ask(conversation: UUID, *parents: UUID) -> QuerySet[Message]:
        below = Q(parent__in=parents)
        beside = below | Q(conversation=conversation, parent=None) if has_roots else below
        return Message.objects.filter(beside, deletion=None).order_by("order").only("parent")

    return Worded(ask, UUID, *[UUID] * count)


@transaction.atomic
def go_to(viewer: User, message: Message) -> UUID:
    """Moves the viewer to the branch through this message, and remembers what they leave."""
    conversation = Conversation.objects.select_for_update().get(pk=message.conversation_id)
    tree = load_tree(conversation.pk)
    place, _ = Place.objects.get_or_create(viewer=viewer, conversation=conversation)
    mine = viewer.pk == conversation.owner_id
    left = conversation.head_id if mine else place.head_id
    places = _known_forks(place.forks) | tree.places_on(left)
    leaf = tree.newest_leaf(message.pk, places) or message.pk
    place.forks = _written(places | tree.places_on(leaf))
    place.head_id = leaf
    place.save()
    if mine:
        Conversation.objects.filter(pk=conversation.pk).update(head=leaf)
    tell(conversation.pk, "head moved", leaf)
    return leaf


def _messages_of(conversation: UUID) -> QuerySet[Message]:
    return Message.objects.filter(conversation=conversation, deletion=None).order_by("order")


def _opens(conversation: Conversation, head: UUID) -> bool:
    """A conversation that was loaded with its head is not asked for it again."""
    if head == conversation.head_id and Conversation._meta.get_field("head").is_cached(conversation):
        row = conversation.head
        return row is not None and row.conversation_id == conversation.pk and row.deletion is None
    return bool(_STANDS.columns(head, conversation.pk))


_STANDS = Worded(
    lambda pk, conversation: Message.objects.filter(
        pk=pk, conversation=conversation, deletion=None
    ).values_list("pk"),
    UUID,
    UUID,
)


def _known_forks(forks: Mapping[str, str] | None) -> dict[UUID | None, UUID]:
    return {UUID(fork) if fork else None: UUID(child) for fork, child in (forks or {}).items()}


def _written(places: dict[UUID | None, UUID]) -> dict[str, str]:
    return {str(fork or ""): str(child) for fork, child in places.items()}
