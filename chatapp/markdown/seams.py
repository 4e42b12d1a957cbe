"""A mark in the block of a text that was cut there and went on: where its letters stood when it was cut.

Both are HTML as this package makes it, after the cleaning.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

# Its words are drawn by the style sheet, so that no copy of the text holds them.
_MARK = '<span class="seam"><small{}></small></span>'
MARK = _MARK.format("")
_ROW = '<tr class="seam-row"><td colspan="{}">{}</td></tr>'
_PIECE = re.compile(
    r'<(/?)([a-z][a-z0-9]*+)[^<>"]*+(?:"[^"]*+"[^<>"]*+)*+>|&[#0-9A-Za-z]{1,32};|.', re.DOTALL
)
_SIGNS = frozenset("*_~`#>|$\\[]()-=+:.")
# In these there is no place for a mark, but behind them.
_CLOSED = ("math", "a", "header")
# A word that was cut is not parted again.
_LONGEST_WORD = 40
# That takes some milliseconds; behind what is longer the mark stands at its end.
_MOST_SIGNS = 16 * 1024


@dataclass(frozen=True, slots=True)
class _Piece:
    """A tag, or a sign that is read."""

    start: int
    end: int
    sign: str = ""
    opens: str = ""
    closes: str = ""


def marked(block: str, before: str, words: str = "") -> str:
    """The block with the mark in it, where it goes on after what it said `before`; else as it is. `words`: what the mark says."""
    if len(block) > _MOST_SIGNS or len(before) > _MOST_SIGNS:
        return block
    pieces = _pieces(block)
    letters = [n for n, piece in enumerate(pieces) if piece.sign]
    said = _said([pieces[n].sign for n in letters], [piece.sign for piece in _pieces(before) if piece.sign])
    if all(pieces[n].sign.isspace() for n in letters[said:]):
        return block
    last = _end_of_word(pieces, letters[said - 1]) if said else letters[0] - 1
    return _put(block, pieces, last, _MARK.format(f' data-said="{html.escape(words)}"' if words else ""))


def _pieces(block: str) -> list[_Piece]:
    made = []
    for found in _PIECE.finditer(block):
        slash, name = found[1], found[2]
        if name:
            made.append(_Piece(*found.span(), opens="" if slash else name, closes=name if slash else ""))
        else:
            made.append(_Piece(*found.span(), sign=html.unescape(found[0])))
    return made


def _said(letters: Sequence[str], before: Sequence[str]) -> int:
    """How many of the letters were said before. What was a sign of Markdown then may be none any more, and lines may have become
    rows."""
    n = 0
    for sign in before:
        here = n
        if sign != (letters[n] if n < len(letters) else ""):
            while here < len(letters) and letters[here].isspace():
                here += 1
        if here < len(letters) and letters[here] == sign:
            n = here + 1
        elif not (sign.isspace() or sign in _SIGNS):
            break
    return n


def _end_of_word(pieces: Sequence[_Piece], n: int) -> int:
    most = min(len(pieces) - 1, n + _LONGEST_WORD)
    while n < most and pieces[n].sign.isalnum() and pieces[n + 1].sign.isalnum():
        n += 1
    return n


def _put(block: str, pieces: Sequence[_Piece], last: int, mark: str) -> str:
    """Behind this piece. In a table as a row of its own, in code not in its head, and never inside a formula or a link."""
    inside = Counter(piece.opens for piece in pieces[: last + 1] if piece.opens)
    inside.subtract(piece.closes for piece in pieces[: last + 1] if piece.closes)
    for name in _CLOSED:
        if inside[name] > 0:
            last = _end_of(pieces, last, closes=name)
    if inside["header"] > 0:
        last = _end_of(pieces, last, opens="code")
    if inside["pre"] > 0:
        last = _end_of_line(pieces, last)
    if inside["table"] <= 0:
        at = pieces[last].end
        return f"{block[:at]}{mark}{block[at:]}"
    row = _end_of(pieces, last, closes="tr")
    return f"{block[: pieces[row].end]}{_ROW.format(_cells(pieces, row), mark)}{block[pieces[row].end :]}"


def _end_of(pieces: Sequence[_Piece], after: int, *, opens: str = "", closes: str = "") -> int:
    """Where the next such tag stands; where there is none, as before."""
    places = range(after + 1, len(pieces))
    tags = (
        n for n in places if (opens and pieces[n].opens == opens) or (closes and pieces[n].closes == closes)
    )
    return next(tags, after)


def _end_of_line(pieces: Sequence[_Piece], last: int) -> int:
    """Of code, where a mark within a line would move what stands in columns."""
    while pieces[last].sign.isspace():
        last -= 1
    while last + 1 < len(pieces) and pieces[last + 1].sign != "\n" and pieces[last + 1].closes != "code":
        last += 1
    return last


def _cells(pieces: Sequence[_Piece], row: int) -> int:
    """Of the row that ends there."""
    count, n = 0, row
    while n > 0 and pieces[n].opens != "tr":
        count += pieces[n].opens in ("td", "th")
        n -= 1
    return max(1, count)
