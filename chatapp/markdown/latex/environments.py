r"""Environments by what the converter knows of them: what stands for `\begin{…}` and `\end{…}`."""

from __future__ import annotations

import re
from dataclasses import dataclass

# As many columns as anybody writes.
_COLUMNS = 20
_DELIMITERS = {
    "": ("", ""),
    "p": ("(", ")"),
    "b": ("[", "]"),
    "B": (r"\{", r"\}"),
    "v": ("|", "|"),
    "V": (r"\|", r"\|"),
}
# What makes an equation that may have a number beside it, and what it is inside another formula.
NUMBERED = {"equation*": "gathered", "align*": "aligned", "gather*": "gathered", "multline*": "gathered"}
_NAMES = {
    "equation": "equation*",
    "align": "align*",
    "gather": "gather*",
    "multline": "multline*",
    "flalign": "align*",
    "flalign*": "align*",
    "alignat": "align*",
    "alignat*": "align*",
    "eqnarray": "align*",
    "eqnarray*": "align*",
    "IEEEeqnarray": "align*",
    "displaymath": "equation*",
    "alignedat": "aligned",
    "split": "aligned",
    "multlined": "gathered",
    "cases*": "cases",
    "tabular": "array",
}
# Their first argument counts columns that need no counting.
_COUNTED = frozenset(("alignat", "alignat*", "alignedat", "IEEEeqnarray"))
# In these the sign of the relation stands between two of the signs that align.
THREE_COLUMNS = frozenset(("eqnarray", "eqnarray*", "IEEEeqnarray"))
NOTHING = frozenset(("math", "subequations", "center", "small", "document"))
_REPEATED = re.compile(r"\*\{([0-9]{1,2})\}\{([lcr|]{1,9})\}")
_NO_COLUMN = re.compile(r"[@!><]\{[^{}]*\}|[pmbX]\{[^{}]*\}")


@dataclass(frozen=True)
class Surrounding:
    opening: str
    closing: str
    name: str = ""
    counted: bool = False


def environment(name: str, columns: str = "") -> Surrounding:
    """`columns` is how a matrix with a star aligns what it holds."""
    if name.endswith("smallmatrix") and name[:-11] in _DELIMITERS:
        return _matrix(name[:-11], f"\\begin{{subarray}}{{{'c' * _COLUMNS}}}", r"\end{subarray}")
    if name.endswith("matrix*") and name[:-7] in _DELIMITERS:
        column = columns if columns in ("l", "c", "r") else "c"
        return _matrix(name[:-7], f"\\begin{{array}}{{{column * _COLUMNS}}}", r"\end{array}")
    known = _NAMES.get(name, name)
    return Surrounding(f"\\begin{{{known}}}", f"\\end{{{known}}}", known, counted=name in _COUNTED)


def _matrix(delimiters: str, opening: str, closing: str) -> Surrounding:
    left, right = _DELIMITERS[delimiters]
    if not left:
        return Surrounding(opening, closing)
    return Surrounding(f"\\left{left}{opening}", f"{closing}\\right{right}")


def plain_columns(columns: str) -> str:
    """What an array says of its columns, without widths and what stands between them."""
    repeated = _REPEATED.sub(lambda found: found[2] * min(int(found[1]), _COLUMNS), columns.replace(" ", ""))
    return _NO_COLUMN.sub(lambda found: "l" if found[0][0] in "pmbX" else "", repeated)
