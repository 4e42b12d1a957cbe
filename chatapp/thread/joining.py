"""A text that was cut, and what its model went on with, as one text: nothing twice, no word glued to another, no block lost.

The model was told to go on exactly where its text ends. Many drop the white space it would begin with, begin the line once more,
or open a fence again that is open still.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# What begins a text this long cannot change any more how it is joined.
DECIDED = 400
# So far back a repetition may begin.
_REACH, _MOST_LINES, _MOST_WORDS = 2000, 40, 40
# As much as is repeated by nobody who goes on: of a line that is not at its end, and of anything else.
_LINE, _WORDS = 3, 16
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n`]*)")
_STANDS_ALONE = re.compile(r"#{1,6} |`{3}|~{3}|> |(?:\*{3}|-{3}|_{3})(?:\n|\Z)")
_POINT = re.compile(r"(?:[-*+]|[0-9]{1,3}[.)]) ")
_RULE = re.compile(r"[|:\- \t]*-[|:\- \t]*")
_LAST_WORD, _FIRST_WORD = re.compile(r"[^\W\d_]{1,40}\Z"), re.compile(r"[^\W\d_]{1,40}")
# Scripts that put no space between words.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def joined(before: str, after: str) -> str:
    """`before` was cut; `after` is what came when the model was told to go on."""
    if not before.strip() or not after:
        return before + after
    kept, rest = _without_repetition(before, _without_fence(before, after))
    return kept + _gap(kept, rest) + rest


@dataclass(frozen=True, slots=True)
class _Fence:
    """A fence that is still open at the end of a text."""

    mark: str

    def is_closed_by(self, line: str) -> bool:
        found = _FENCE.match(line)
        return found is not None and found[1].startswith(self.mark) and not found[2].strip()


def _open_fence(text: str) -> _Fence | None:
    fence: _Fence | None = None
    for line in text.split("\n"):
        if fence and fence.is_closed_by(line):
            fence = None
        elif not fence and (found := _FENCE.match(line)):
            fence = _Fence(found[1])
    return fence


def _without_fence(before: str, after: str) -> str:
    """A fence that is open is not opened again."""
    found = _FENCE.match(after)
    if not found or not found[2].strip() or not _open_fence(before):
        return after
    rest = after.partition("\n")[2]
    goes_on = before.endswith("\n") or not rest or _repeats_line(before, rest)
    return rest if goes_on else f"\n{rest}"


def _repeats_line(before: str, after: str) -> bool:
    last = before.rpartition("\n")[2]
    return _says(last) >= _LINE and after.startswith(last)


def _says(text: str) -> int:
    """So many letters and digits at least: rules and fences say nothing that could be repeated."""
    return len(re.findall(r"[^\W_]", text[:200]))


def _without_repetition(before: str, after: str) -> tuple[str, str]:
    for start in _beginnings(before):
        said = before[start:]
        at_line = start == 0 or before[start - 1] == "\n"
        least = _LINE if at_line and "\n" not in said else _WORDS
        if _says(said) >= least and after.startswith(said):
            return before[:start], after
    return before, _without_head(before, after)


def _beginnings(text: str) -> Iterator[int]:
    """Where a repetition may begin, the longest first: lines, then words of the last line."""
    yield 0
    lines = [found.end() for found in re.finditer("\n", text[-_REACH:])]
    since = max(0, len(text) - _REACH)
    yield from (since + at for at in lines[-_MOST_LINES:])
    last = text.rfind("\n") + 1
    since = max(last, len(text) - _REACH)
    words = [found.end() for found in re.finditer(r"\s", text[since:])]
    yield from (since + at for at in words[-_MOST_WORDS:])


def _without_head(before: str, after: str) -> str:
    """A table goes on without its head, where that was said again."""
    block = before[before.rfind("\n\n") + 2 if "\n\n" in before else 0 :]
    head, _, more = block.partition("\n")
    rule = more.partition("\n")[0]
    said, _, below = after.partition("\n")
    again, _, rest = below.partition("\n")
    if (
        "|" not in head
        or not _RULE.fullmatch(rule)
        or not _RULE.fullmatch(again)
        or said.strip() != head.strip()
    ):
        return after
    return rest if before.endswith("\n") else f"\n{rest}"


def _gap(before: str, after: str) -> str:
    """What must stand between them."""
    if not after or not before or before.endswith("\n") or after[0].isspace():
        return ""
    if fence := _open_fence(before):
        return "\n" if fence.is_closed_by(after.partition("\n")[0]) else ""
    if block := _block_gap(before, after):
        return block
    return "" if before[-1].isspace() else _space_between(before, after)


def _block_gap(before: str, after: str) -> str:
    """What begins a block begins a line."""
    last = before.rpartition("\n")[2].strip()
    if _STANDS_ALONE.match(after):
        return "\n\n"
    if _POINT.match(after):
        return "\n" if _POINT.match(last) else "\n\n"
    is_row = len(last) > 1 and last.startswith("|") and last.endswith("|")
    return "\n" if after.startswith("|") and is_row else ""


def _space_between(before: str, after: str) -> str:
    """A space, where the rows tell that two words met and not the halves of one."""
    last, first = before[-1], after[0]
    if _UNSPACED.match(last) or _UNSPACED.match(first):
        return ""
    if last in ",;" or (last in ".!?:" and first.isupper()):
        return " " if first.isalpha() else ""
    left, right = _LAST_WORD.search(before[-41:]), _FIRST_WORD.match(after)
    if not left or not right:
        return ""
    if right[0][0].isupper() and left[0][-1].islower():
        return " "
    words = set(re.findall(r"[^\W\d_]+", f"{before[: -len(left[0])]} {after[len(right[0]) :]}".lower()))
    one, other = left[0].lower(), right[0].lower()
    return " " if one + other not in words and (one in words or other in words) else ""
