"""How much goes along with a fork, for whoever chooses."""

from __future__ import annotations

from ...core.plural import many
from ...store.models import Message
from ...store.places import load_tree
from ..store.forking import Extent

_EXTENTS = {
    Extent.BRANCH: "This branch, up to here",
    Extent.WITH_SIDES: "With its side branches",
    Extent.EVERYTHING: "Everything in this conversation",
}


def extents_of(message: Message) -> list[tuple[str, str, str]]:
    """Each with its words, and with how many messages it is."""
    tree = load_tree(message.conversation_id)
    path = tree.path_to(message.pk)
    counts = {
        Extent.BRANCH: len(path),
        Extent.WITH_SIDES: 1 + len(tree.below(path[0])),
        Extent.EVERYTHING: len(tree.parents),
    }
    return [(value, _EXTENTS[value], many(counts[value], "message")) for value in Extent]
