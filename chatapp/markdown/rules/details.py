"""Parts that fold: `<details>` and `<summary>`, each in a line of its own, with Markdown between them."""

from __future__ import annotations

import re

from markdown_it.rules_block import StateBlock

# What is longer is shown unfolded; a part that nothing closes would hold back all that comes after it.
MOST_LINES = 400
# Whoever cleans HTML looks through all that is open at each tag.
MOST_NESTED = 8
_OPENING = re.compile(r" {0,3}<details>\s*(?:<summary>(?P<title>.*)</summary>)?\s*", re.IGNORECASE)
_CLOSING = re.compile(r" {0,3}</details>\s*", re.IGNORECASE)
_TITLE = re.compile(r" {0,3}<summary>(?P<title>.*)</summary>\s*", re.IGNORECASE)
_STRONG = re.compile(r"</?(?:b|strong|em|i|h[1-6])>", re.IGNORECASE)


def details_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Only where nothing but other foldable parts is around it."""
    around = len(state.env.get("folded", ()))
    if state.level != around or around >= MOST_NESTED or state.is_code_block(start):
        return False
    opening = _OPENING.fullmatch(_line(state, start)) if "<" in _line(state, start) else None
    last = _last_line(state, start, end) if opening else None
    if opening is None or last is None:
        return False
    if not silent:
        _push(state, start, last, opening["title"])
    return True


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] : state.eMarks[line]]


def _last_line(state: StateBlock, start: int, end: int) -> int | None:
    """The line that closes it, or the first after the text where it still grows."""
    last = _pairs(state).get(start)
    if last is not None:
        return last if last < end and last - start <= MOST_LINES else None
    if "growing" not in state.env or state.lineMax - start > MOST_LINES:
        return None
    state.env["unsure"] = min(start, state.env.get("unsure", start))
    return end if state.env["growing"] == "shown" else None


def _pairs(state: StateBlock) -> dict[int, int]:
    """Looked up once per text, or many of them would cost the square of their number."""
    text, known = state.env.get("details", ("", {}))
    pairs: dict[int, int] = known if text is state.src else _found(state)
    state.env["details"] = (state.src, pairs)
    return pairs


def _found(state: StateBlock) -> dict[int, int]:
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for line in range(len(state.bMarks) - 1):
        words = _line(state, line)
        if "<" not in words:
            continue
        if _OPENING.fullmatch(words):
            opened.append(line)
        elif opened and _CLOSING.fullmatch(words):
            pairs[opened.pop()] = line
    return pairs


def _push(state: StateBlock, start: int, last: int, title: str | None) -> None:
    token = state.push("details_open", "details", 1)
    token.map, token.block = [start, min(last + 1, state.lineMax)], True
    token.meta = {"closed": last < state.lineMax}
    first = start + 1
    if title is None and first < last and (found := _TITLE.fullmatch(_line(state, first))):
        title, first = found["title"], first + 1
    if title is not None:
        _push_title(state, title, first - 1)
    _push_inside(state, first, last)
    state.push("details_close", "details", -1).block = True
    state.line = min(last + 1, state.lineMax)


def _push_title(state: StateBlock, title: str, line: int) -> None:
    state.push("summary_open", "summary", 1).block = True
    inner = state.push("inline", "", 0)
    inner.content, inner.map, inner.children = _STRONG.sub("", title).strip(), [line, line + 1], []
    state.push("summary_close", "summary", -1).block = True


def _push_inside(state: StateBlock, first: int, last: int) -> None:
    around, state.parentType, state.lineMax = (
        (state.parentType, state.lineMax),
        "details",
        min(last, state.lineMax),
    )
    state.env.setdefault("folded", []).append(state.level)
    state.md.block.tokenize(state, first, state.lineMax)
    state.env["folded"].pop()
    state.parentType, state.lineMax = around
