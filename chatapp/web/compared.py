"""Two branches side by side: what they have in common, where they part, and what each of them says from there, figures first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from ..core.recorded import Recorded
from ..models import Conversation, Message, Role
from ..store import Branch, load_branch
from ..store.branches import Answer
from ..store.comparing import Parting, Path, load_measures, load_parting
from ..store.tree_map import Beginning, load_beginnings
from .axis import Mark, Scale, marks
from .bodies import blocks_of
from .pieces import pieces_of
from .shared import models_in_words
from .shown import Look, ShownMessage
from .thread import Viewer
from .timeline import length_of, timeline_of
from .tree_map import words_of
from .versus import Figures, Side, versus

AT_ONCE = 20
# So many messages of a side are added up at most.
MOST_ADDED = 200
# So much of what is common is on the page.
TRUNK = 5
MOST_CHOICES = 50
CHOICE = 60
STILL_WRITTEN = "This answer is still being written. Reload the page later to see all of it."


@dataclass(frozen=True, slots=True)
class Choice:
    """A sibling that can be compared instead."""

    id: UUID
    words: str
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One side. `count`: how many messages it has from where they part."""

    name: str
    conversation: Conversation
    leaf: UUID
    wanted: UUID
    models: str
    messages: list[ShownMessage]
    choices: list[Choice]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """`above`: the common messages before the last one; `last`: that one, where it is a question. `first`: how many messages
    of each side stand before those on the page; `earlier` and `later`: where the pages before and after begin."""

    a: Shown
    b: Shown
    figures: list[Figures]
    marks: tuple[Mark, ...]
    common: int
    parts: UUID | None
    above: list[ShownMessage]
    last: ShownMessage | None
    first: int
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
    def may_choose(self) -> bool:
        return any(len(side.choices) > 1 for side in self.sides)


def load_compared(viewer: Viewer, a: Message, b: Message, start: int) -> Compared:
    parting = load_parting(viewer.user, a, b)
    ways = [path.messages[parting.common :] for path in (parting.a, parting.b)]
    longest = max(map(len, ways))
    start = min(start, max(0, longest - 1))
    measured = [_measured(way) for way in ways]
    windows = [_load_window(way[start : start + AT_ONCE]) for way in ways]
    look = Look(viewer=viewer.user, leaf=None, zone=viewer.zone, read_only=True)
    page = _Page(viewer, look, Scale(_longest_answer(measured, windows)))
    left, right = (Side(found) for found in measured)
    whole = max(left.length, right.length)
    above, last = page.trunk(parting)
    texts = _load_choices(parting)
    return Compared(
        a=page.side("A", a, parting.a, parting, windows[0], texts),
        b=page.side("B", b, parting.b, parting, windows[1], texts),
        figures=versus(left, right, whole) if longest else [],
        marks=marks(whole) if whole else (),
        common=parting.common,
        parts=parting.a.messages[parting.common - 1] if parting.common else None,
        above=above,
        last=last,
        first=start,
        earlier=max(0, start - AT_ONCE) if start else None,
        later=start + AT_ONCE if start + AT_ONCE < longest else None,
        added=MOST_ADDED if longest > MOST_ADDED else None,
    )


def _measured(way: Sequence[UUID]) -> list[Answer]:
    return list(load_measures(way[:MOST_ADDED]).values())


def _load_window(messages: Sequence[UUID]) -> Branch | None:
    return load_branch(messages[-1], newest=len(messages)) if messages else None


def _longest_answer(measured: Sequence[Sequence[Answer]], windows: Sequence[Branch | None]) -> int:
    rows = [found.row for side in measured for found in side]
    rows += [row for window in windows if window for row in window.messages]
    return max((length_of(Recorded(row.metadata)) for row in rows), default=0)


def _load_choices(parting: Parting) -> dict[UUID, Beginning]:
    wanted = dict.fromkeys([*_few(parting.a, parting.common), *_few(parting.b, parting.common)])
    return {found.row.pk: found for found in load_beginnings(list(wanted))}


def _few(path: Path, common: int) -> list[UUID]:
    """The newest siblings, and the one that is shown."""
    shown = path.messages[common : common + 1]
    newest = path.beside[-MOST_CHOICES:]
    return [*(pk for pk in shown if pk not in newest), *newest]


class _Page:
    """Makes messages of rows: read only, and all on one scale."""

    def __init__(self, viewer: Viewer, look: Look, scale: Scale) -> None:
        self._viewer, self._look, self._scale = viewer, look, scale

    def trunk(self, parting: Parting) -> tuple[list[ShownMessage], ShownMessage | None]:
        window = _load_window(parting.a.messages[: parting.common][-TRUNK:])
        shown = self._messages(window)
        if shown and shown[-1].is_question:
            return shown[:-1], shown[-1]
        return shown, None

    def side(
        self,
        name: str,
        wanted: Message,
        path: Path,
        parting: Parting,
        window: Branch | None,
        texts: dict[UUID, Beginning],
    ) -> Shown:
        shown = self._messages(window)
        first = path.messages[parting.common : parting.common + 1]
        return Shown(
            name=name,
            conversation=wanted.conversation,
            leaf=path.messages[-1],
            wanted=wanted.pk,
            models=self._models(shown),
            messages=shown,
            choices=[
                Choice(pk, self._choice(path.beside.index(pk) + 1, texts[pk]), pk in first)
                for pk in _few(path, parting.common)
                if pk in texts
            ],
            count=len(path.messages) - parting.common,
        )

    def _messages(self, window: Branch | None) -> list[ShownMessage]:
        return [self._message(window, row) for row in window.messages] if window else []

    def _message(self, window: Branch, row: Message) -> ShownMessage:
        items = window.items.get(row.pk, [])
        made = [self._viewer.item(row.pk, piece, blocks_of(row.pk, piece)) for piece in pieces_of(row, items)]
        timeline = timeline_of(row, items, self._label(row.model), self._scale)
        return ShownMessage(row, made, self._look, timeline, waits=STILL_WRITTEN)

    def _models(self, shown: Sequence[ShownMessage]) -> str:
        names = dict.fromkeys(self._label(one.row.model) for one in shown if not one.is_question)
        return models_in_words(list(names)) if names else ""

    def _label(self, model: str) -> str:
        return self._viewer.catalog.label(model) or model

    def _choice(self, number: int, found: Beginning) -> str:
        said = self._label(found.row.model) if found.row.role == Role.ASSISTANT else ""
        return f"{number}: {', '.join(filter(None, [said, words_of(found)[:CHOICE]]))}"
