r"""Where a formula begins and ends: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, `\begin{align}…\end{align}`; and their order."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from .code.colours import language
from .formulas import MOST_SIGNS, written
from .latex import Definitions

MOST_LINES = 100
_PAIRS = {"$$": "$$", r"\[": r"\]", r"\(": r"\)"}
_CLOSING_DOLLAR = re.compile(r"(?<![\s\\$])\$(?![\d$])")
_DOLLAR = re.compile(r"(?<!\\)\$")
# These stand in a line of their own without any dollar.
_BEGIN = re.compile(r"\\begin\{((?:equation|align|gather|multline|flalign|alignat|eqnarray)\*?)\}")
# Named in a sentence, also without a dollar.
_REFERENCE = re.compile(r"\\(?:eqref|ref)\{[^{}\n]{1,100}\}")
# Sums of money begin with a digit and go on in words.
_PROSE = re.compile(r"\d[^\\^_={}<>+*/|\s]*+\s[^\\^_={}<>+*/|]*+")


def formula_inline(state: StateInline, silent: bool) -> bool:
    opener = state.src[state.pos : state.pos + 2]
    if opener in _PAIRS:
        return _paired(state, opener, silent)
    if opener in (r"\e", r"\r"):
        return _reference(state, silent)
    return opener[:1] == "$" and _dollars(state, silent)


def _reference(state: StateInline, silent: bool) -> bool:
    found = _REFERENCE.match(state.src, state.pos)
    if not found:
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content = token.info = found[0]
    state.pos = found.end()
    return True


def _paired(state: StateInline, opener: str, silent: bool) -> bool:
    start = state.pos + 2
    end = state.src.find(_PAIRS[opener], start, min(state.posMax, start + MOST_SIGNS))
    return end >= 0 and _push(state, opener, start, end, silent)


def _dollars(state: StateInline, silent: bool) -> bool:
    """A dollar opens before a sign and closes after one, and never stands inside a word or before a digit."""
    start = state.pos + 1
    if start >= state.posMax or state.src[start].isspace():
        return False
    if start > 1 and (state.src[start - 2].isalnum() or state.src[start - 2] == "$"):
        return False
    end = _next_dollar(state, start)
    if end < 0 or _DOLLAR.search(state.src, start, end) or _PROSE.fullmatch(state.src, start, end):
        return False
    return _push(state, "$", start, end, silent)


def _next_dollar(state: StateInline, start: int) -> int:
    """The places are looked up once per text, or many dollars would cost the square of their number."""
    text, places = state.env.get("dollars", ("", []))
    if text is not state.src:
        places = [found.start() for found in _CLOSING_DOLLAR.finditer(state.src)]
        state.env["dollars"] = (state.src, places)
    at = bisect_right(places, start)
    return places[at] if at < len(places) and places[at] < state.posMax else -1


def _push(state: StateInline, opener: str, start: int, end: int, silent: bool) -> bool:
    latex = state.src[start:end]
    if not latex.strip() or len(latex) > MOST_SIGNS or "`" in latex:
        return False
    closer = _PAIRS.get(opener, opener)
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.markup = latex, opener
        token.info = f"{opener}{latex}{closer}"
    state.pos = end + len(closer)
    return True


def formula_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    r"""A block from `$$`, `\[` or `\begin{…}` at the start of a line to its partner at the end of a line."""
    if state.is_code_block(start):
        return False
    opener, closer = _pair(_line(state, start))
    if not opener:
        return False
    last = _last_line(state, start, end, opener, closer)
    if last is None:
        return False
    if not silent:
        _push_block(state, start, min(last, end - 1), opener, closer)
    return True


def _pair(line: str) -> tuple[str, str]:
    if line[:2] in ("$$", r"\["):
        return line[:2], _PAIRS[line[:2]]
    found = _BEGIN.match(line)
    return (found[0], f"\\end{{{found[1]}}}") if found else ("", "")


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def _last_line(state: StateBlock, start: int, end: int, opener: str, closer: str) -> int | None:
    """Where the formula ends. While text still grows, a formula that is not closed may yet be."""
    first = _line(state, start)[len(opener) :]
    if closer in first:
        return start if first.endswith(closer) and first.count(closer) == 1 and first != closer else None
    for line in range(start + 1, min(end, start + MOST_LINES)):
        text = _line(state, line)
        if text.endswith(closer):
            return line
        if _ends_search(state, line, text, alone=not first):
            return None
    return _unclosed(state, start, end)


def _ends_search(state: StateBlock, line: int, text: str, *, alone: bool) -> bool:
    if not text:
        return not alone
    return state.sCount[line] < state.blkIndent or text.startswith(("```", "~~~", "$$", r"\["))


def _unclosed(state: StateBlock, start: int, end: int) -> int | None:
    if end - start >= MOST_LINES or "growing" not in state.env:
        return None
    state.env["unsure"] = min(start, state.env.get("unsure", start))
    return end - 1 if state.env["growing"] == "shown" else None


def _push_block(state: StateBlock, start: int, last: int, opener: str, closer: str) -> None:
    lines = [_line(state, line) for line in range(start, last + 1)]
    source = "\n".join(lines)
    closed = source.endswith(closer) and len(source) >= len(opener) + len(closer)
    state.line = last + 1
    token = state.push("formula_block", "math", 0)
    token.map = [start, state.line]
    token.content = _inside(source, opener, closer, closed=closed)
    token.info, token.markup, token.hidden = source, opener, False
    token.meta = {"closed": closed}


def _inside(source: str, opener: str, closer: str, *, closed: bool) -> str:
    """Without its dollars or brackets; an environment is a part of what it holds."""
    if opener not in _PAIRS:
        return source
    return source[len(opener) : -len(closer)] if closed else source[len(opener) :]


# In the order of the text


def formulas_in_order(state: StateCore) -> None:
    """Each is written out with what those before it have defined. Names of equations are looked up when all are known."""
    definitions = Definitions.again(state.env.get("formulas", {}))
    for token in _formulas(state.tokens):
        if not token.meta.get("closed", True):
            continue
        token.meta = {**token.meta, "written": written(token.content, definitions, display=displayed(token))}
    state.env["formulas"] = definitions.kept()


def displayed(token: Token) -> bool:
    return token.type != "formula" or token.markup in ("$$", r"\[")


def _formulas(tokens: list[Token]) -> Iterator[Token]:
    """But those in notes that still stand where they were written: in the end they are the last."""
    inside = 0
    for token in tokens:
        inside += (token.type == "footnote_reference_open") - (token.type == "footnote_reference_close")
        if inside:
            continue
        if token.type == "formula_block" or (token.type == "fence" and language(token.info) == "math"):
            yield token
        for child in token.children or ():
            if child.type == "formula":
                yield child
