"""Templates are written for whoever reads them: broken into lines and indented. What a browser would not show of that is not sent."""

from __future__ import annotations

import re
from enum import Enum, auto

from django.template import Origin
from django.template.loaders import filesystem

# Elements of running text, where a blank is seen. How far apart all others stand is said by CSS.
RUNNING = re.compile(
    r"</?(a|abbr|b|bdi|cite|code|del|em|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|time|u|var)\b"
)
_DJANGO = r"\{\{[^{}]*\}\}|\{%[^{}]*%\}|\{#[^{}]*#\}"
_QUOTED = rf'"(?:{_DJANGO}|[^"])*+"' + r"|'[^']*'"
_TAG = rf"</?[a-z][a-z0-9]*(?:{_DJANGO}|{_QUOTED}|[^<>\"'])*+>"
_VERBATIM = r"<(?:pre|textarea)\b(?:(?!<(?:pre|textarea)\b).)*?</(?:pre|textarea)>"
_PIECE = re.compile(rf"({_VERBATIM}|<![^<>]*>|{_TAG}|\{{%[^{{}}]*%\}}|\{{#[^{{}}]*#\}})", re.DOTALL)
_FIRST_TAG = re.compile(_TAG)
_IN_TAG = re.compile(
    rf"({_QUOTED}|\{{\{{[^{{}}]*\}}\}})|\s*(\{{[%#][^{{}}]*[%#]\}})\s*(?=(.))|\s+(?=/?>)|(\s+)", re.DOTALL
)
_BREAK = re.compile(r"(?<![ \t])[ \t]*\n\s*")


class Loader(filesystem.Loader):
    def get_contents(self, origin: Origin) -> str:
        source = super().get_contents(origin)
        return as_sent(source) if origin.name.endswith(".html") else source


class Beside(Enum):
    """What a line break lies beside."""

    WORDS = auto()
    RUNNING = auto()
    DJANGO = auto()
    BLOCK = auto()


def as_sent(source: str) -> str:
    """A line break, with the blanks around it, is one blank in running text and in a tag, and nothing beside a block."""
    pieces = _PIECE.split(source)
    texts, tags = pieces[::2], pieces[1::2]
    between = zip(["", *tags], texts, [*tags, ""], strict=True)
    return "".join(
        _text_as_sent(before, text, after) + _tag_as_sent(after) for before, text, after in between
    )


def _text_as_sent(before: str, text: str, after: str) -> str:
    def blank(found: re.Match[str]) -> str:
        left = Beside.WORDS if found.start() else _side(before)
        right = Beside.WORDS if found.end() < len(text) else _side(after)
        return "" if Beside.BLOCK in (left, right) or left is right is Beside.DJANGO else " "

    return _BREAK.sub(blank, text)


def _side(tag: str) -> Beside:
    if tag.startswith("{"):
        return Beside.DJANGO
    return Beside.RUNNING if RUNNING.match(tag) else Beside.BLOCK


def _tag_as_sent(piece: str) -> str:
    if not piece.startswith("<"):
        return piece
    return _FIRST_TAG.sub(lambda tag: _IN_TAG.sub(_attributes, tag[0]), piece, count=1)


def _attributes(found: re.Match[str]) -> str:
    """One blank before each attribute that is there: `<a {% if b %}c{% endif %}>` is `<a{% if b %} c{% endif %}>`."""
    value, django, after, blank = found.groups()
    if django:
        return django if after in "{/>" else f"{django} "
    return _BREAK.sub(" ", value) if value else " " if blank else ""
