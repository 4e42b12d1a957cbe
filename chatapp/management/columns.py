"""In which column of a terminal a text ends: as many as the window is wide means that the line is just full."""

from __future__ import annotations

import unicodedata

TAB = 8


def column_after(text: str, column: int, width: int) -> int:
    for char in text:
        column = _next(char, column, width)
    return column


def _next(char: str, column: int, width: int) -> int:
    if char == "\n":
        return 0
    if char == "\t":
        return max(column, min(column - column % TAB + TAB, width - 1))
    cells = _width_of(char)
    return column + cells if column + cells <= width else cells


def _width_of(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
