"""Text in which nothing is hidden: what a person decides about is read to its last sign."""

from __future__ import annotations

import re
from unicodedata import category

# Controls, formats, surrogates, what has no meaning (yet), and every kind of space but the usual one.
_UNSEEN = ("C", "Z")
_USUAL = frozenset(" \n\t")
# Letters, marks and pictures that are drawn as nothing, or change only how their neighbour looks.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159\U000e0100-\U000e01ef]"
)
# A text may hold a million different signs.
_MOST_KNOWN = 4096


def visible(text: str) -> str:
    """Signs that are not seen, or turn others around, stand there as their numbers: ⟨U+202E⟩."""
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_SHOWN)


def visible_name(name: str) -> str:
    """Of a tool: letters that only look like those of another name are shown as numbers too."""
    return "".join(sign if "!" <= sign <= "~" else _number(sign) for sign in name)


class _Shown(dict[int, str]):
    """How a sign is shown, by its number; looked up once."""

    def __missing__(self, number: int) -> str:
        sign = chr(number)
        shown = sign if _is_seen(sign) else _number(sign)
        if len(self) < _MOST_KNOWN:
            self[number] = shown
        return shown


def _is_seen(sign: str) -> bool:
    return sign in _USUAL or not (category(sign).startswith(_UNSEEN) or _BLANK.match(sign))


def _number(sign: str) -> str:
    return f"⟨U+{ord(sign):04X}⟩"


_SHOWN = _Shown()
