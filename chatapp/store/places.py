"""Where a viewer is in a conversation, and where they were under each fork. Going somewhere moves one's own place only."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from ..core.tree import Tree, repair
from .changes import tell
from .models import Conversation, Message, Place


def load_head(viewer: User, conversation: Conversation) -> UUID | None:
    """The leaf that opens: one's own place, else the newest. It may have got children since."""
    head = conversation.head_id
    if viewer.pk != conversation.owner_id:
        mine = Place.objects.filter(viewer=viewer, conversation=conversation).first()
        head = (mine and mine.head_id) or head
    if head and Message.objects.filter(pk=head, conversation=conversation, deletion=None).exists():
        return head
    newest = Message.objects.filter(conversation=conversation, deletion=None).order_by("-order")
    return newest.values_list("pk", flat=True).first()


def load_tree(conversation: UUID, head: UUID | None = None) -> Tree[UUID]:
    """All of it, without what was deleted."""
    rows = Message.objects.filter(conversation=conversation, deletion=None).order_by("order")
    return repair(rows.values_list("pk", "parent_id"), head=head)


def load_leaf(viewer: User, message: Message, tree: Tree[UUID] | None = None) -> UUID:
    """The leaf of the branch through this message: the one where the viewer last was. `tree`: where it is known already."""
    tree = tree or load_tree(message.conversation_id)
    places = _read(Place.objects.filter(viewer=viewer, conversation=message.conversation_id).first())
    return tree.newest_leaf(message.pk, places) or message.pk


def load_siblings(conversation: UUID, messages: list[Message]) -> dict[UUID, tuple[UUID, ...]]:
    """For each of these messages those that share its parent, itself among them, in their order."""
    rows = Message.objects.filter(deletion=None).order_by("order")
    parents = {row.parent_id for row in messages if row.parent_id}
    pairs = list(rows.filter(parent__in=parents).values_list("parent_id", "pk"))
    if any(row.parent_id is None for row in messages):
        pairs += rows.filter(conversation=conversation, parent=None).values_list("parent_id", "pk")
    children: dict[UUID | None, list[UUID]] = {}
    for parent, child in pairs:
        children.setdefault(parent, []).append(child)
    return {row.pk: tuple(children.get(row.parent_id, ())) for row in messages}


@transaction.atomic
def go_to(viewer: User, message: Message) -> UUID:
    """Moves the viewer to the branch through this message, and remembers what they leave."""
    conversation = Conversation.objects.select_for_update().get(pk=message.conversation_id)
    tree = load_tree(conversation.pk)
    place, _ = Place.objects.get_or_create(viewer=viewer, conversation=conversation)
    mine = viewer.pk == conversation.owner_id
    left = conversation.head_id if mine else place.head_id
    places = _read(place) | tree.places_on(left)
    leaf = tree.newest_leaf(message.pk, places) or message.pk
    place.forks = _written(places | tree.places_on(leaf))
    place.head_id = leaf
    place.save()
    if mine:
        Conversation.objects.filter(pk=conversation.pk).update(head=leaf)
    tell(conversation.pk, "head moved", leaf)
    return leaf


def _read(place: Place | None) -> dict[UUID | None, UUID]:
    forks = place.forks if place else {}
    return {UUID(fork) if fork else None: UUID(child) for fork, child in forks.items()}


def _written(places: dict[UUID | None, UUID]) -> dict[str, str]:
    return {str(fork or ""): str(child) for fork, child in places.items()}
