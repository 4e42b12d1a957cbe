"""The head of an answer: who answered, how long it thought, when it thought, called and wrote, and what was sent.
Numbers and words only; the template draws them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..core.durations import in_short, thoughts_in_words
from ..core.items import Item, Kind, Outcome
from ..core.recorded import Recorded, Stretch
from ..core.signs.visible import visible, visible_name
from ..pages.elements import message_id
from ..pages.words.axis import Mark, Scale, marks, percent
from ..providers.base import OFF
from ..store import is_with_program
from ..store.models import LIVE, Message, Status
from .figures import UNKNOWN, AnswerFigure, figures_of, in_tenths
from .item_words import KINDS, OUTCOMES
from .sent import SentRequest, sent_of

# What took a smaller part of the time is drawn this wide, or nobody would see it.
LEAST_WIDTH = 0.005
NAME_CAP = 80
YOU, OWNER, PROGRAM = "you", "its owner", "its program"
NOT_RUN = "did not run"
MOST_IN_VIEW = 16
INFERRED = "≈ A thought that came in one piece is counted from the last sign before it."
_NAMES = {
    Kind.REASONING: KINDS[Kind.REASONING],
    Kind.ASSISTANT_MESSAGE: "Wrote",
    Kind.PERMISSION_DECISION: KINDS[Kind.PERMISSION_DECISION],
}


@dataclass(frozen=True, slots=True)
class TimelineBar:
    """Where it stands on the line, in percent."""

    x: str
    width: str


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """An item. A call and its result are one: `bar` is the tool at work, `asked` the call being written."""

    kind: str
    name: str
    began: str
    took: str
    bar: TimelineBar | None
    asked: TimelineBar | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Without rows and figures it is a byline. `words`: the sum, once there is one."""

    id: str
    label: str
    effort: str = ""
    suggested: str = ""
    words: str = ""
    marks: tuple[Mark, ...] = ()
    rows: tuple[TimelineRow, ...] = ()
    figures: tuple[AnswerFigure, ...] = ()
    sent: tuple[SentRequest, ...] = ()
    note: str = ""

    @property
    def scrolls(self) -> bool:
        return len(self.rows) > MOST_IN_VIEW


def timeline_of(
    row: Message, items: Sequence[Item], label: str, scale: Scale | None = None, asked: str = YOU
) -> Timeline:
    """`label`: what people call the model; `scale`: what several answers are drawn on together, else it is this one's own;
    `asked`: who allows its calls."""
    recorded, live, label = Recorded(row.metadata), row.status in LIVE, label or row.model
    asked = PROGRAM if is_with_program(row) else asked
    taken = [recorded.thoughts.get(item.key) for item in items if item.kind is Kind.REASONING]
    head = Timeline(
        id=f"{message_id(row.pk)}-head",
        label=label,
        effort=_effort_in_words(row.effort),
        suggested=visible(f"suggested by {recorded.suggested_by}") if recorded.suggested_by else "",
        words=_waits_in_words(taken, asked)
        if row.status == Status.WAITING
        else _sum_above(taken, recorded.elapsed, live=live),
    )
    if not _measured(recorded) or (live and not items):
        return head
    line = Waterfall(recorded, items, scale)
    return replace(
        head,
        marks=marks(line.scale.total) if recorded.stretches else (),
        rows=line.rows,
        figures=figures_of(recorded, taken, line.tools, live=live),
        sent=sent_of(recorded, items, model=row.model, label=label, shortened=row.sent_from_id is not None),
        note=INFERRED if line.inferred else "",
    )


def _effort_in_words(effort: str) -> str:
    return "thinking off" if effort == OFF else f"{effort} effort" if effort else ""


def _sum_above(thoughts: Sequence[int | None], elapsed: int | None, *, live: bool) -> str:
    """A single thought says its time itself; above it stands what the answer took in all."""
    if live:
        return f"{thoughts_in_words([*thoughts])} so far" if len(thoughts) > 1 else ""
    if len(thoughts) > 1 or (thoughts and elapsed is None):
        return thoughts_in_words([*thoughts])
    return "" if elapsed is None else f"{in_tenths(elapsed)} in all"


def _waits_in_words(thoughts: Sequence[int | None], asked: str) -> str:
    return f"{thoughts_in_words([*thoughts])}, waits for {asked}" if thoughts else f"Waits for {asked}"


def _measured(recorded: Recorded) -> bool:
    known = recorded.stretches or recorded.thoughts or recorded.rounds
    return bool(known) or recorded.elapsed is not None


def length_of(recorded: Recorded) -> int:
    """The time that the answer took, in milliseconds."""
    return max([recorded.elapsed or 0, *(span.end for span in recorded.stretches.values())])


class Waterfall:
    """The items laid along the time that the answer took, or along another scale. `tools`: when each call was at work, along the same."""

    def __init__(self, recorded: Recorded, items: Sequence[Item], scale: Scale | None = None) -> None:
        self._thoughts, self._stretches = recorded.thoughts, recorded.stretches
        self._results = _results(items)
        self._shown = [item for item in items if item.key not in self._results.nested]
        self.scale = scale or Scale(length_of(recorded))
        self.tools: list[Stretch | None] = []
        self.inferred = False
        self.rows = tuple(map(self._row, self._shown))

    def _row(self, item: Item) -> TimelineRow:
        span = self._stretches.get(item.key)
        match item.kind:
            case Kind.REASONING:
                return self._plain(item, span, self._thought(item, span))
            case Kind.TOOL_CALL:
                return self._call(item, span)
            case Kind.PERMISSION_DECISION:
                # How long a person took is no time of the answer.
                return self._plain(item, None, "not counted")
            case Kind.ASSISTANT_MESSAGE | Kind.TOOL_RESULT | Kind.USER_MESSAGE:
                return self._plain(item, span, in_tenths(span.ms if span else None))

    def _plain(self, item: Item, span: Stretch | None, took: str) -> TimelineRow:
        cut = item.cut or (span is not None and span.cut)
        name = _NAMES.get(item.kind) or _tool_name(item)
        return TimelineRow(
            item.kind, f"{name}, cut short" if cut else name, _began(span), took, self._bar(span)
        )

    def _thought(self, item: Item, span: Stretch | None) -> str:
        ms = self._thoughts.get(item.key)
        if ms is None:
            return UNKNOWN
        if span is None or not span.inferred:
            return in_short(ms)
        self.inferred = True
        return f"≈ {in_short(ms)}"

    def _call(self, item: Item, asked: Stretch | None) -> TimelineRow:
        result = self._results.of.get(item.key)
        span = self._stretches.get(result.key) if result else None
        if ran := result is None or result.outcome != Outcome.DENIED:
            self.tools.append(self._along(span))
        how = OUTCOMES.get(result.outcome) if result else None
        name = f"{_tool_name(item)}, {how}" if how else _tool_name(item)
        took = in_tenths(span.ms if span else None) if ran else NOT_RUN
        return TimelineRow(item.kind, name, _began(asked or span), took, self._bar(span), self._bar(asked))

    def _along(self, span: Stretch | None) -> Stretch | None:
        since = self.scale.since
        return span and replace(span, start=since + span.start, end=since + span.end)

    def _bar(self, span: Stretch | None) -> TimelineBar | None:
        if span is None:
            return None
        total = self.scale.total
        width = max(span.ms, total * LEAST_WIDTH)
        return TimelineBar(
            percent(min(self.scale.since + span.start, total - width), total), percent(width, total)
        )


@dataclass(frozen=True, slots=True)
class _Results:
    """The result of each call, by the call's key, and the keys of the results that have found theirs."""

    of: Mapping[str, Item]
    nested: frozenset[str]


def _results(items: Sequence[Item]) -> _Results:
    waiting: dict[tuple[int, str], deque[str]] = defaultdict(deque)
    found: dict[str, Item] = {}
    for item in items:
        place = item.round, item.call_id
        if item.kind is Kind.TOOL_CALL:
            waiting[place].append(item.key)
        elif item.kind is Kind.TOOL_RESULT and waiting[place]:
            found[waiting[place].popleft()] = item
    return _Results(found, frozenset(item.key for item in found.values()))


def _tool_name(item: Item) -> str:
    return visible_name(item.name[:NAME_CAP]) or KINDS[Kind.TOOL_CALL]


def _began(span: Stretch | None) -> str:
    return "" if span is None else f"after {in_tenths(span.start)}" if span.start else "at once"
