"""As much of a terminal as the clock needs: a window that scrolls, and a cursor that waits at the right edge."""

from __future__ import annotations

import re

PARTS = re.compile(r"\x1b\[\d*m|\x1b\[[ABK]|\x1b[78D]|.", re.DOTALL)


class Screen:
    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.gone: list[str] = []
        self.lines = [""] * rows
        self.row = self.column = 0
        self.saved = (0, 0)

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        pass

    def write(self, text: str) -> None:
        for part in PARTS.findall(text):
            self._part(part)

    def text(self) -> str:
        """Everything that was ever shown, with the line breaks of the right edge taken out."""
        lines = [*self.gone, *self.lines]
        return "".join(line if len(line) == self.columns else line.rstrip() + "\n" for line in lines)

    def _part(self, part: str) -> None:
        match part:
            case "\n":
                self.column = 0
                self._down()
            case "\r":
                self.column = 0
            case "\x1bD":
                self.column = min(self.column, self.columns - 1)
                self._down()
            case "\x1b[A":
                self._move(max(self.row - 1, 0))
            case "\x1b[B":
                self._move(min(self.row + 1, self.rows - 1))
            case "\x1b[K":
                self.lines[self.row] = self.lines[self.row][: self.column]
            case "\x1b7":
                self.saved = (self.row, min(self.column, self.columns - 1))
            case "\x1b8":
                self.row, self.column = self.saved
            case _ if part[0] != "\x1b":
                self._put(part)

    def _move(self, row: int) -> None:
        self.row, self.column = row, min(self.column, self.columns - 1)

    def _put(self, char: str) -> None:
        if self.column == self.columns:
            self.column = 0
            self._down()
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[: self.column] + char + line[self.column + 1 :]
        self.column += 1

    def _down(self) -> None:
        if self.row < self.rows - 1:
            self.row += 1
            return
        self.gone.append(self.lines.pop(0))
        self.lines.append("")
