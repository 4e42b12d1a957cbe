"""The tree of a conversation, made from (id, parent id) pairs alone. Bad pairs are mended and told, never trusted."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Generic, TypeVar

Id = TypeVar("Id", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Tree(Generic[Id]):
    """`children[None]` are the roots; siblings stand in the order of their rows. A message that is not in the tree
    has no path, no siblings and nothing below it."""

    parents: Mapping[Id, Id | None]
    children: Mapping[Id | None, tuple[Id, ...]]
    head: Id | None
    problems: tuple[str, ...]

    def path_to(self, leaf: Id | None) -> tuple[Id, ...]:
        """From the root to this message."""
        path: list[Id] = []
        at = leaf if leaf in self.parents else None
        while at is not None:
            path.append(at)
            at = self.parents[at]
        return tuple(reversed(path))

    def depth(self, message: Id | None) -> int:
        """A root has depth 1."""
        return len(self.path_to(message))

    def siblings(self, message: Id) -> tuple[Id, ...]:
        """The message itself is among them."""
        return self.children[self.parents[message]] if message in self.parents else ()

    def below(self, message: Id | None) -> tuple[Id, ...]:
        """Everything under a message (under None: all there is), parents before children, branch by branch."""
        found: list[Id] = []
        waiting = list(reversed(self.children.get(message, ())))
        while waiting:
            at = waiting.pop()
            found.append(at)
            waiting.extend(reversed(self.children.get(at, ())))
        return tuple(found)

    def newest_leaf(self, under: Id | None = None, places: Mapping[Id | None, Id] | None = None) -> Id | None:
        """Down from a message (else from the roots) to a leaf: by the remembered child of each, else by the newest."""
        places = places or {}
        at = under if under in self.parents else None
        while children := self.children.get(at):
            place = places.get(at)
            at = place if place in children else children[-1]
        return at

    def places_on(self, leaf: Id | None) -> dict[Id | None, Id]:
        """What to remember on leaving a leaf: for every place on its branch with several children, the child taken."""
        return {self.parents[at]: at for at in self.path_to(leaf) if len(self.siblings(at)) > 1}

    def common_start(self, a: Id | None, b: Id | None) -> tuple[Id, ...]:
        """What two branches share; they part after the last of these."""
        pairs = zip(self.path_to(a), self.path_to(b), strict=False)
        return tuple(message for message, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def repair(rows: Iterable[tuple[Id, Id | None]], *, head: Id | None = None) -> Tree[Id]:
    """Any rows at all become a sound tree. `head`: the message to open; where it is missing, the newest leaf."""
    problems: list[str] = []
    parents = _first_rows(rows, problems)
    _lift_orphans(parents, problems)
    _lift_cycles(parents, problems)
    children: dict[Id | None, list[Id]] = {}
    for message, parent in parents.items():
        children.setdefault(parent, []).append(message)
    tree = Tree(parents, {parent: tuple(messages) for parent, messages in children.items()}, None, ())
    if head is not None and head not in parents:
        problems.append(
            f"The message to open, {_short_name(head)}, does not exist; the newest one is opened."
        )
    opened = head if head in parents else tree.newest_leaf(next(reversed(parents), None))
    return Tree(parents, tree.children, opened, tuple(problems))


def _first_rows(rows: Iterable[tuple[Id, Id | None]], problems: list[str]) -> dict[Id, Id | None]:
    parents: dict[Id, Id | None] = {}
    for message, parent in rows:
        if message is None:
            problems.append("A message without an id was left out.")
        elif message in parents:
            problems.append(f"Message {_short_name(message)} came twice; its first place counts.")
        else:
            parents[message] = parent
    return parents


def _lift_orphans(parents: dict[Id, Id | None], problems: list[str]) -> None:
    for message, parent in parents.items():
        if parent is not None and parent not in parents:
            parents[message] = None
            problems.append(
                f"Message {_short_name(message)} answers one that does not exist; it is a root now."
            )


def _lift_cycles(parents: dict[Id, Id | None], problems: list[str]) -> None:
    """Of each cycle the earliest row becomes a root. Every message is walked over at most twice."""
    order = {message: n for n, message in enumerate(parents)}
    sound: set[Id] = set()
    for message in order:
        walked: dict[Id, None] = {}
        at: Id | None = message
        while at is not None and at not in sound and at not in walked:
            walked[at] = None
            at = parents[at]
        if at is not None and at in walked:
            first = min(_around(at, parents), key=order.__getitem__)
            parents[first] = None
            problems.append(f"Message {_short_name(first)} is below itself; it is a root now.")
        sound.update(walked)


def _around(start: Id, parents: Mapping[Id, Id | None]) -> Iterable[Id]:
    at: Id | None = start
    while at is not None:
        yield at
        at = parents[at]
        if at == start:
            return


def _short_name(message: Hashable) -> str:
    return f"{message!s:.80}"
