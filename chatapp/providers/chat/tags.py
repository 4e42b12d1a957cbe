"""Thoughts between tags at the very start of a text, taken out however the stream cut them. No half of a tag is ever shown."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

# So far to the right a line is code.
CODE = 4


class _Place(Enum):
    START = auto()
    THOUGHT = auto()
    GAP = auto()
    TEXT = auto()


@dataclass(frozen=True, slots=True)
class TaggedText:
    """A piece of the text: `words` for people, `raw` as it came, with its tags and the white space around them."""

    thought: bool
    words: str
    raw: str


class TagReader:
    """`tags`: the pairs that may mark thoughts. Without its first tag a pair means that the text opens with thoughts, because
    the server's template wrote it."""

    def __init__(self, *tags: tuple[str, str]) -> None:
        self._tags, self._closing = tags, ""
        self._place = _Place.START
        self._held = self._margin = ""
        self._said_any = False

    @property
    def begun(self) -> bool:
        return self._place is not _Place.START or bool(self._held)

    @property
    def never_closed(self) -> bool:
        return self._place is _Place.THOUGHT

    def feed(self, text: str) -> list[TaggedText]:
        self._held += text
        said: list[TaggedText] = []
        while self._held and (piece := self._next()):
            said.append(piece)
        return said

    def flush(self) -> list[TaggedText]:
        """What was held back, because something else than text follows: half a tag was none."""
        held, self._held = self._held, ""
        if not held:
            return []
        if self._place is _Place.START:
            self._place = _Place.TEXT
        return [TaggedText(self._place is _Place.THOUGHT, held, held)]

    def _next(self) -> TaggedText | None:
        match self._place:
            case _Place.START:
                return self._open()
            case _Place.THOUGHT:
                return self._think()
            case _Place.GAP:
                return self._skip()
            case _Place.TEXT:
                return self._take(len(self._held), thought=False)

    def _open(self) -> TaggedText | None:
        if blank := len(self._held) - len(self._held.lstrip()):
            self._margin = (self._margin + self._held[:blank]).rpartition("\n")[2][-CODE:]
            return self._take(blank, thought=False)
        if "\t" in self._margin or len(self._margin) == CODE:
            self._place = _Place.TEXT
            return self._next()
        for opening, closing in self._tags:
            if self._held.startswith(opening):
                self._place, self._closing = _Place.THOUGHT, closing
                return self._take(len(opening), thought=True, words="")
        if any(opening.startswith(self._held) for opening, _ in self._tags):
            return None
        self._place = _Place.TEXT
        return self._take(len(self._held), thought=False)

    def _think(self) -> TaggedText | None:
        end = self._held.find(self._closing)
        if end >= 0:
            self._place = _Place.GAP
            words = self._thought(self._held[:end])
            return self._take(end + len(self._closing), thought=True, words=words)
        size = len(self._held) - _overlap(self._held, self._closing)
        return self._take(size, thought=True, words=self._thought(self._held[:size])) if size else None

    def _thought(self, words: str) -> str:
        """Without the line break after the tag."""
        words = words if self._said_any else words.lstrip()
        self._said_any = self._said_any or bool(words)
        return words

    def _skip(self) -> TaggedText | None:
        size = len(self._held) - len(self._held.lstrip())
        if size:
            return self._take(size, thought=True, words="")
        self._place = _Place.TEXT
        return self._next()

    def _take(self, size: int, *, thought: bool, words: str | None = None) -> TaggedText:
        raw, self._held = self._held[:size], self._held[size:]
        return TaggedText(thought, raw if words is None else words, raw)


def _overlap(text: str, tag: str) -> int:
    """How much of the end of `text` may be the beginning of `tag`."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)
