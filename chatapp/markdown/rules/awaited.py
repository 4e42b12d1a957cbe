"""A link in a text that still grows, whose address may be told at its end: until then it is its words."""

from __future__ import annotations

import re

from markdown_it.rules_inline import StateInline

# Neither `a[i][j]` nor `[1][2]`, nor the mark of a note.
_LINK = re.compile(r"\[((?:[^\W\d_]|[`*\"])[^\[\]\n]{1,400})\]\[(?:[^\[\]\n^][^\[\]\n]{0,79})?\]")


def awaited_link(state: StateInline, silent: bool) -> bool:
    found = _LINK.match(state.src, state.pos, state.posMax)
    before = state.src[state.pos - 1] if state.pos else " "
    if not found or before.isalnum() or before in "_])":
        return False
    if not silent:
        _push(state, *found.span(1))
    state.pos = found.end()
    return True


def _push(state: StateInline, start: int, end: int) -> None:
    most = state.posMax
    state.push("awaited_open", "span", 1).attrs = {"class": "fresh"}
    state.pos, state.posMax = start, end
    state.md.inline.tokenize(state)
    state.posMax = most
    state.push("awaited_close", "span", -1)
