"""Markdown that is still being written: each block is told once, when it is finished; only the unfinished end is parsed again."""

from __future__ import annotations

from itertools import zip_longest

from ...core.items import clean
from .footnotes import prefix
from .page import MOST_SIGNS, as_it_is, blocks
from .parser import TooMuch
from .tail import Known, Open, Step, advance, opened


class Growing:
    """One text while it grows. `given` are the blocks that were told, in their order."""

    def __init__(self, *, message: str = "", key: str = "") -> None:
        self.message, self.key = message, key
        self.given: list[str] = []
        self.known = Known()
        self.tail = ""
        self.lost = False
        self._at = 0
        self._looked = 0

    def feed(self, text: str) -> list[str]:
        """The blocks that are new in the whole text so far."""
        if not self.look(text):
            return []
        try:
            return self.take(advance(*self.job()))
        except TooMuch:
            return self.give_up()

    def look(self, text: str) -> bool:
        """Whether the text, now this long, is worth looking at for finished blocks."""
        text = _unix(text)
        self.lost = self.lost or len(text) > MOST_SIGNS
        self.tail = text[self._at :]
        if self.lost or not self._worth_it():
            return False
        self._looked = len(self.tail)
        return True

    def _worth_it(self) -> bool:
        """A long block that grows by lines is not parsed again for every line."""
        new = self.tail[max(0, self._looked - 1) :]
        return "\n\n" in new or ("\n" in new and len(self.tail) >= self._looked + self._looked // 16)

    def job(self) -> tuple[str, Known, str]:
        return self.tail, self.known, prefix(self.message, self.key)

    def take(self, step: Step) -> list[str]:
        self.tail, self._at, self.known = self.tail[step.taken :], self._at + step.taken, step.known
        self._looked -= step.taken
        self.given += step.blocks
        return step.blocks

    def give_up(self) -> list[str]:
        """From here on the text is shown as it is, until its end decides."""
        self.lost = True
        return []

    def open(self) -> Open:
        return Open(as_it_is(self.tail)) if self.lost else opened(*self.job())

    def finish(self, text: str) -> list[tuple[int, str]]:
        """What differs from what was given, with its place; places after the last given are new."""
        return self.settle(blocks(text, message=self.message, key=self.key))

    def settle(self, final: list[str]) -> list[tuple[int, str]]:
        """An empty block stands for one that is not there any more."""
        pairs = enumerate(zip_longest(self.given, final, fillvalue=""))
        return [(place, new) for place, (old, new) in pairs if old != new]


def _unix(text: str) -> str:
    text = clean(text)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
