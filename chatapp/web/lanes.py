"""Lays a tree out as lines beside rows, one row for each message in the order in which they came. The active path is the
leftmost line; what branches off stands to its right, and a line that has ended makes room for another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Generic, TypeVar

from ..core.tree import Tree

Id = TypeVar("Id", bound=Hashable)

# Further lines share the last place: a page is only so wide.
MOST_PLACES = 10
_FIRST, _GAP = 11, 18


@dataclass(frozen=True, slots=True)
class Drawn:
    """What stands beside one message, 44 high: where the message is, and the lines, those of the active path apart."""

    x: int
    on: str
    off: str


@dataclass(frozen=True, slots=True)
class Drawing:
    rows: Sequence[Drawn]
    width: int


def draw(tree: Tree[Id], active: Collection[Id], start: int, stop: int) -> Drawing:
    """The rows from `start` to `stop`."""
    layout = _Layout(tree, active)
    rows = [layout.step(message, shown=n >= start) for n, message in enumerate(layout.order) if n < stop]
    return Drawing([row for row in rows if row], _x(layout.widest) + _FIRST)


class _Layout(Generic[Id]):
    """A line is a number; 0 is the active path's. A line that leads to several messages passes all but the last of them."""

    def __init__(self, tree: Tree[Id], active: Collection[Id]) -> None:
        self.order = {message: n for n, message in enumerate(tree.parents)}
        self.widest = 0
        self._tree, self._active = tree, frozenset(active)
        self._leads: dict[Id, int] = {}
        self._expected: Counter[int] = Counter()
        self._open: Counter[int] = Counter()
        self._ended: list[int] = []
        self._newest = 0
        self._on = False

    def step(self, message: Id, *, shown: bool) -> Drawn | None:
        above = self._leads.pop(message, None)
        line = self._arrive(message, above)
        children = self._children(message)
        first = next(
            (child for child in children if child in self._active), children[0] if children else None
        )
        rest = [child for child in children if child != first]
        beside = self._new_line() if rest else None
        drawn = self._drawn(message, above, line, first, beside) if shown else None
        if first is not None:
            self._expect([first], line)
        elif line:
            heappush(self._ended, line)
        if beside is not None:
            self._expect(rest, beside)
        return drawn

    def _arrive(self, message: Id, above: int | None) -> int:
        """The line on which the message stands."""
        if above is None:
            return 0 if message in self._active else self._new_line()
        self._expected[above] -= 1
        if self._expected[above]:
            return self._new_line()
        self._open[_place(above)] -= 1
        return above

    def _children(self, message: Id) -> list[Id]:
        """Where rows are damaged a child may have come before its parent; it stands by itself."""
        here = self.order[message]
        return [child for child in self._tree.children.get(message, ()) if self.order[child] > here]

    def _new_line(self) -> int:
        if self._ended:
            return heappop(self._ended)
        self._newest += 1
        return self._newest

    def _expect(self, messages: Sequence[Id], line: int) -> None:
        self._leads |= dict.fromkeys(messages, line)
        self._expected[line] = len(messages)
        self._open[_place(line)] += 1
        if line == 0:
            self._on = messages[0] in self._active

    def _drawn(
        self, message: Id, above: int | None, line: int, first: Id | None, beside: int | None
    ) -> Drawn:
        on: list[str] = []
        off: list[str] = []
        x, active = _x(line), message in self._active
        for place in sorted(place for place, lines in self._open.items() if lines):
            (on if place == 0 and self._on else off).append(f"M{_x(place)} 0V44")
            self.widest = max(self.widest, place)
        if above is not None:
            (on if active else off).append(_down(_x(above), x))
        if beside is not None:
            off.append(_aside(x, _x(beside)))
        if first is not None:
            (on if active and first in self._active else off).append(f"M{x} 22V44")
        self.widest = max(self.widest, _place(line), _place(beside or 0))
        return Drawn(x, "".join(on), "".join(off))


def _place(line: int) -> int:
    return min(line, MOST_PLACES - 1)


def _x(line: int) -> int:
    return _FIRST + _GAP * _place(line)


def _down(above: int, x: int) -> str:
    return f"M{x} 0V22" if above == x else f"M{above} 0C{above} 14 {x} 8 {x} 22"


def _aside(x: int, beside: int) -> str:
    return f"M{x} 22V44" if x == beside else f"M{x} 22C{x} 40 {beside} 30 {beside} 44"
