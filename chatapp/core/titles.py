"""Titles, and how texts begin where there is one line for it: without signs of Markdown, and nothing in it can bend the line."""

from __future__ import annotations

import re

from .items import clean
from .signs.of_markdown import CODE, DEEPEST, FENCE, LINK, NO_WORDS, OPENING, PAIRS, SIGN, closes
from .signs.visible import Leave, visible

TITLE_CAP = 200
WORDS_CAP = 60
MODEL_CAP = 80
_QUOTES = "\"'`*_«»‹›“”„‟‘’‚「」『』"
_LABEL = re.compile(r"^#*\s*(title|titel|titre|título)\s*[:：]\s*", re.IGNORECASE)
# A line of a log, by the moment that it begins with.
_LOGGED = re.compile(r"\s{0,3}\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
_EMPTY_FENCE = re.compile(r"`{3,}|~{3,}")


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
        found = FENCE.fullmatch(line)
        if fence:
            is_closed = closes(fence, line)
            fence = "" if is_closed else fence
            code += [] if is_closed else [line]
        elif found:
            fence = found[1]
        elif _LOGGED.match(line):
            code.append(line)
        else:
            words.append(line)
    return words, code


def _without_markdown(line: str) -> str:
    if NO_WORDS.fullmatch(line):
        return ""
    for _ in range(DEEPEST):
        opening = OPENING.match(line)
        if not opening:
            break
        line = line[opening.end() :]
    if not SIGN.search(line):
        return line.strip()
    line = LINK.sub(r"\1", line)
    line = CODE.sub(r"\1", line)
    # Once for the inner ones and once for those around them.
    for pair in PAIRS * 2:
        line = pair.sub(r"\1", line)
    return _EMPTY_FENCE.sub("", line).strip()
