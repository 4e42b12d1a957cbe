"""The few bare tags for which Markdown has no sign of its own. With an attribute, or without its partner, a tag is words."""

from __future__ import annotations

import re

from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_PAIRED = ("sub", "sup", "kbd", "mark")
_TAG = re.compile(r"<(?:(br) ?/?|(/?)(sub|sup|kbd|mark))>", re.IGNORECASE)
_HALF = frozenset(
    whole[:end]
    for name in (*_PAIRED, "br")
    for whole in (f"<{name}>", f"</{name}>")
    for end in range(1, len(whole))
)
_LONGEST = max(map(len, _HALF))
# One in another in another is already more than anybody reads.
_MOST_NESTED = 8


def tag_inline(state: StateInline, silent: bool) -> bool:
    found = _TAG.match(state.src, state.pos)
    if not found:
        return _half(state)
    if not silent:
        _push(state, found)
    state.pos = found.end()
    return True


def _push(state: StateInline, found: re.Match[str]) -> None:
    if found[1]:
        state.push("hardbreak", "br", 0)
        return
    token = state.push("tag", found[3].lower(), 0)
    token.content, token.info = found[0], "close" if found[2] else "open"


def _half(state: StateInline) -> bool:
    """The beginning of a tag at the end of a text that still grows is kept back."""
    if state.env.get("growing") != "shown" or state.posMax - state.pos > _LONGEST:
        return False
    if state.src[state.pos : state.posMax].lower() not in _HALF:
        return False
    state.pos = state.posMax
    return True


def tags_in_pairs(state: StateCore) -> None:
    """Tags that stand in each other like brackets; in the line that still grows an open one is closed at its end."""
    blocks = [token for token in state.tokens if token.children]
    for block in blocks:
        grows = state.env.get("growing") == "shown" and block is blocks[-1]
        assert block.children is not None
        if any(child.type == "tag" for child in block.children):
            block.children = _paired(block.children, grows=grows)


def _paired(children: list[Token], *, grows: bool) -> list[Token]:
    paired: list[Token] = []
    # What is open, outermost first: tags, and whatever else must not be crossed.
    opened: list[Token] = []
    for child in children:
        if child.type == "tag":
            _meet(child, opened)
        elif child.nesting > 0:
            opened.append(child)
        elif child.nesting < 0:
            paired += _leave(opened, grows=grows)
        paired.append(child)
    while opened:
        paired += _closed_at_end(opened.pop(), grows=grows)
    for child in paired:
        if child.type == "tag":
            child.type = "text"
    return paired


def _meet(tag: Token, opened: list[Token]) -> None:
    if tag.info == "open":
        if sum(token.type == "tag" for token in opened[-_MOST_NESTED:]) < _MOST_NESTED:
            opened.append(tag)
        return
    for depth in range(len(opened) - 1, -1, -1):
        if opened[depth].type != "tag":
            return
        if opened[depth].tag == tag.tag:
            opened[depth].type, opened[depth].nesting = "tag_open", 1
            tag.type, tag.nesting = "tag_close", -1
            del opened[depth:]
            return


def _leave(opened: list[Token], *, grows: bool) -> list[Token]:
    """What is open inside of that which ends here; its tags stay words, but at the end of what grows."""
    made: list[Token] = []
    while opened:
        token = opened.pop()
        if token.type != "tag":
            break
        made += _closed_at_end(token, grows=grows)
    return made


def _closed_at_end(token: Token, *, grows: bool) -> list[Token]:
    if not grows or token.type != "tag":
        return []
    token.type, token.nesting = "tag_open", 1
    return [Token("tag_close", token.tag, -1)]
