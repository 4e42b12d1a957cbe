"""What programs put around the words of whoever asks through them, told apart as they mark it: blocks between tags whose names no
element of HTML has (`<system-reminder>`, `<environment_context>`), before the words and behind them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

MOST = 40
_NAME = r"([A-Za-z][A-Za-z0-9]{0,60}[_-][A-Za-z0-9_-]{0,60})"
_OPENS = re.compile(rf"\s*+<{_NAME}(?:\s[^<>]{{0,200}})?>")
# One program writes a heading above its block.
_INSTRUCTS = re.compile(r"\s*+# AGENTS\.md instructions[^\n]{0,1000}\n\s*+<(INSTRUCTIONS)>")
_CLOSES = re.compile(rf"</{_NAME}>")


class Added(NamedTuple):
    text: str = ""
    names: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text)


NOTHING_ADDED = Added()


@dataclass(frozen=True, slots=True)
class AddedTo:
    """What is left of a text without what stands before its words and behind them, each with the names of its blocks."""

    words: str
    before: Added = NOTHING_ADDED
    behind: Added = NOTHING_ADDED

    def __bool__(self) -> bool:
        return bool(self.before or self.behind)


def added_to(text: str) -> AddedTo:
    start, before = _first(text)
    end, behind = _last(text, start)
    words = text[start:end].strip() if before or behind else text
    return AddedTo(words, Added(text[:start].strip(), (*before,)), Added(text[end:].strip(), (*behind,)))


def _first(text: str) -> tuple[int, list[str]]:
    """Where the blocks end with which it begins, and their names."""
    at, names = 0, list[str]()
    while len(names) < MOST and (opens := _OPENS.match(text, at) or _INSTRUCTS.match(text, at)):
        closes = f"</{opens[1]}>"
        end = text.find(closes, opens.end())
        if end < 0:
            break
        at = end + len(closes)
        names.append(opens[1])
    return at, names


def _last(text: str, start: int) -> tuple[int, list[str]]:
    """Where the blocks begin with which it ends."""
    until, names = len(text), list[str]()
    while len(names) < MOST:
        closes = _CLOSES.match(text, max(start, text.rfind("</", start, until)), until)
        if not closes or text[closes.end() : until].strip():
            break
        begins = _opening(text, closes[1], start, closes.start())
        if begins < 0:
            break
        until = begins
        names.insert(0, closes[1])
    return until, names


def _opening(text: str, name: str, start: int, until: int) -> int:
    begins = text.rfind(f"<{name}", start, until)
    return begins if begins >= 0 and _OPENS.match(text, begins, until) else -1
