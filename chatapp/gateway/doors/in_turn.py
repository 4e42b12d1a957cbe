"""Tells the pieces of a response one after the other, for protocols in which the next may not begin before one is over."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

from ...core.events import Event, ItemAmended, ItemDelta, ItemDone, ItemStarted, Retrying
from ...core.history import NAMELESS
from ...core.items import FROM_MODEL, Item, Kind
from .door import Frame
from .refusing import refuses

ORDER = (Kind.REASONING, Kind.ASSISTANT_MESSAGE, Kind.TOOL_CALL)


@dataclass(slots=True, eq=False)
class ToldPiece:
    """`told`: what has gone out of it; `waiting`: what has come and not yet gone. `amended`: what has become of it behind its end. `lost`:
    it is no part of the answer after all. `refuses`: as its first words do."""

    key: str
    kind: Kind
    name: str = ""
    told: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    item: Item | None = None
    amended: Item | None = None
    blank: bool = True
    began: bool = False
    closed: bool = False
    lost: bool = False
    refuses: bool = False

    @property
    def text(self) -> str:
        return "".join(self.told)

    @property
    def ready(self) -> bool:
        """Whether it is known by now what it is, and that it is something."""
        match self.kind:
            case Kind.TOOL_CALL:
                return bool(self.name)
            case Kind.REASONING if not self.waiting:
                return self.item is not None and bool(self.item.wire)
            case Kind.REASONING:
                return True
            case _:
                return not self.blank

    def say(self, text: str, *, refuses: bool = False) -> None:
        if text:
            if not (self.told or self.waiting):
                self.refuses = refuses
            self.waiting.append(text)
            self.blank = self.blank and not text.strip()

    def finish(self, item: Item) -> None:
        """What was told stays told: only what has not gone out can still become what the item says."""
        self.item, self.closed = item, True
        self.name = self.name or item.name or NAMELESS
        said, whole = self.text + "".join(self.waiting), _whole(item)
        if whole.startswith(said):
            self.say(whole[len(said) :], refuses=refuses(item))
        elif not self.began:
            self.waiting, self.blank = [], True
            self.say(whole, refuses=refuses(item))


class Teller(Protocol):
    """Words what happens to a piece, in the frames of its protocol."""

    def began(self, piece: ToldPiece) -> list[Frame]: ...

    def grew(self, piece: ToldPiece, text: str) -> list[Frame]: ...

    def over(self, piece: ToldPiece) -> list[Frame]: ...


class InTurn:
    """The first piece that is open is told as it comes; what others say meanwhile waits for its end. `apart`: thoughts, texts and calls
    wait only for their own kind. What a model does not write is left out, and so is what never says anything."""

    def __init__(self, teller: Teller, *, apart: bool = False) -> None:
        # Those of which something has gone out, in this order.
        self.told: list[ToldPiece] = []
        self._teller = teller
        self._by_key: dict[str, ToldPiece] = {}
        line: deque[ToldPiece] = deque()
        self._lines: dict[Kind, deque[ToldPiece]] = {kind: deque() if apart else line for kind in FROM_MODEL}

    def hear(self, event: Event) -> list[Frame]:
        match event:
            case ItemDelta():
                return self._grow(event)
            case ItemStarted():
                return self._start(ToldPiece(event.key, event.kind, event.name))
            case ItemDone():
                return self._finish(event.item)
            case ItemAmended():
                return self._amend(event.item)
            case Retrying():
                return self._lose(event.lost)
            case _:
                return []

    def close(self) -> list[Frame]:
        """Nothing more comes: what is still open stays as it is."""
        for piece in self._by_key.values():
            piece.closed = True
        return self._all_go_on()

    def _start(self, piece: ToldPiece) -> list[Frame]:
        before = self._by_key.get(piece.key)
        if piece.kind not in FROM_MODEL or (before and not before.closed):
            return []
        self._by_key[piece.key] = piece
        line = self._lines[piece.kind]
        line.append(piece)
        return self._go_on(line)

    def _grow(self, delta: ItemDelta) -> list[Frame]:
        piece = self._by_key.get(delta.key)
        if piece is None or piece.closed:
            return []
        piece.say(delta.text, refuses=delta.refuses)
        return self._tell(piece) if self._lines[piece.kind][0] is piece else []

    def _finish(self, item: Item) -> list[Frame]:
        frames = [] if item.key in self._by_key else self._start(ToldPiece(item.key, item.kind, item.name))
        piece = self._by_key.get(item.key)
        if piece is None or piece.closed:
            return [*frames, *self._amend(item)]
        piece.finish(item)
        return frames + self._go_on(self._lines[piece.kind])

    def _amend(self, item: Item) -> list[Frame]:
        if piece := self._by_key.get(item.key):
            piece.amended = item
        return []

    def _lose(self, keys: tuple[str, ...]) -> list[Frame]:
        for key in keys:
            if piece := self._by_key.pop(key, None):
                piece.lost = piece.closed = True
                piece.waiting = []
        return self._all_go_on()

    def _all_go_on(self) -> list[Frame]:
        """In a fixed order; a line that all share has nothing left the second time."""
        return [frame for kind in ORDER for frame in self._go_on(self._lines[kind])]

    def _go_on(self, line: deque[ToldPiece]) -> list[Frame]:
        frames: list[Frame] = []
        while line:
            piece = line[0]
            frames += self._tell(piece)
            if not piece.closed:
                break
            frames += self._teller.over(piece) if piece.began else []
            line.popleft()
        return frames

    def _tell(self, piece: ToldPiece) -> list[Frame]:
        frames: list[Frame] = []
        if not piece.began:
            if piece.lost or not piece.ready:
                return frames
            frames += self._teller.began(piece)
            piece.began = True
            self.told.append(piece)
        if piece.waiting:
            text, piece.waiting = "".join(piece.waiting), []
            piece.told.append(text)
            frames += self._teller.grew(piece, text)
        return frames


def _whole(item: Item) -> str:
    """A call that was made without arguments has none: programs read them as JSON."""
    return item.text or ("{}" if item.kind is Kind.TOOL_CALL and not item.cut else "")
