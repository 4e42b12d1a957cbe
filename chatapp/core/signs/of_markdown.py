"""Signs of Markdown in a line: what opens it, what stands around its words. They are found one by one, without reading a text as Markdown
does, which takes many times as long; a sign whose other half stands elsewhere stays a sign."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# From here to there.
Span = tuple[int, int]

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*")
# What opens a line: quotes, points and headings, also one inside the other.
OPENING = re.compile(r"\s*+(?:>\s?|#{1,6}(?:\s|\Z)|[-*+]\s(?:\[[ xX]\]\s)?|\d{1,3}[.)]\s(?=\S))")
DEEPEST = 5
# Nothing, a rule, what underlines a heading, or the line under a table's head.
NO_WORDS = re.compile(r"[-=*_|:\s]*+")
LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,1000}\)")
CODE = re.compile(r"`([^`]++)`")
# Scripts that put no blank between words: an edge is wherever one is drawn.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_NO_WORD_BEFORE, _NO_WORD_BEHIND = rf"(?<![^\W{_UNSPACED}])", rf"(?![^\W{_UNSPACED}])"
PAIRS = (
    re.compile(rf"{_NO_WORD_BEFORE}(?<!\*)\*(?=[^\s*])([^*]++)(?<![\s(\[{{])\*(?!\*){_NO_WORD_BEHIND}"),
    re.compile(rf"{_NO_WORD_BEFORE}(?<!\()\*\*(?=[^\s*])([^*]++)(?<![\s(\[{{])\*\*"),
    re.compile(r"~~(?=[^\s~])([^~]++)(?<![\s(\[{])~~"),
    re.compile(r"(?<!\w)_(?=[^\s_])([^_]++)(?<![\s(\[{])_(?!\w)"),
    # A name with two lines on each side is a name.
    re.compile(r"(?<!\w)__(?=[^\s_])([^_\s]++\s[^_]++)(?<![\s(\[{])__(?!\w)"),
)
# Without one of these a line has none of the above.
SIGN = re.compile(r"[\[`*~_]")
_OPENS, _LINE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})[^\n]*", re.MULTILINE), re.compile(r"[^\n]*\n?")
_CELL = re.compile(r"\|")
# In the place of a sign that was found: neither a word nor a blank.
_FOUND = "\x00"
_POINT, _BETWEEN = "• ", "·"


@dataclass(frozen=True, slots=True)
class Dress:
    """Signs that go together: both ends of a link, or of what is emphasised. `instead`: how whoever reads sees them."""

    spans: tuple[Span, ...]
    instead: str = ""


def closes(fence: str, line: str) -> bool:
    """Whether a line ends what this one opened."""
    found = FENCE.fullmatch(line)
    return bool(found and found[1].startswith(fence) and not line.strip().strip(fence[0]))


def dress_of(text: str, begins: int, ends: int, *, fences_alone: bool = False) -> Iterator[Dress]:
    """In this stretch, whose lines are whole or longer than anybody looks. `fences_alone`: nothing else is a sign."""
    fence = _open_fence(text, begins)
    for found in _LINE.finditer(text, begins, ends):
        line, at = found[0].removesuffix("\n"), found.start()
        is_whole = at == 0 or text[at - 1] == "\n"
        opening = FENCE.fullmatch(line) if is_whole and not fence else None
        if opening or (fence and is_whole and closes(fence, line)):
            fence = opening[1] if opening else ""
            yield Dress((found.span(),))
        elif not fence and not fences_alone:
            yield from _of_line(line, at, is_whole=is_whole)


def _open_fence(text: str, before: int) -> str:
    """What is still open here."""
    fence = ""
    for found in _OPENS.finditer(text, 0, before):
        opening = FENCE.fullmatch(found[0])
        if fence:
            fence = "" if closes(fence, found[0]) else fence
        elif opening:
            fence = opening[1]
    return fence


def _of_line(line: str, at: int, *, is_whole: bool) -> Iterator[Dress]:
    if is_whole and NO_WORDS.fullmatch(line):
        yield Dress(((at, at + len(line)),))
        return
    begun = 0
    for opening in _openings(line) if is_whole else ():
        begun = opening.end()
        sign = opening[0].lstrip()[:1]
        # Numbers are read.
        if not sign.isdigit():
            yield Dress(((at + opening.start(), at + begun),), _POINT if sign in "-*+" else "")
    if SIGN.search(line, begun):
        for one, other in _among_words(line[begun:]):
            yield Dress(tuple((at + begun + first, at + begun + last) for first, last in (one, other)))
    if is_whole and line.startswith("|"):
        yield from _between_cells(line, at)


def _openings(line: str) -> Iterator[re.Match[str]]:
    begun = 0
    for _ in range(DEEPEST):
        if not (opening := OPENING.match(line, begun)):
            return
        yield opening
        begun = opening.end()


def _between_cells(line: str, at: int) -> Iterator[Dress]:
    last = len(line.rstrip()) - 1
    for found in _CELL.finditer(line):
        edge = found.start() in (0, last)
        yield Dress(((at + found.start(), at + found.end()),), "" if edge else _BETWEEN)


def _among_words(line: str) -> list[tuple[Span, Span]]:
    """Both ends of code, of links, and of what is emphasised: once for the inner ones and once for those around them."""
    ends: list[tuple[Span, Span]] = []

    def note(found: re.Match[str]) -> str:
        first, last = found.span(1)
        ends.append(((found.start(), first), (last, found.end())))
        return _FOUND * (first - found.start()) + found[1] + _FOUND * (found.end() - last)

    def note_code(found: re.Match[str]) -> str:
        note(found)
        return _FOUND * len(found[0])

    line = LINK.sub(note, CODE.sub(note_code, line))
    for pair in PAIRS * 2:
        line = pair.sub(note, line)
    return ends
