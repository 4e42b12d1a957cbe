"""The map: the messages of a conversation in the order in which they came, the lines of the tree beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from uuid import UUID

from ...core.durations import in_short, together
from ...core.recorded import Recorded
from ...core.titles import one_line, unmarked
from ...core.tree import Tree
from ...store import is_with_program
from ...store.models import LIVE, Message, Role, Status
from ..store.beginnings import Beginning
from .lanes import Drawn, draw

# Rows on one page.
WINDOW = 400
FEW_PROBLEMS = 5
WORDS = 140
RULER = 176
# Beyond it the ruler of some row would have no room for single seconds.
MOST_SECONDS = RULER // 2
_STATUS = {
    Status.QUEUED: "queued",
    Status.RUNNING: "running",
    Status.WAITING: "asks you",
    Status.STOPPED: "stopped",
    Status.FAILED: "failed",
    Status.INTERRUPTED: "interrupted",
}


@dataclass(frozen=True, slots=True)
class Node:
    """A message. `facts`: its model, how long it thought, how it ended."""

    id: UUID
    role: str
    active: bool
    current: bool
    drawn: Drawn
    at: datetime
    when: str
    words: str
    model: str
    facts: str
    ruler: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeMap:
    """A window on it: rows `first` to `last` of `count`, and where the windows before and after begin. `thought`: what all
    its `answers` took together, where the window is the whole."""

    nodes: Sequence[Node]
    width: int
    unit: str
    days: bool
    count: int
    branches: int
    first: int
    last: int
    earlier: int | None
    later: int | None
    answers: int
    thought: str
    problems: Sequence[str]
    more_problems: int


def rows_to_show(tree: Tree[UUID], begin: int | None) -> range:
    """The rows to show: from where one asked, else around the message that opens."""
    order = list(tree.parents)
    if begin is None:
        here = order.index(tree.head) if tree.head is not None else 0
        begin = here - WINDOW // 2
    begin = max(0, min(begin, len(order) - WINDOW))
    return range(begin, min(begin + WINDOW, len(order)))


def map_of(
    tree: Tree[UUID], shown: range, beginnings: Sequence[Beginning], label: Callable[[str], str]
) -> TreeMap:
    """`beginnings` are those of the rows `shown`; `label`: what people call a model."""
    active = frozenset(tree.path_to(tree.head))
    drawing = draw(tree, active, shown.start, shown.stop)
    thoughts = [list(Recorded(found.row.metadata).thoughts.values()) for found in beginnings]
    page = _Rows(
        head=tree.head,
        active=active,
        lanes=dict(zip(islice(tree.parents, shown.start, shown.stop), drawing.rows, strict=True)),
        unit="ten" if max(map(sum, thoughts), default=0) > MOST_SECONDS * 1000 else "fine",
        days=len({found.row.created_at.date() for found in beginnings}) > 1,
        label=label,
    )
    return TreeMap(
        nodes=[page.node(found, taken) for found, taken in zip(beginnings, thoughts, strict=True)],
        width=drawing.width,
        unit=page.unit,
        days=page.days,
        count=len(tree.parents),
        branches=sum(1 for message in tree.parents if not tree.children.get(message)),
        first=shown.start + 1,
        last=shown.stop,
        earlier=max(0, shown.start - WINDOW) if shown.start else None,
        later=shown.stop if shown.stop < len(tree.parents) else None,
        answers=sum(1 for found in beginnings if found.row.role == Role.ASSISTANT),
        thought=_total(thoughts) if len(shown) == len(tree.parents) else "",
        problems=tree.problems[:FEW_PROBLEMS],
        more_problems=max(0, len(tree.problems) - FEW_PROBLEMS),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """What the rows of a page have in common. `unit`: of a tick of their rulers; `days`: whether they are of several."""

    head: UUID | None
    active: frozenset[UUID]
    lanes: Mapping[UUID, Drawn]
    unit: str
    days: bool
    label: Callable[[str], str]

    def node(self, found: Beginning, thoughts: Sequence[int]) -> Node:
        row = found.row
        return Node(
            id=row.pk,
            role=row.role,
            active=row.pk in self.active,
            current=row.pk == self.head,
            drawn=self.lanes[row.pk],
            at=row.created_at,
            when=f"{row.created_at:%-d %b %H:%M}" if self.days else f"{row.created_at:%H:%M}",
            words=beginning_in_words(found),
            model=self.label(row.model) if row.model else "",
            facts=_took_and_ended(row, thoughts),
            ruler=_ruler(sum(thoughts), self.unit) if thoughts else 0,
        )


def _total(thoughts: Sequence[Sequence[int]]) -> str:
    return in_short(sum(map(together, thoughts))) if any(thoughts) else ""


def beginning_in_words(found: Beginning) -> str:
    """How a message begins, in one line."""
    words = one_line(unmarked(found.text))[:WORDS]
    return words or ("No words yet" if found.row.status in LIVE else "No words")


def _took_and_ended(row: Message, durations: Sequence[int]) -> str:
    took = [in_short(together(durations))] if durations else []
    status = "with its program" if is_with_program(row) else _STATUS.get(Status(row.status))
    return ", ".join([*took, *([status] if status else [])])


def _ruler(ms: int, unit: str) -> int:
    seconds = max(1, -(-ms // 1000))
    return min(RULER, max(1, seconds // 10) * 4 if unit == "ten" else seconds * 2)
