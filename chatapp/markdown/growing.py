"""Markdown that is still being written: each block is told once, when it is finished. Its unfinished end is shaped by the page."""

from __future__ import annotations

from itertools import zip_longest

from ..core.items import clean
from .footnotes import prefix
from .parser import TooMuch
from .tail import Known, Step, advance
from .whole import MOST_SIGNS, render_blocks

# So often in a row a blank line is looked at in vain; after that a long block is looked at as it grows.
PATIENCE = 40
# What finished blocks define goes along with every look.
MOST_DEFINED = 1000


class Growing:
    """One text while it grows. `given` are the blocks that were told, in their order."""

    def __init__(self, *, message: str = "", key: str = "") -> None:
        self.message, self.key = message, key
        self.given: list[str] = []
        self.known = Known()
        self.tail = ""
        self.lost = False
        self._read = self._looked = self._in_vain = 0
        self._after_cr = False

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
        self.tail += self._unix(text[self._read :])
        self._read = len(text)
        self.lost = self.lost or self._read > MOST_SIGNS
        if self.lost or not self._worth_it():
            return False
        self._looked = len(self.tail)
        self._in_vain += 1
        return True

    def _unix(self, new: str) -> str:
        """With LF at the end of each line. A CR ends its line at once; an LF that comes after it is left out."""
        new = clean(new)
        if self._after_cr and new:
            self._after_cr = False
            new = new.removeprefix("\n")
        if "\r" in new:
            self._after_cr = new.endswith("\r")
            new = new.replace("\r\n", "\n").replace("\r", "\n")
        return new

    def _worth_it(self) -> bool:
        """A long block that grows by lines is not parsed again for every line."""
        new = self.tail[max(0, self._looked - 1) :]
        if "\n\n" in new and self._in_vain < PATIENCE:
            return True
        return "\n" in new and len(self.tail) >= self._looked + self._looked // 16

    def job(self) -> tuple[str, Known, str]:
        return self.tail, self.known, prefix(self.message, self.key)

    def take(self, step: Step) -> list[str]:
        if step.taken:
            self.tail, self.known, self._in_vain = self.tail[step.taken :], step.known, 0
            self._looked -= step.taken
            self.lost = self.lost or step.known.size > MOST_DEFINED
        self.given += step.blocks
        return step.blocks

    def give_up(self) -> list[str]:
        """From here on no block is told, until the end of the text decides."""
        self.lost = True
        return []

    def finish(self, text: str) -> list[tuple[int, str]]:
        """What differs from what was given, with its place; places after the last given are new."""
        return self.settle(render_blocks(text, message=self.message, key=self.key))

    def settle(self, final: list[str]) -> list[tuple[int, str]]:
        """An empty block stands for one that is not there any more."""
        pairs = enumerate(zip_longest(self.given, final, fillvalue=""))
        return [(place, new) for place, (old, new) in pairs if old != new]
