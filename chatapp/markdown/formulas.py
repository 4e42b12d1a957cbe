"""LaTeX as MathML, or as its source where there is no picture of it.

The converter is fast, but it needs a guard: it overflows its stack on deep nesting, and takes time without end on opening
brackets that nothing closes.
"""

from __future__ import annotations

import re
from functools import cache

from markdown_it.common.utils import escapeHtml
from math_core import LatexError, LatexToMathML

from ..core.visible import Leave, hides
from .signs import marked

MOST_SIGNS = 4000
MOST_NESTED = 60
MOST_OPEN = 8

_OPENING = re.compile(
    r"\\(?:l(?:Angle|Brace|Vert|ang|angle|brace|brack|ceil|floor|group|langle|lbracket|lcorner|lparenthesis|moustache|paren|vert)"
    r"|ulcorner|[bB]igg?l|mathopen)(?![A-Za-z])|\\\{|[(\[⌈⌊⌜⌞⎰❲⟅⟦⟨⟪⟬⟮⦃⦅⦇⦉⦋⦍⦏⦑⦓⦕⦗⧘⧚⧼]"
)
_CLOSING = re.compile(
    r"\\(?:r(?:Angle|Brace|Vert|ang|angle|brace|brack|ceil|floor|group|rangle|rbracket|rcorner|rparenthesis|moustache|paren|vert)"
    r"|urcorner|[bB]igg?r|mathclose)(?![A-Za-z])|\\\}|[)\]⌉⌋⌝⌟⎱❳⟆⟧⟩⟫⟭⟯⦄⦆⦈⦊⦌⦎⦐⦒⦔⦖⦘⧙⧛⧽]"
)
_SIGN = re.compile(r"\\(?:left|right|middle)(?![A-Za-z])\s*(?:\\[A-Za-z]+|\\?.)|\\[A-Za-z]+|\\.|.", re.DOTALL)
_DEEPER = re.compile(r"\{|\\begin|\\left(?![A-Za-z]).*", re.DOTALL)
_HIGHER = re.compile(r"\}|\\end|\\right(?![A-Za-z]).*", re.DOTALL)
_CHAIN = re.compile(r"(?:\\[A-Za-z]+(?![A-Za-z])[\s\w^_]{0,3}){80}")
_DEFINES = re.compile(
    r"\\(?:newcommand|renewcommand|providecommand|def|gdef|edef|xdef|let|eqref)(?![A-Za-z])"
)
_NUMBERED = re.compile(r"\\(begin|end)\{(equation|align|gather|multline|alignat|flalign)\}")
_STYLE = re.compile(r' style="([^"]*)"')
_CLASSES = {
    "text-align: left": "left",
    "text-align: right": "right",
    "padding-left: 0": "flush-left",
    "padding-right: 0": "flush-right",
    "padding-left:1em": "apart",
    **{
        f"border-{side}: 0.05em {line} currentcolor": f"rule-{side}"
        for side in ("left", "right", "top", "bottom")
        for line in ("solid", "dashed")
    },
}
CLASSES = frozenset(_CLASSES.values())


class WrongFormula(ValueError):
    """Says why there is no picture of this formula."""


def formula(latex: str, *, source: str, display: bool) -> str:
    """MathML; or the source as it was written, as code, with the reason in its title."""
    try:
        return mathml(latex, display=display)
    except WrongFormula as wrong:
        return f'<code title="{escapeHtml(str(wrong)[:200])}">{marked(escapeHtml(source))}</code>'


def mathml(latex: str, *, display: bool) -> str:
    _guard(latex)
    try:
        made = _converter().convert_with_local_state(_unnumbered(latex), displaystyle=display)
    except LatexError as error:
        raise WrongFormula(str(error)) from None
    return _STYLE.sub(_classes, made)


@cache
def _converter() -> LatexToMathML:
    return LatexToMathML(fancy_error=False, max_expansions=50)


def _unnumbered(latex: str) -> str:
    """Numbers in the margin would begin with 1 in every formula."""
    return _NUMBERED.sub(r"\\\1{\2*}", latex)


def _classes(style: re.Match[str]) -> str:
    """A page under our policy ignores styles, so what matters of them becomes classes."""
    names = [_CLASSES[part] for part in style[1].split(";") if part in _CLASSES]
    return f' class="{" ".join(names)}"' if names else ""


def _guard(latex: str) -> None:
    if len(latex) > MOST_SIGNS:
        raise WrongFormula("The formula is too long.")
    if hides(latex, Leave.PROSE):
        raise WrongFormula("The formula has hidden signs in it.")
    if _DEFINES.search(latex):
        raise WrongFormula("Commands cannot be defined here.")
    if _CHAIN.search(latex) or _nesting(latex) > MOST_NESTED:
        raise WrongFormula("The formula is nested too deeply.")
    if _left_open(latex) > MOST_OPEN:
        raise WrongFormula("Too many brackets are left open.")


def _nesting(latex: str) -> int:
    depth = deepest = 0
    for sign in _SIGN.findall(latex):
        depth += bool(_DEEPER.fullmatch(sign)) - bool(_HIGHER.fullmatch(sign))
        deepest = max(deepest, depth)
    return deepest


def _left_open(latex: str) -> int:
    """How many brackets have no partner in their own group."""
    left, groups = 0, [0]
    for sign in _SIGN.findall(latex):
        if _DEEPER.fullmatch(sign):
            groups.append(0)
        elif _HIGHER.fullmatch(sign) and len(groups) > 1:
            left += groups.pop()
        elif sign in ("&", "\\\\") or sign.startswith("\\middle"):
            left, groups[-1] = left + groups[-1], 0
        elif _OPENING.fullmatch(sign):
            groups[-1] += 1
        elif _CLOSING.fullmatch(sign):
            groups[-1] = max(0, groups[-1] - 1)
    return left + sum(groups)
