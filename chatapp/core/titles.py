"""Titles, and how texts begin where there is one line for it: without signs of Markdown, and nothing in it can bend the line."""

from __future__ import annotations

import re

from .items import clean
from .signs.visible import Leave, visible

TITLE_CAP = 200
WORDS_CAP = 60
MODEL_CAP = 80
_QUOTES = "\"'`*_«»‹›“”„‟‘’‚「」『』"
_LABEL = re.compile(r"^#*\s*(title|titel|titre|título)\s*[:：]\s*", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*")
# A line of a log, by the moment that it begins with.
_LOGGED = re.compile(r"\s{0,3}\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
# What opens a line: quotes, points and headings, also one inside the other.
_OPENING = re.compile(r"\s*+(?:>\s?|#{1,6}(?:\s|\Z)|[-*+]\s(?:\[[ xX]\]\s)?|\d{1,3}[.)]\s(?=\S))")
_DEEPEST = 5
# Nothing, a rule, what underlines a heading, or the line under a table's head.
_NO_WORDS = re.compile(r"[-=*_|:\s]*+")
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,1000}\)")
_CODE = re.compile(r"`([^`]++)`")
_PAIRS = (
    re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]++)(?<![\s(\[{])\*(?![\w*])"),
    re.compile(r"(?<![\w(])\*\*(?=[^\s*])([^*]++)(?<![\s(\[{])\*\*"),
    re.compile(r"~~(?=[^\s~])([^~]++)(?<![\s(\[{])~~"),
    re.compile(r"(?<!\w)_(?=[^\s_])([^_]++)(?<![\s(\[{])_(?!\w)"),
    # A name with two lines on each side is a name.
    re.compile(r"(?<!\w)__(?=[^\s_])([^_\s]++\s[^_]++)(?<![\s(\[{])__(?!\w)"),
)
_EMPTY_FENCE = re.compile(r"`{3,}|~{3,}")
# Without one of these a line has none of the above.
_SIGN = re.compile(r"[\[`*~_]")


def one_line(text: str) -> str:
    """Whatever was written, on one line and without hidden signs."""
    return " ".join(visible(" ".join(clean(text).split()), Leave.PROSE, written="").split())


def first_words(text: str) -> str:
    """How a question begins, whole words where they fit, without signs of Markdown."""
    # No title needs more of a question, which may be as long as a book.
    return _cut_at_a_word(one_line(unmarked(text[: 20 * WORDS_CAP])), WORDS_CAP)


def from_model(text: str) -> str:
    """What a model meant as a title: its first line, without the dress models like to put on it."""
    lines = (line for line in map(one_line, unmarked(text).splitlines()) if line.strip(_QUOTES + "#-. "))
    bare = _LABEL.sub("", next(lines, "").strip(_QUOTES + " "))
    return _cut_at_a_word(bare.lstrip("# ").strip(_QUOTES + " ").rstrip("."), MODEL_CAP)


def _cut_at_a_word(line: str, cap: int) -> str:
    if len(line) <= cap:
        return line
    whole, space, _ = line[:cap].rpartition(" ")
    return (whole if space and len(whole) > cap // 2 else line[: cap - 1]).rstrip() + "…"


def unmarked(text: str) -> str:
    """Line by line. Fenced code and what was logged go where there are words beside it."""
    words, code = _apart(text.splitlines())
    found = [plain for line in words if (plain := _without_markdown(line))]
    return "\n".join(found or [line for line in code if line.strip()])


def _apart(lines: list[str]) -> tuple[list[str], list[str]]:
    """What is said, and what stands in fences or was logged."""
    words, code, fence = list[str](), list[str](), ""
    for line in lines:
        found = _FENCE.fullmatch(line)
        if fence:
            closes = found and found[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
            code += [] if closes else [line]
        elif found:
            fence = found[1]
        elif _LOGGED.match(line):
            code.append(line)
        else:
            words.append(line)
    return words, code


def _without_markdown(line: str) -> str:
    if _NO_WORDS.fullmatch(line):
        return ""
    for _ in range(_DEEPEST):
        opening = _OPENING.match(line)
        if not opening:
            break
        line = line[opening.end() :]
    if not _SIGN.search(line):
        return line.strip()
    line = _LINK.sub(r"\1", line)
    line = _CODE.sub(r"\1", line)
    # Once for the inner ones and once for those around them.
    for pair in _PAIRS * 2:
        line = pair.sub(r"\1", line)
    return _EMPTY_FENCE.sub("", line).strip()
