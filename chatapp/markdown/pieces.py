"""What a page that shapes growing text does not make itself: links and formulas in the moment in which their last sign has come, since
what may be linked, and how a formula is set, is known here alone; and the well for a fence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from django.utils.safestring import SafeString

from .footnotes import prefix
from .parser import TooMuch, environment, parser
from .sanitise import sanitised
from .tail import Known
from .whole import html_of

_CLOSING = re.compile(r"\$|\\[)\]]|\)")
# As far back as a piece may begin. Longer ones come with their block.
LONGEST = 600
# So many of what came at once, the newest; and so many of one text.
MOST_AT_ONCE, MOST = 100, 2000
Piece = tuple[str, str]


class GrowingPieces:
    def __init__(self, *, message: str = "", key: str = "") -> None:
        self._ids = prefix(message, key)
        self._end = ""
        self._told: set[str] = set()

    def feed(self, letters: str, known: Known) -> list[Piece]:
        """Those that end in these letters, each with its source, once."""
        seen, text = len(self._end), self._end + letters
        self._end = text[-LONGEST:]
        if len(self._told) > MOST:
            return []
        endings = [found.end() for found in _CLOSING.finditer(text, max(0, seen - 1)) if found.end() > seen]
        return list(self._made(text, endings[-MOST_AT_ONCE:], known))

    def _made(self, text: str, endings: list[int], known: Known) -> Iterator[Piece]:
        for end in endings:
            source = _source(text[max(0, end - LONGEST) : end])
            if source and source not in self._told:
                self._told.add(source)
                if html := _html(source, known, self._ids):
                    yield source, html


def _source(text: str) -> str:
    """The piece that may end here, without what its lines are indented by."""
    start = _start(text)
    return "\n".join(line.strip() for line in text[start:].split("\n")) if start >= 0 else ""


def _start(text: str) -> int:
    if text.endswith(("\\)", "\\]")):
        return text.rfind("\\(" if text[-1] == ")" else "\\[", 0, -2)
    if text.endswith("$$"):
        return text.rfind("$$", 0, -2)
    if text.endswith("$"):
        start = text.rfind("$", 0, -1)
        # Half of a pair of two.
        return -1 if start > 0 and text[start - 1] == "$" else start
    words = text.rfind("](")
    return text.rfind("[", 0, words) if words >= 0 and "\n" not in text[words:] else -1


def _html(source: str, known: Known, ids: str) -> str:
    """Empty where it is something else, or where more belongs to it than one element."""
    md, env = parser(growing=True), known.environment(source, ids)
    try:
        tokens = md.parseInline(source, env)
    except TooMuch:
        return ""
    names = [child.type for child in tokens[0].children or []]
    whole = names == ["formula"] or (names[:1], names[-1:]) == (["link_open"], ["link_close"])
    if not whole or names.count("link_open") > 1:
        return ""
    return sanitised(md.renderer.render(tokens, md.options, env)).strip()


@cache
def render_well() -> SafeString:
    """Nothing stands in it yet: pages fill copies of it."""
    source, md = "```\n```", parser(growing=True)
    env = environment(source, growing="shown")
    return SafeString("".join(html_of(md, md.parse(source, env), env)))
