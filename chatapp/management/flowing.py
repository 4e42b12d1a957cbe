"""Text that flows down a terminal as the terminal breaks it, and one line below it that is drawn anew and leaves no trace."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TextIO

from chatapp.core.signs.visible import Leave, visible
from chatapp.management.columns import column_after

DIM, BOLD, RED, PLAIN = "\x1b[2m", "\x1b[1m", "\x1b[31m", "\x1b[0m"


def terminal_width() -> int:
    return shutil.get_terminal_size().columns


class Flowing:
    """Into a pipe it writes the text alone."""

    def __init__(self, out: TextIO, width: Callable[[], int] = terminal_width) -> None:
        self._out, self._width = out, width
        self.at_terminal = out.isatty()
        self.fresh_line = True
        self._column = 0
        self._stands_below, self._broken_early = False, False

    def say(self, text: str, colour: str = "") -> None:
        if not text:
            return
        text = _harmless(text)
        self.wipe()
        shown = text.removeprefix("\n") if self._broken_early else text
        self._write(f"{colour}{shown}{PLAIN}" if self.at_terminal and colour else shown)
        self.fresh_line, self._broken_early = text.endswith("\n"), False
        self._column = column_after(shown, self._column, self._width())

    def draw_below(self, line: str) -> None:
        if not self.at_terminal:
            return
        self._leave_the_edge()
        # A line is made below before the place is kept: at the bottom of the window that moves everything up.
        self._write(f"\x1bD\x1b[A\x1b7\x1b[B\r\x1b[K{DIM}{line[: self._width() - 1]}{PLAIN}\x1b8")
        self._stands_below = True

    def wipe(self) -> None:
        if self._stands_below:
            self._write("\x1b7\x1b[B\r\x1b[K\x1b8")
            self._stands_below = False

    def _leave_the_edge(self) -> None:
        """Behind a full line a terminal waits with its line break, and forgets it when the cursor moves."""
        if self._column >= self._width():
            self._write("\n")
            self._column, self._broken_early = 0, True

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def _harmless(text: str) -> str:
    """A model's text must not steer the terminal."""
    return visible(text, Leave.LINES | Leave.SELECTORS, written="\ufffd")
