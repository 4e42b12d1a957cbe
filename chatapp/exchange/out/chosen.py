"""Which messages of a conversation go out: a branch, with its side branches, or everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User

from ...branches.store.forking import Extent
from ...core.tree import Tree
from ...store.models import Conversation
from ...store.places import load_head, load_places, load_tree


@dataclass(frozen=True, slots=True)
class Chosen:
    """`messages` in their order, each with the one above it. `leaf`: where its main branch ends. `forks`: which way its owner went
    where several follow one message."""

    conversation: Conversation
    parents: Mapping[UUID, UUID | None]
    leaf: UUID | None
    forks: Mapping[UUID | None, UUID]

    @property
    def messages(self) -> Sequence[UUID]:
        return tuple(self.parents)

    def branch(self) -> Sequence[UUID]:
        """The main one, from its beginning."""
        path: list[UUID] = []
        at = self.leaf
        while at is not None:
            path.append(at)
            at = self.parents[at]
        return tuple(reversed(path))


@dataclass(frozen=True, slots=True)
class Choosable:
    """From what one chooses."""

    conversation: Conversation
    tree: Tree[UUID]
    leaf: UUID | None
    forks: Mapping[UUID | None, UUID]

    def of(self, extent: Extent) -> Chosen:
        kept = set(_wanted(self.tree, self.leaf, extent))
        parents = {pk: parent for pk, parent in self.tree.parents.items() if pk in kept}
        forks = {
            parent: child
            for parent, child in self.forks.items()
            if child in kept and parents[child] == parent and len(set(self.tree.siblings(child)) & kept) > 1
        }
        return Chosen(self.conversation, parents, self.leaf, forks)


def load_choice(conversation: Conversation, owner: User, *, at: UUID | None = None) -> Choosable | None:
    """`at`: the message with which a branch ends, else the branch that opens ends where it ends. None where that is not there."""
    tree = load_tree(conversation.pk)
    if at is not None and at not in tree.parents:
        return None
    leaf = at or load_head(owner, conversation)
    leaf = leaf if leaf in tree.parents else tree.newest_leaf()
    return Choosable(conversation, tree, leaf, load_places(owner, [conversation.pk])[conversation.pk])


def choose(
    conversation: Conversation, owner: User, extent: Extent, *, at: UUID | None = None
) -> Chosen | None:
    choice = load_choice(conversation, owner, at=at)
    return choice.of(extent) if choice else None


def _wanted(tree: Tree[UUID], leaf: UUID | None, extent: Extent) -> Sequence[UUID]:
    path = tree.path_to(leaf)
    match extent:
        case Extent.BRANCH:
            return path
        case Extent.WITH_SIDES:
            return (path[0], *tree.below(path[0])) if path else ()
        case Extent.EVERYTHING:
            return tree.below(None)
