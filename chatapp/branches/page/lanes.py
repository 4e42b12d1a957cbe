"""Lays a tree out as lines beside rows, one row for each message in the order in which they came. A message and the line
to it find their place among those that came before: neither a later message nor going to another branch moves them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ...core.tree import Tree

Id = TypeVar("Id", bound=Hashable)

# Further lines share the last place: a page is only so wide.
MOST_PLACES = 10
_LAST = MOST_PLACES - 1
# So many children of a message have a line of their own; those after them share one, from which they branch off.
_APART = 3
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
    layout = _Layout[Id]()
    for message, parent in tree.parents.items():
        layout.add(message, parent)
    pen = _Pen(layout, frozenset(active))
    rows = [pen.step(row, shown=row >= start) for row in range(min(stop, len(layout.spots)))]
    return Drawing([row for row in rows if row], _x(pen.widest) + _FIRST)


@dataclass(frozen=True, slots=True)
class _Spot:
    """The place of a message, and that of the line to it from the row `above`. `since`: where this line begins, or where
    it goes on from that of an older sibling."""

    place: int
    above: int | None
    via: int
    since: int


@dataclass(slots=True)
class _Family:
    """The children that a message has so far: how many, the row of the newest, the place of the line they share."""

    count: int = 0
    newest: int = -1
    shared: int | None = None


class _Layout(Generic[Id]):
    """`_until`: the last row in which each place is taken. A line goes where nothing has stood since its first row."""

    def __init__(self) -> None:
        self.rows: dict[Id, int] = {}
        self.spots: list[_Spot] = []
        self._until = [-1] * MOST_PLACES
        self._families: defaultdict[Id | None, _Family] = defaultdict(_Family)

    def add(self, message: Id, parent: Id | None) -> None:
        """Where rows are damaged a child may come before its parent; it stands by itself."""
        row, above = len(self.spots), None if parent is None else self.rows.get(parent)
        family = self._families[None if above is None else parent]
        spot = self._spot(row, above, family)
        self._until[spot.via] = self._until[spot.place] = row
        self.rows[message] = row
        self.spots.append(spot)
        family.count, family.newest = family.count + 1, row

    def _spot(self, row: int, above: int | None, family: _Family) -> _Spot:
        if above is None:
            place = self._first_free(family.newest)
            return _Spot(place, None, place, row)
        straight = self.spots[above].place
        if family.count < _APART:
            place = straight if self._is_free(straight, above) else self._first_free(above)
            return _Spot(place, above, place, above)
        since = family.newest
        if family.shared is None or not self._is_free(family.shared, since):
            family.shared, since = self._first_free(above), above
        place = self._first_free(family.newest, besides=(straight, family.shared))
        return _Spot(place, above, family.shared, since)

    def _is_free(self, place: int, since: int) -> bool:
        return place == _LAST or self._until[place] <= since

    def _first_free(self, since: int, besides: Collection[int] = ()) -> int:
        free = (n for n in range(_LAST) if self._until[n] <= since and n not in besides)
        return next(free, _LAST)


class _Pen(Generic[Id]):
    """Goes down the rows and knows which lines are open, and which of them are the active path's."""

    def __init__(self, layout: _Layout[Id], active: Collection[Id]) -> None:
        self.widest = 0
        self._spots = layout.spots
        self._active = {row for message, row in layout.rows.items() if message in active}
        self._open: Counter[int] = Counter()
        self._on: Counter[int] = Counter()
        # By row: the lines that begin there, the shared line that goes on there, and where the active path leaves.
        self._begin: defaultdict[int, list[int]] = defaultdict(list)
        self._further: dict[int, int] = {}
        self._path: dict[int, int] = {}
        for row, spot in enumerate(self._spots):
            self._note(row, spot)

    def _note(self, row: int, spot: _Spot) -> None:
        if spot.above is None:
            return
        if spot.since == spot.above:
            self._begin[spot.above].append(spot.via)
        else:
            self._further[spot.since] = spot.via
        if row in self._active:
            self._path[spot.above] = spot.via

    def step(self, row: int, *, shown: bool) -> Drawn | None:
        spot = self._spots[row]
        if spot.above is not None:
            self._open[spot.via] -= 1
            self._on[spot.via] -= row in self._active
        if row in self._further:
            self._open[self._further[row]] += 1
        drawn = self._drawn(row, spot) if shown else None
        self._open.update(self._begin.get(row, ()))
        if row in self._path:
            self._on[self._path[row]] += 1
        return drawn

    def _drawn(self, row: int, spot: _Spot) -> Drawn:
        x, path = _x(spot.place), self._path.get(row)
        passing = sorted(place for place, lines in self._open.items() if lines)
        leaving = sorted(set(self._begin.get(row, ())))
        self.widest = max(self.widest, spot.place, *passing, *leaving)
        strokes = [(self._on[place] > 0, f"M{_x(place)} 0V44") for place in passing]
        if spot.above is not None:
            strokes.append((row in self._active, _down(_x(spot.via), x)))
        strokes += [(place == path, _aside(x, _x(place))) for place in leaving]
        on, off = ("".join(stroke for lit, stroke in strokes if lit is which) for which in (True, False))
        return Drawn(x, on, off)


def _x(place: int) -> int:
    return _FIRST + _GAP * place


def _down(above: int, x: int) -> str:
    return f"M{x} 0V22" if above == x else f"M{above} 0C{above} 14 {x} 8 {x} 22"


def _aside(x: int, beside: int) -> str:
    return f"M{x} 22V44" if x == beside else f"M{x} 22C{x} 40 {beside} 30 {beside} 44"
