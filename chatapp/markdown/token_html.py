"""The HTML of single pieces of Markdown, where it is ours and not the parser's."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from .code.colours import language
from .code.html import code, growing_code
from .formula_rules import displayed
from .formulas import formula
from .signs import marked

Piece = Callable[[RendererHTML, Sequence[Token], int, OptionsDict, EnvType], str]
PIECES: dict[str, Piece] = {}
_ALIGNED = re.compile(r"text-align:(left|right|center)")
_WIDE = '<div class="wide" tabindex="0" role="group" aria-label="{}">'


def _piece(make: Callable[[Token, EnvType], str]) -> Callable[[Token, EnvType], str]:
    """Files a function under its own name, which is the token's."""

    def rule(self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return make(tokens[at], env)

    PIECES[make.__name__] = rule
    return make


@_piece
def text(token: Token, env: EnvType) -> str:
    html = escapeHtml(token.content)
    return marked(html) if "linked" in token.meta else html


@_piece
def link_host(token: Token, env: EnvType) -> str:
    return f' <small class="faint">({escapeHtml(token.content)})</small>'


@_piece
def code_inline(token: Token, env: EnvType) -> str:
    return f"<code>{marked(escapeHtml(token.content))}</code>"


@_piece
def code_block(token: Token, env: EnvType) -> str:
    return code(token.content, "")


@_piece
def fence(token: Token, env: EnvType) -> str:
    name = language(token.info)
    if "growing" in env:
        return growing_code(token.content, name, grows=token.meta.get("open", False))
    if name == "math":
        return _display(token, token.content, env)
    return code(token.content, name)


@_piece
def formula_block(token: Token, env: EnvType) -> str:
    if not token.meta["closed"]:
        return f"{_WIDE.format('Formula')}<code>{marked(escapeHtml(token.info))}</code></div>"
    return _display(token, token.info, env)


def _display(token: Token, source: str, env: EnvType) -> str:
    return f"{_WIDE.format('Formula')}{_formula(token, source, env)}</div>"


def _formula(token: Token, source: str, env: EnvType) -> str:
    return formula(token.meta["written"], env["formulas"]["labels"], source=source, display=displayed(token))


@_piece
def formula_(token: Token, env: EnvType) -> str:
    return _formula(token, token.info, env)


PIECES["formula"] = PIECES.pop("formula_")


@_piece
def table_open(token: Token, env: EnvType) -> str:
    return f"{_WIDE.format('Table')}<table>"


@_piece
def table_close(token: Token, env: EnvType) -> str:
    return "</table></div>"


@_piece
def th_open(token: Token, env: EnvType) -> str:
    return f'<th dir="auto"{_align(token)}>'


@_piece
def td_open(token: Token, env: EnvType) -> str:
    return f'<td dir="auto"{_align(token)}>'


def _align(token: Token) -> str:
    found = _ALIGNED.fullmatch(str(token.attrs.get("style", "")))
    return f' align="{found[1]}"' if found else ""


@_piece
def list_item_open(token: Token, env: EnvType) -> str:
    if "checked" not in token.meta:
        return '<li dir="auto">'
    done = token.meta["checked"]
    state, words = (" checked", "Done") if done else ("", "To do")
    return f'<li dir="auto"><input type="checkbox" disabled{state} aria-label="{words}"> '
