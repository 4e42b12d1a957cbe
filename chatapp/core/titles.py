"""Titles: one line that nothing in it can bend, short enough for a list."""

from __future__ import annotations

import re

from .items import clean
from .unmarked import unmarked
from .visible import Leave, visible

TITLE_CAP = 200
WORDS_CAP = 60
MODEL_CAP = 80
_QUOTES = "\"'`*_«»‹›“”„‟‘’‚「」『』"
_LABEL = re.compile(r"^#*\s*(title|titel|titre|título)\s*[:：]\s*", re.IGNORECASE)


def one_line(text: str) -> str:
    """Whatever was written, on one line and without hidden signs."""
    return " ".join(visible(" ".join(clean(text).split()), Leave.PROSE, written="").split())


def first_words(text: str) -> str:
    """How a question begins, whole words where they fit, without signs of Markdown."""
    # No title needs more of a question, which may be as long as a book.
    return _cut(one_line(unmarked(text[: 20 * WORDS_CAP])), WORDS_CAP)


def from_model(text: str) -> str:
    """What a model meant as a title: its first line, without the dress models like to put on it."""
    lines = (line for line in map(one_line, unmarked(text).splitlines()) if line.strip(_QUOTES + "#-. "))
    bare = _LABEL.sub("", next(lines, "").strip(_QUOTES + " "))
    return _cut(bare.lstrip("# ").strip(_QUOTES + " ").rstrip("."), MODEL_CAP)


def _cut(line: str, cap: int) -> str:
    if len(line) <= cap:
        return line
    whole, space, _ = line[:cap].rpartition(" ")
    return (whole if space and len(whole) > cap // 2 else line[: cap - 1]).rstrip() + "…"
