"""What cannot be seen, or turns its neighbours around, and how it is written so that it is: whoever shows a text says what it may leave."""

from __future__ import annotations

import re
from enum import Flag, auto
from functools import cache
from unicodedata import category

NUMBER = "⟨U+{:04X}⟩"


class Leave(Flag):
    """What people write with, although it is not seen. Where somebody decides about a text, little of it is left."""

    NOTHING = 0
    LINES = auto()
    RETURNS = auto()
    SPACES = auto()
    # Of emoji, and of scripts whose letters join.
    JOINERS = auto()
    SELECTORS = auto()
    # Drawn around numbers.
    ENCLOSING = auto()
    # Nobody's signs, and those of a Unicode that is newer than ours.
    UNKNOWN = auto()
    PROSE = LINES | RETURNS | SPACES | JOINERS | SELECTORS | ENCLOSING | UNKNOWN


# Controls, formats, surrogates, what has no meaning (yet), and every kind of space but the usual one.
_UNSEEN = ("C", "Z")
# Letters, marks and pictures that are drawn as nothing, or change only how their neighbour looks.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U0001d159]")
_IGNORABLE = re.compile("[\u2065\ufff0-\ufff8\U000e0000-\U000e0fff]")
_LEFT = {
    Leave.LINES: re.compile("[\n\t]"),
    Leave.RETURNS: re.compile("\r"),
    Leave.JOINERS: re.compile("[\u200c\u200d]"),
    Leave.SELECTORS: re.compile("[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]"),
    Leave.ENCLOSING: re.compile("[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd]"),
}
_BY_CATEGORY = {"Zs": Leave.SPACES, "Co": Leave.UNKNOWN, "Cn": Leave.UNKNOWN}
# A text may hold a million different signs.
_MOST_KNOWN = 4096


def visible(text: str, leave: Leave = Leave.LINES, *, written: str = NUMBER) -> str:
    """Signs that are not seen, or turn others around, stand there as their numbers: ⟨U+202E⟩."""
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_shown(leave, written))


def hides(text: str, leave: Leave = Leave.NOTHING) -> bool:
    return visible(text, leave) != text


def visible_name(name: str) -> str:
    """Of a tool: letters that only look like those of another name are shown as numbers too."""
    return "".join(sign if "!" <= sign <= "~" else NUMBER.format(ord(sign)) for sign in name)


class _Shown(dict[int, str]):
    """How a sign is shown, by its number; looked up once."""

    def __init__(self, leave: Leave, written: str) -> None:
        self._leave, self._written = leave, written

    def __missing__(self, number: int) -> str:
        kind = _leave_for(chr(number))
        left = kind is None or bool(kind & self._leave)
        shown = chr(number) if left else self._written.format(number)
        if len(self) < _MOST_KNOWN:
            self[number] = shown
        return shown


_shown = cache(_Shown)


def _leave_for(sign: str) -> Leave | None:
    """Which leave a sign needs to stand as it is; None where it is seen."""
    for leave, signs in _LEFT.items():
        if signs.match(sign):
            return leave
    if _BLANK.match(sign) or _IGNORABLE.match(sign):
        return Leave.NOTHING
    if sign == " " or not category(sign).startswith(_UNSEEN):
        return None
    return _BY_CATEGORY.get(category(sign), Leave.NOTHING)
