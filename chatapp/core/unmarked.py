"""Words without the signs of Markdown around them, for places that have one line: titles, the map, the outline, a thought's gist."""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*")
# What opens a line: quotes, points and headings, also one inside the other.
_OPENING = re.compile(r"\s*+(?:>\s?|#{1,6}(?:\s|\Z)|[-*+]\s(?:\[[ xX]\]\s)?|\d{1,3}[.)]\s(?=\S))")
_DEEPEST = 5
# A rule, what underlines a heading, or the line under a table's head.
_NO_WORDS = re.compile(r"[-=*_|:\s]++")
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


def unmarked(text: str) -> str:
    """Line by line. Fenced code goes where there are words beside it."""
    words, code = _apart(text.splitlines())
    found = [plain for line in words if (plain := _plain(line))]
    return "\n".join(found or [line for line in code if line.strip()])


def _apart(lines: list[str]) -> tuple[list[str], list[str]]:
    """What is said, and what stands in fences."""
    words, code, fence = list[str](), list[str](), ""
    for line in lines:
        found = _FENCE.fullmatch(line)
        if fence:
            closes = found and found[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
            code += [] if closes else [line]
        elif found:
            fence = found[1]
        else:
            words.append(line)
    return words, code


def _plain(line: str) -> str:
    if _NO_WORDS.fullmatch(line):
        return ""
    for _ in range(_DEEPEST):
        opening = _OPENING.match(line)
        if not opening:
            break
        line = line[opening.end() :]
    line = _LINK.sub(r"\1", line)
    line = _CODE.sub(r"\1", line)
    # Once for the inner ones and once for those around them.
    for pair in _PAIRS * 2:
        line = pair.sub(r"\1", line)
    return _EMPTY_FENCE.sub("", line).strip()
