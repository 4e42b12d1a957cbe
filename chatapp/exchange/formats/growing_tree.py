"""The tree of a conversation as its messages come, in whatever order a file has them. What is wrong with it is mended and counted."""

from __future__ import annotations

from collections.abc import Mapping

from ...core.tree import Tree, repair
from .shape import Remark, ToldConversation


class GrowingTree:
    """By the file's own ids."""

    def __init__(self, conversation: ToldConversation) -> None:
        self._conversation = conversation
        self._told: dict[str, str | None] = {}
        self._late: set[str] = set()

    def __len__(self) -> int:
        return len(self._told)

    def add(self, id: str, parent: str | None) -> bool:
        """False where it came before."""
        if id in self._told:
            self._conversation.note(Remark.TWICE)
            return False
        if parent is not None and parent not in self._told:
            self._late.add(id)
        self._told[id] = parent
        return True

    def known_parent(self, id: str) -> str | None:
        """Where that came before it."""
        return None if id in self._late else self._told[id]

    def grown(self) -> tuple[Tree[str], Mapping[str, str]]:
        """When all of them have come: the tree, and for those whose parent came after them, which it is."""
        tree = repair(self._told.items())
        late = {id: parent for id in self._late if (parent := tree.parents[id])}
        orphans = sum(self._told[id] not in self._told for id in self._late)
        self._conversation.note(Remark.ORPHAN, orphans)
        self._conversation.note(Remark.LOOP, len(self._late) - orphans - len(late))
        self._conversation.note(Remark.LATE_PARENT, len(late))
        begin = sum(parent is None for parent in self._told.values())
        self._conversation.note(Remark.ROOTS, begin if begin > 1 else 0)
        return tree, late

    def head_in(self, tree: Tree[str]) -> str | None:
        """The leaf that opens, by what the file says of it."""
        told = self._conversation
        places = {parent or None: child for parent, child in told.forks.items()}
        if told.head is not None and told.head not in tree.parents:
            told.note(Remark.HEAD)
            told.head = None
        newest = next(reversed([*tree.parents]), None)
        return tree.newest_leaf(told.head or newest, places)
