"""Two branches side by side: what they have in common, where they part, and what each of them says from there, figures first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol
from uuid import UUID

from django.urls import reverse

from ...catalog.page.models_shown import models_in_words
from ...core.recorded import Recorded
from ...pages.elements import message_id
from ...pages.words.axis import Mark, Scale, marks
from ...store import Branch, load_stretches
from ...store.branches import Answer
from ...store.models import Conversation, Message, Role
from ...thread.message import ShownMessage, Standpoint
from ...thread.page import Viewer, shown_of
from ...thread.timeline import length_of
from ..store.beginnings import Beginning, load_beginnings
from ..store.parting import Parting, Path, load_measures, load_parting
from .map import beginning_in_words
from .versus import FigureOfBoth, Side, versus

AT_ONCE = 20
# So many messages of a side are added up at most.
MOST_ADDED = 200
# So much of what is common is on the page.
TRUNK = 5
MOST_CHOICES = 50
CHOICE = 60
STILL_WRITTEN = "This answer is still being written. Reload the page later to see all of it."


class DrawnMessage(Protocol):
    """A message of which only its picture is left."""

    def html(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Ways:
    """Where the page leads: to a message of a conversation, to the map of one, and to two other branches."""

    message: Callable[[UUID, UUID], str]
    map: Callable[[UUID], str]
    compare: str


def own_ways() -> Ways:
    """Of whoever owns what is compared."""
    return Ways(
        lambda conversation, message: f"{reverse('conversation', args=[conversation])}?at={message}",
        lambda conversation: reverse("map", args=[conversation]),
        reverse("compare"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One side. `in_rows`: messages beside one of the other side each; `apart`: those after them, which need as much room as they
    need. `choices`: siblings that can be compared instead, in words; `chosen`: the one of them that is shown. `count`: how many messages
    there are from where they part, on this page or not; `opens`: where all of it is."""

    name: str
    conversation: Conversation
    opens: str
    wanted: UUID
    models: str
    in_rows: Sequence[DrawnMessage]
    apart: Sequence[DrawnMessage]
    choices: list[tuple[UUID, str]]
    chosen: UUID | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """`above`: the common messages before the last one; `last`: that one, where it is a question. `parts`: after it they part.
    `earlier` and `later`: where the pages before and after begin. `added`: so many of a side are added up, where there are more."""

    a: Shown
    b: Shown
    figures: list[FigureOfBoth]
    marks: tuple[Mark, ...]
    common: int
    parts: UUID | None
    above: Sequence[DrawnMessage]
    last: DrawnMessage | None
    ways: Ways
    earlier: int | None
    later: int | None
    added: int | None

    @property
    def sides(self) -> tuple[Shown, Shown]:
        return self.a, self.b

    @property
    def is_one(self) -> bool:
        """They never part."""
        return not self.a.count and not self.b.count

    @property
    def are_two_conversations(self) -> bool:
        return self.a.conversation != self.b.conversation

    @property
    def parted(self) -> str:
        """The address of the last message in common."""
        if not self.parts:
            return ""
        return f"{self.ways.message(self.a.conversation.pk, self.parts)}#{message_id(self.parts)}"

    @property
    def others(self) -> str:
        """Where two branches are chosen."""
        return f"{self.ways.map(self.a.conversation.pk)}?choose=1"

    @property
    def may_choose(self) -> bool:
        return any(len(side.choices) > 1 for side in self.sides)


@dataclass(frozen=True, slots=True)
class Sight:
    """Where somebody sees less of two branches than whoever owns them: how these part, and what is seen of an answer that is added up,
    and of how a message begins."""

    parting: Parting
    measured: Callable[[Answer], Answer] = lambda found: found
    begun: Callable[[Beginning], Beginning] = lambda found: found


def load_compared(
    viewer: Viewer, a: Message, b: Message, start: int, ways: Ways, sight: Sight | None = None
) -> Compared:
    sight = sight or Sight(load_parting(viewer.user, a, b))
    parting = sight.parting
    common = parting.common
    longest = max(len(path.messages) - common for path in (parting.a, parting.b))
    start = min(start, max(0, longest - 1))
    trunk, sides = _load_sides(a, b, sight, start)
    maker = _Maker(viewer, _scale(sides, trunk), _load_choices(sides, sight), ways)
    above = maker.messages(trunk)
    last = above.pop() if above and above[-1].is_question else None
    one, two = (maker.messages(side.window) for side in sides)
    rows = min(len(one), len(two)) - 1
    figures = Side(sides[0].measured), Side(sides[1].measured)
    whole = max(side.length for side in figures)
    return Compared(
        a=maker.shown(sides[0], one, rows),
        b=maker.shown(sides[1], two, rows),
        figures=versus(*figures, scale=whole) if longest else [],
        marks=marks(whole) if whole else (),
        common=common,
        parts=parting.a.messages[common - 1] if common else None,
        above=above,
        last=last,
        ways=ways,
        earlier=max(0, start - AT_ONCE) if start else None,
        later=start + AT_ONCE if start + AT_ONCE < longest else None,
        added=MOST_ADDED if longest > MOST_ADDED else None,
    )


@dataclass(frozen=True, slots=True)
class _Loaded:
    """One side as rows. `measures`: what is known of those that are added up, of both sides; `window`: what is on the page."""

    name: str
    wanted: Message
    path: Path
    common: int
    measures: Mapping[UUID, Answer]
    window: Branch | None

    @property
    def measured(self) -> list[Answer]:
        way = self.path.messages[self.common :][:MOST_ADDED]
        return [self.measures[pk] for pk in way if pk in self.measures]

    @property
    def choices(self) -> list[UUID]:
        """The newest siblings where they part, and the one that is shown."""
        newest = self.path.beside[-MOST_CHOICES:]
        return [self.first, *newest] if self.first and self.first not in newest else list(newest)

    @property
    def first(self) -> UUID | None:
        """Where they part."""
        return next(iter(self.path.messages[self.common :]), None)


def _load_sides(
    a: Message, b: Message, sight: Sight, start: int
) -> tuple[Branch | None, tuple[_Loaded, _Loaded]]:
    """With the end of what they have in common above them; both from their message `start` on."""
    parting, common = sight.parting, sight.parting.common
    one_way, other = (path.messages[common:] for path in (parting.a, parting.b))
    found = load_measures([*one_way[:MOST_ADDED], *other[:MOST_ADDED]])
    measures = {pk: sight.measured(answer) for pk, answer in found.items()}
    trunk, *windows = load_stretches(
        a.conversation,
        parting.a.messages[max(0, common - TRUNK) : common],
        one_way[start : start + AT_ONCE],
        other[start : start + AT_ONCE],
    )
    return trunk, (
        _Loaded("A", a, parting.a, common, measures, windows[0]),
        _Loaded("B", b, parting.b, common, measures, windows[1]),
    )


def _load_choices(sides: Iterable[_Loaded], sight: Sight) -> dict[UUID, Beginning]:
    wanted = dict.fromkeys(pk for side in sides for pk in side.choices)
    return {found.row.pk: sight.begun(found) for found in load_beginnings(list(wanted))}


def _scale(sides: Iterable[_Loaded], trunk: Branch | None) -> Scale:
    """The longest of all answers fits."""
    rows = [found.row for side in sides for found in side.measured]
    windows = [trunk, *(side.window for side in sides)]
    rows += [row for window in windows if window for row in window.messages]
    return Scale(max((length_of(Recorded(row.metadata)) for row in rows), default=0))


class _Maker:
    """Makes what is shown of rows: read only, and all on one scale."""

    def __init__(self, viewer: Viewer, scale: Scale, choices: Mapping[UUID, Beginning], ways: Ways) -> None:
        self._viewer, self._scale, self._choices, self._ways = viewer, scale, choices, ways
        user, end = viewer.user, "thread/_end_shared.html"
        self._look = Standpoint(viewer=user, leaf=None, zone=viewer.zone, acts="", end=end)

    def shown(self, side: _Loaded, messages: list[ShownMessage], rows: int) -> Shown:
        """`rows`: so many messages stand beside one of the other side."""
        siblings = {pk: number for number, pk in enumerate(side.path.beside, 1)}
        return Shown(
            name=side.name,
            conversation=side.wanted.conversation,
            opens=self._ways.message(side.wanted.conversation_id, side.path.messages[-1]),
            wanted=side.wanted.pk,
            models=self._models(found.row for found in side.measured),
            in_rows=messages[: max(0, rows)],
            apart=messages[max(0, rows) :],
            choices=[
                (pk, self._choice(siblings[pk], self._choices[pk]))
                for pk in side.choices
                if pk in self._choices
            ],
            chosen=side.first,
            count=len(side.path.messages) - side.common,
        )

    def messages(self, window: Branch | None) -> list[ShownMessage]:
        if window is None:
            return []
        show = partial(
            shown_of, window, look=self._look, viewer=self._viewer, scale=self._scale, waits=STILL_WRITTEN
        )
        return [show(row) for row in window.messages]

    def _models(self, rows: Iterable[Message]) -> str:
        names = dict.fromkeys(self._label(row.model) for row in rows if row.role == Role.ASSISTANT)
        return models_in_words(list(names)) if names else ""

    def _label(self, model: str) -> str:
        return self._viewer.catalog.label(model) or model

    def _choice(self, number: int, found: Beginning) -> str:
        said = self._label(found.row.model) if found.row.role == Role.ASSISTANT else ""
        return f"{number}: {', '.join(filter(None, [said, beginning_in_words(found)[:CHOICE]]))}"
