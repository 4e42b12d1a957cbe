"""LaTeX as MathML, or as its source where there is no picture of it.

The converter is fast, but it needs a guard: it overflows its stack on deep nesting, and takes time without end on opening
brackets that nothing closes.
"""

from __future__ import annotations

import re
from colorsys import rgb_to_hls
from dataclasses import dataclass
from functools import cache

from markdown_it.common.utils import escapeHtml
from math_core import LatexError, LatexToMathML

from ..core.signs.visible import Leave, hides
from .latex import Definitions, WrongFormula, with_references, written_out
from .signs import marked

MOST_SIGNS = 4000
MOST_WRITTEN_OUT = 4 * MOST_SIGNS
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
_STYLE = re.compile(r' style="([^"]*)"')
_CLASSES = {
    "text-align: left": "left",
    "text-align: right": "right",
    "padding-left: 0": "flush-left",
    "padding-right: 0": "flush-right",
    "padding-left:1em": "apart",
    "padding-top: 0": "tight",
    "width: 100%": "whole",
    "width: 50%": "side",
    "width: 7.5%": "margin",
    **{
        f"border-{side}: 0.05em {line} currentcolor": f"rule-{side}"
        for side in ("left", "right", "top", "bottom")
        for line in ("solid", "dashed")
    },
}
_COLOUR = re.compile(r"color:#([0-9A-F]{2})([0-9A-F]{2})([0-9A-F]{2})")
# Round the wheel, each from where it begins.
_HUES = (
    (0, "red"),
    (0.045, "orange"),
    (0.18, "green"),
    (0.46, "teal"),
    (0.54, "blue"),
    (0.71, "purple"),
    (0.93, "red"),
)
CLASSES = frozenset((*_CLASSES.values(), *(name for _, name in _HUES), "grey"))


@dataclass(frozen=True)
class ReadyFormula:
    """A formula as the converter may read it; or why it may not."""

    latex: str
    wrong: str = ""


def written(latex: str, definitions: Definitions, *, display: bool) -> ReadyFormula:
    """To be asked for each formula of an answer in their order, for what one defines the next ones use."""
    try:
        _check_bearable(latex)
        return ReadyFormula(written_out(latex, definitions, display=display))
    except WrongFormula as wrong:
        return ReadyFormula(latex, str(wrong))


def formula(written: ReadyFormula, labels: dict[str, str], *, source: str, display: bool) -> str:
    """MathML; or the source as it was written, as code, with the reason in its title."""
    try:
        return _drawn(written, labels, display=display)
    except WrongFormula as wrong:
        return f'<code title="{escapeHtml(str(wrong)[:200])}">{marked(escapeHtml(source))}</code>'


def mathml(latex: str, *, display: bool) -> str:
    """A formula that stands alone."""
    definitions = Definitions()
    return _drawn(written(latex, definitions, display=display), definitions.labels, display=display)


def _drawn(written: ReadyFormula, labels: dict[str, str], *, display: bool) -> str:
    if written.wrong:
        raise WrongFormula(written.wrong)
    latex = with_references(written.latex, labels)
    _guard(latex)
    try:
        made = _converter().convert_with_local_state(latex, displaystyle=display)
    except LatexError as error:
        raise WrongFormula(str(error)) from None
    return _STYLE.sub(_classes, made)


@cache
def _converter() -> LatexToMathML:
    return LatexToMathML(fancy_error=False, max_expansions=50, allow_unreliable_rendering=True)


def _classes(style: re.Match[str]) -> str:
    """A page under our policy ignores styles, so what matters of them becomes classes."""
    names = [name for part in style[1].split(";") if (name := _CLASSES.get(part) or _colour(part))]
    return f' class="{" ".join(names)}"' if names else ""


def _colour(style: str) -> str:
    """The nearest of those that are readable by day and by night; black and white are the text's own."""
    found = _COLOUR.fullmatch(style)
    if not found:
        return ""
    hue, lightness, saturation = rgb_to_hls(*(int(part, 16) / 255 for part in found.groups()))
    if saturation < 0.15:
        return "grey" if 0.15 < lightness < 0.85 else ""
    return next(name for start, name in reversed(_HUES) if hue >= start)


def _check_bearable(latex: str) -> None:
    if len(latex) > MOST_SIGNS:
        raise WrongFormula("The formula is too long.")
    if hides(latex, Leave.PROSE):
        raise WrongFormula("The formula has hidden signs in it.")
    if _nesting(latex) > MOST_NESTED:
        raise WrongFormula("The formula is nested too deeply.")


def _guard(latex: str) -> None:
    """What the converter would not come back from."""
    if len(latex) > MOST_WRITTEN_OUT:
        raise WrongFormula("The formula is too long when it is written out.")
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
