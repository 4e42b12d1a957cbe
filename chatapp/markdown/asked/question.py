"""What a person asked: their code in wells, their quotes and lists as such, and everything else exactly as they typed it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from django.utils.safestring import SafeString

from ...core.items import clean
from ..code.colours import language
from ..code.html import folded_code
from ..plain import linked
from ..sanitise import sanitised
from ..whole import MOST_SIGNS, as_it_is
from .pasted import find_pasted

# Lists in quotes in lists: what lies deeper stays as it was typed.
DEEPEST = 4
_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})([^`\n]*)")
_QUOTE = re.compile(r" {0,3}>(?: |\Z)")
_POINT = re.compile(r"( {0,3})(?:([-*+])|(\d{1,3})([.)]))( {1,4})(?=\S)")
_RULE = re.compile(r"[-*+_\s]+")

Lines = Sequence[str]
# Its HTML, and the line behind it.
Found = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Where:
    """How deep in quotes and lists, and whether code is coloured there."""

    coloured: bool
    depth: int = 0

    def inside(self) -> _Where:
        return replace(self, depth=self.depth + 1)


def render_question(text: str, *, coloured: bool = True) -> SafeString:
    """Without colours in time that grows with its length alone; highlighters have their own ideas of it."""
    text = clean(text).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if len(text) > MOST_SIGNS:
        return SafeString(as_it_is(text))
    return SafeString(sanitised("".join(_blocks(text.split("\n"), _Where(coloured))) or "<p></p>"))


def _blocks(lines: Lines, where: _Where) -> Iterator[str]:
    """First what stands in fences, then what was pasted without, then quotes and lists; the rest is words."""
    for stretch, is_fence in _fences(lines):
        if is_fence:
            yield _fenced(stretch, where)
        else:
            yield from _unfenced(stretch, where)


def _fences(lines: Lines) -> Iterator[tuple[Lines, bool]]:
    """Each with its first line and, unless nothing closes it, its last; and what lies between."""
    start = at = 0
    while at < len(lines):
        opening = _FENCE.fullmatch(lines[at])
        if not opening:
            at += 1
            continue
        yield lines[start:at], False
        start, at = at, _end_of_fence(lines, at + 1, opening[2])
        yield lines[start:at], True
        start = at
    yield lines[start:], False


def _end_of_fence(lines: Lines, at: int, opening: str) -> int:
    while at < len(lines):
        at += 1
        if _closes(lines[at - 1], opening):
            break
    return at


def _closes(line: str, opening: str) -> bool:
    marks = line.strip()
    return marks.startswith(opening) and not marks.strip(opening[0]) and len(line) - len(line.lstrip(" ")) < 4


def _fenced(lines: Lines, where: _Where) -> str:
    opening = _FENCE.fullmatch(lines[0])
    assert opening
    inside = lines[1:-1] if len(lines) > 1 and _closes(lines[-1], opening[2]) else lines[1:]
    indent = len(opening[1])
    return _code([_outdented(line, indent) for line in inside], language(opening[3]), where)


def _outdented(line: str, most: int) -> str:
    own = len(line) - len(line.lstrip(" "))
    return line[min(own, most) :]


def _code(lines: Lines, name: str, where: _Where) -> str:
    return folded_code("".join(f"{line}\n" for line in lines), name, coloured=where.coloured)


def _unfenced(lines: Lines, where: _Where) -> Iterator[str]:
    at = 0
    for pasted in find_pasted(lines):
        yield from _spoken(lines[at : pasted.start], where)
        yield _code(lines[pasted.start : pasted.end], pasted.what, where)
        at = pasted.end
    yield from _spoken(lines[at:], where)


def _spoken(lines: Lines, where: _Where) -> Iterator[str]:
    start = at = 0
    while at < len(lines) and where.depth < DEEPEST:
        found = _quote(lines, at, where) or _list(lines, at, where)
        if not found:
            at += 1
            continue
        yield from _paragraphs(lines[start:at])
        html, at = found
        yield html
        start = at
    yield from _paragraphs(lines[start:])


def _paragraphs(lines: Lines) -> Iterator[str]:
    for is_said, stretch in groupby(lines, lambda line: bool(line.strip())):
        if is_said:
            yield f"<p>{_words(list(stretch))}</p>"


def _words(lines: Lines) -> str:
    return linked("\n".join(lines))


def _quote(lines: Lines, at: int, where: _Where) -> Found | None:
    end = at
    while end < len(lines) and _QUOTE.match(lines[end]):
        end += 1
    if end == at:
        return None
    inside = [_QUOTE.sub("", line, count=1) for line in lines[at:end]]
    if not any(map(str.strip, inside)):
        return "".join(_paragraphs(lines[at:end])), end
    return f"<blockquote>{''.join(_blocks(inside, where.inside()))}</blockquote>", end


def _list(lines: Lines, at: int, where: _Where) -> Found | None:
    first = _point(lines[at])
    if not first or (first[3] not in (None, "1") and at and lines[at - 1].strip()):
        return None
    points, end = _points(lines, at, first)
    goes_on = end < len(lines) and lines[end - 1].strip() and lines[end].strip()
    if len(points) == 1 and goes_on:
        # A line of prose or a sum that only begins like one.
        return None
    items = "".join(_list_item(number, inside, where) for number, inside in points)
    return (f"<ol>{items}</ol>" if first[3] else f"<ul>{items}</ul>"), end


def _point(line: str) -> re.Match[str] | None:
    return None if _RULE.fullmatch(line) else _POINT.match(line)


def _points(lines: Lines, at: int, first: re.Match[str]) -> tuple[list[tuple[str | None, list[str]]], int]:
    """The number of each point where it has one, with its lines; and the line behind the last."""
    points = [(first[3], [lines[at][first.end() :]])]
    end, deep = at + 1, first.end()
    while end < len(lines):
        next_said = _next_said(lines, end)
        line = lines[next_said] if next_said < len(lines) else ""
        indent = len(line) - len(line.lstrip(" "))
        point = _point(line)
        if line and indent >= len(first[1]) + 2:
            points[-1][1].extend(_outdented(each, deep) for each in lines[end : next_said + 1])
        elif point and point[2] == first[2] and point[4] == first[4]:
            points.append((point[3], [line[point.end() :]]))
            deep = point.end()
        else:
            break
        end = next_said + 1
    return points, end


def _next_said(lines: Lines, at: int) -> int:
    while at < len(lines) and not lines[at].strip():
        at += 1
    return at


def _list_item(number: str | None, lines: list[str], where: _Where) -> str:
    value = f' value="{int(number)}"' if number else ""
    said = next((at for at, line in enumerate(lines) if not line.strip() or _begins_block(line)), len(lines))
    # The first words of a point stand beside its sign.
    words, rest = lines[: max(said, 1)], lines[max(said, 1) :]
    return f"<li{value}>{_words(words)}{''.join(_blocks(rest, where.inside()))}</li>"


def _begins_block(line: str) -> bool:
    return bool(_FENCE.fullmatch(line) or _QUOTE.match(line) or _point(line))
