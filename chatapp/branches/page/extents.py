"""How much goes along with a fork, for whoever chooses."""

from __future__ import annotations

from dataclasses import dataclass

from ...store.models import Message
from ...store.places import load_tree
from ...thread.figures import many
from ..store.forking import Extent

_EXTENTS = {
    Extent.BRANCH: "This branch, up to here",
    Extent.WITH_SIDES: "With its side branches",
    Extent.EVERYTHING: "Everything in this conversation",
}


@dataclass(frozen=True, slots=True)
class ExtentChoice:
    value: str
    label: str
    count: str


def extents_of(message: Message) -> list[ExtentChoice]:
    tree = load_tree(message.conversation_id)
    path = tree.path_to(message.pk)
    counts = {
        Extent.BRANCH: len(path),
        Extent.WITH_SIDES: 1 + len(tree.below(path[0])),
        Extent.EVERYTHING: len(tree.parents),
    }
    return [ExtentChoice(value, _EXTENTS[value], many(counts[value], "message")) for value in Extent]
