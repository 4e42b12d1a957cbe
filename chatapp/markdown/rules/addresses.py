"""An address in a sentence, where it begins with its scheme. The library's own rule reads all that stands before it, and all behind it."""

from __future__ import annotations

import re

from markdown_it.rules_inline import StateInline

_SCHEME = re.compile(r"(?<![A-Za-z0-9.+-])[A-Za-z][A-Za-z0-9.+-]{0,9}\Z")
# Longer ones are found when the rest of the line has been read.
_LONGEST = 2000


def address_inline(state: StateInline, silent: bool) -> bool:
    if state.linkLevel > 0 or not state.src.startswith("://", state.pos, state.posMax):
        return False
    scheme = _SCHEME.search(state.pending[-12:])
    url = _address(state, state.pos - len(scheme[0])) if scheme else ""
    if not scheme or not url or not state.md.validateLink(state.md.normalizeLink(url)):
        return False
    if not silent:
        state.pending = state.pending[: -len(scheme[0])]
        _push(state, url)
    state.pos += len(url) - len(scheme[0])
    return True


def _address(state: StateInline, start: int) -> str:
    assert state.md.linkify is not None
    found = state.md.linkify.match_at_start(state.src[start : start + _LONGEST])
    return found.url.rstrip("*") if found and found.last_index < _LONGEST else ""


def _push(state: StateInline, url: str) -> None:
    start = state.push("link_open", "a", 1)
    start.attrs, start.markup, start.info = {"href": state.md.normalizeLink(url)}, "linkify", "auto"
    state.push("text", "", 0).content = state.md.normalizeLinkText(url)
    end = state.push("link_close", "a", -1)
    end.markup, end.info = "linkify", "auto"
