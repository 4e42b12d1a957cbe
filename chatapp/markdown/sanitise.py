"""The last look at HTML before a page gets it: what is not on these lists is not there."""

from __future__ import annotations

import re

import nh3

from .code.colours import CLASSES as CODE_CLASSES
from .code.html import with_heads
from .footnotes import ID
from .formulas import CLASSES as FORMULA_CLASSES
from .link_rules import may_link

_TEXT = """
    a b blockquote br code del details div em h1 h2 h3 h4 h5 h6 hr i input kbd li mark ol p pre s section small span strong sub summary sup
    table tbody td th thead tr u ul
"""
_FORMULA = """
    math menclose merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow mspace msqrt mstyle
    msub msubsup msup mtable mtd mtext mtr munder munderover
"""
TEXT, FORMULA = frozenset(_TEXT.split()), frozenset(_FORMULA.split())
_SIZES = frozenset(("width", "height", "depth", "lspace", "rspace", "voffset", "minsize", "maxsize"))
_LENGTH = re.compile(r"(-?(?:[0-9]++(?:\.[0-9]++)?|\.[0-9]++))(?:r?em|ex)?")
# Larger ones would lay a formula over the page around it.
_LEAST, _MOST = -1.0, 20.0
_FORMS = """
    accent accentunder displaystyle form linethickness mathvariant movablelimits notation scriptlevel stretchy symmetric
"""
ATTRIBUTES: dict[str, set[str]] = {
    "a": {"href", "title", "target", "rel", "id", "aria-label"},
    "code": {"title", "data-grows"},
    "div": {"tabindex", "role", "aria-label", "data-lang", "data-lines"},
    "input": {"type", "disabled", "checked", "aria-label"},
    "li": {"id", "dir", "value"},
    **{name: {"dir"} for name in ("p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "summary")},
    "ol": {"start"},
    "pre": {"tabindex"},
    "section": {"aria-label"},
    "td": {"align", "dir"},
    "th": {"align", "dir"},
    "math": {"display"},
    **{name: {*_SIZES, *_FORMS.split()} for name in FORMULA if name != "math"},
}
CLASSES: dict[str, set[str]] = {
    "div": {"code", "wide"},
    "pre": {"plain"},
    "section": {"footnotes"},
    "small": {"faint"},
    "span": {*CODE_CLASSES, "more", "less", "fresh"},
    **{name: set(FORMULA_CLASSES) for name in ("mtable", "mtr", "mtd", "mrow")},
}


def _attribute(tag: str, name: str, value: str) -> str | None:
    """Addresses, ids and sizes are looked at once more, whoever wrote them."""
    match name:
        case "href":
            return value if may_link(value) or (value[:1] == "#" and ID.fullmatch(value[1:])) else None
        case "dir":
            return value if value == "auto" else None
        case "id":
            return value if ID.fullmatch(value) else None
        case _ if name in _SIZES:
            return value if _bearable_length(value) else None
        case _:
            return value


def _bearable_length(size: str) -> bool:
    found = _LENGTH.fullmatch(size)
    return found is not None and _LEAST <= float(found[1]) <= _MOST


_cleaner = nh3.Cleaner(
    tags=TEXT | FORMULA,
    attributes=ATTRIBUTES,
    allowed_classes=CLASSES,
    attribute_filter=_attribute,
    url_schemes={"http", "https", "mailto"},
    link_rel=None,
    strip_comments=True,
)


def sanitised(html: str) -> str:
    """Safe HTML. The head of each code block, with its buttons, is ours and comes after the cleaning."""
    return with_heads(_cleaner.clean(html))
