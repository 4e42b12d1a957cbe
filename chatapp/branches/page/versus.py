"""The figures of two sides beside each other, and when each of them thought, called and wrote, on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from ...core.items import Kind
from ...core.plural import many
from ...core.recorded import Recorded
from ...pages.words.axis import Scale, percent
from ...store.branches import Answer
from ...store.models import LIVE, Role
from ...thread.figures import COST, NOT_KNOWN, figures_of_several
from ...thread.timeline import TimelineBar, TimelineRow, Waterfall, length_of

NONE = "none"
_NAMES = (
    "Thinking",
    "Tools",
    "To the first sign",
    "In all",
    "Tokens",
    "From the cache",
    "Tokens of thought",
    COST,
)
_ALWAYS = ("Thinking", "Tools", "In all", "Tokens")


@dataclass(frozen=True, slots=True)
class Cell:
    words: str
    bar: TimelineBar | None = None
    rows: tuple[TimelineRow, ...] = ()


@dataclass(frozen=True, slots=True)
class FigureOfBoth:
    """One figure of both sides."""

    name: str
    a: Cell
    b: Cell


class Side:
    """The answers of one side, added up."""

    def __init__(self, messages: Sequence[Answer]) -> None:
        self._count = len(messages)
        self._answers = [found for found in messages if found.row.role == Role.ASSISTANT]
        self._recorded = [Recorded(found.row.metadata) for found in self._answers]
        self.lengths = [length_of(recorded) for recorded in self._recorded]
        self.efforts = list(dict.fromkeys(found.row.effort for found in self._answers))

    @property
    def length(self) -> int:
        """Of all its answers, in milliseconds."""
        return sum(self.lengths)

    def cells(self, scale: int) -> dict[str, Cell]:
        """By the name of the figure."""
        begins = [0, *accumulate(self.lengths)]
        lines = [
            Waterfall(recorded, found.items, Scale(scale, since))
            for found, recorded, since in zip(self._answers, self._recorded, begins, strict=False)
        ]
        thoughts = self._thoughts()
        figures = figures_of_several(
            self._recorded,
            thoughts,
            [span for line in lines for span in line.tools],
            live=any(found.row.status in LIVE for found in self._answers),
        )
        made = {figure.name: Cell(figure.words) for figure in figures} if self._answers else {}
        known = sum(ms for ms in thoughts if ms is not None)
        if known:
            made["Thinking"] = Cell(made["Thinking"].words, TimelineBar("0.00", percent(known, scale)))
        if self._answers:
            made["In all"] = Cell(
                made["In all"].words, rows=tuple(row for line in lines for row in line.rows)
            )
        return made | {"Messages": Cell(many(self._count, "message")), "Effort": Cell(self._effort())}

    def _thoughts(self) -> list[int | None]:
        return [
            recorded.thoughts.get(item.key)
            for found, recorded in zip(self._answers, self._recorded, strict=True)
            for item in found.items
            if item.kind is Kind.REASONING
        ]

    def _effort(self) -> str:
        return ", ".join(effort or "as usual" for effort in self.efforts) or NONE


def versus(a: Side, b: Side, *, scale: int) -> list[FigureOfBoth]:
    """What one side alone has the other has not: that is said, and what nobody has is not."""
    one, two = a.cells(scale), b.cells(scale)
    names = ["Messages", *(["Effort"] if any([*a.efforts, *b.efforts]) else [])]
    names += [name for name in _NAMES if name in one or name in two or name in _ALWAYS]
    if not any(side[COST].words != NOT_KNOWN for side in (one, two) if COST in side):
        names = [name for name in names if name != COST]
    return [FigureOfBoth(name, one.get(name, Cell(NONE)), two.get(name, Cell(NONE))) for name in names]
