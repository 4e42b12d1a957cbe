"""Footnotes: what is known of them while a text grows, and their HTML with the only ids that a text may bring."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.footnote import footnote_plugin

ID = re.compile(r"fn(?:ref)?(?:-[A-Za-z0-9_-]*){2}-[0-9]+(?:\.[0-9]+)?")
# What stands in `[^…]` and is no class of a regular expression.
_LABEL = re.compile(r":(?:[0-9]{1,3}|[A-Za-z]{3}[A-Za-z0-9_-]{0,30})")
_RULES = ("footnote_ref", "footnote_block_open", "footnote_block_close", "footnote_open", "footnote_anchor")


class Expected(dict[str, int]):
    """Labels seen in a text that still grows: a note will be told later, so its mark need not change then."""

    def __bool__(self) -> bool:
        return True

    def __contains__(self, label: object) -> bool:
        return dict.__contains__(self, label) or bool(_LABEL.fullmatch(str(label)))

    def __setitem__(self, label: str, number: int) -> None:
        """A definition that comes after its mark leaves the mark's number."""
        if number >= 0 or self.get(label, -1) < 0:
            super().__setitem__(label, number)


def footnotes(md: MarkdownIt, *, at_end: bool) -> None:
    """Without `at_end` the notes stay where they were written, for the caller to leave out."""
    footnote_plugin(md, inline=False, move_to_end=at_end)
    for name in _RULES:
        md.add_render_rule(name, globals()[f"_{name}"])


def prefix(message: str, key: str) -> str:
    return f"{_plain(message)}-{_plain(key)}"


def _plain(name: str) -> str:
    """Different names stay different."""
    return re.sub(r"[^A-Za-z0-9]", lambda sign: f"_{ord(sign[0]):x}_" if sign[0] != "-" else "-", name)


def _place(token: Token, env: EnvType) -> tuple[str, str]:
    """The note's id without its beginning, and that of this mark of it."""
    note = f"{env.get('prefix', '-')}-{token.meta['id'] + 1}"
    again = token.meta.get("subId", 0)
    return note, f"{note}.{again}" if again > 0 else note


def _footnote_ref(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    note, mark = _place(tokens[at], env)
    number = tokens[at].meta["id"] + 1
    return f'<sup><a href="#fn-{note}" id="fnref-{mark}" aria-label="Footnote {number}">{number}</a></sup>'


def _footnote_block_open(*_: Any) -> str:
    return '<section class="footnotes" aria-label="Footnotes"><ol>'


def _footnote_block_close(*_: Any) -> str:
    return "</ol></section>"


def _footnote_open(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    return f'<li dir="auto" id="fn-{_place(tokens[at], env)[0]}">'


def _footnote_anchor(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    mark = _place(tokens[at], env)[1]
    return f' <a href="#fnref-{mark}" aria-label="Back to the text">↩</a>'
