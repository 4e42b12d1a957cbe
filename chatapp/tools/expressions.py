"""Reads written arithmetic and computes it as it goes, with a cap on length and depth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .arithmetic import CONSTANTS, FUNCTIONS, Number, apply, called, negative, power, written
from .base import ToolError

LONGEST = 1000
DEEPEST = 100


def evaluate(text: str) -> Number:
    """The value, or a ToolError that says what is wrong."""
    if len(text) > LONGEST:
        raise ToolError(f"The expression is longer than {LONGEST} characters.")
    try:
        return _Reader(text).whole()
    except ZeroDivisionError:
        raise ToolError("Something is divided by zero.") from None


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z][A-Za-z0-9]*)"
    r"|(?P<sign>\*\*|//|[-+*/%^(),]))"
)
_SAME = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-"})


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    place: int


def _tokens(text: str) -> Iterator[_Token]:
    text = text.translate(_SAME).rstrip()
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise ToolError(
                f"The character {text[place:].lstrip()[:1]!r} is not understood here: {text[place:][:20]!r}"
            )
        kind = found.lastgroup or ""
        yield _Token(kind, found[kind], found.start(kind))
        place = found.end()
    yield _Token("end", "", len(text))


class _Reader:
    """sum = product {+- product}; product = signed {*/ signed}; signed = [+-] signed | power; power = one [** signed]."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.at = 0
        self.depth = 0

    def whole(self) -> Number:
        number = self._sum()
        if self._now.kind != "end":
            raise self._unexpected()
        return number

    @property
    def _now(self) -> _Token:
        return self.tokens[self.at]

    def _taken(self, *signs: str) -> str:
        """The sign that stands here, if it is one of these; the reading goes on behind it."""
        token = self._now
        if token.kind == "sign" and token.text in signs:
            self.at += 1
            return token.text
        return ""

    def _unexpected(self) -> ToolError:
        if self._now.kind == "end":
            return ToolError("The expression ends too early.")
        return ToolError(f"{self._now.text!r} is not expected at place {self._now.place + 1}.")

    def _sum(self) -> Number:
        number = self._product()
        while sign := self._taken("+", "-"):
            number = apply(sign, number, self._product())
        return number

    def _product(self) -> Number:
        number = self._signed()
        while sign := self._taken("*", "/", "//", "%"):
            number = apply(sign, number, self._signed())
        return number

    def _signed(self) -> Number:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ToolError("The expression is nested too deeply.")
        sign = self._taken("+", "-")
        number = self._signed() if sign else self._power()
        self.depth -= 1
        return negative(number) if sign == "-" else number

    def _power(self) -> Number:
        base = self._one()
        return power(base, self._signed()) if self._taken("**", "^") else base

    def _one(self) -> Number:
        token = self._now
        self.at += 1
        if token.kind == "number":
            return written(token.text)
        if token.kind == "name":
            return self._named(token)
        self.at -= 1
        if self._taken("("):
            return self._closed(self._sum())
        raise self._unexpected()

    def _named(self, token: _Token) -> Number:
        name = token.text.lower()
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name not in FUNCTIONS:
            raise ToolError(f"{token.text!r} is not known. There are {', '.join([*CONSTANTS, *FUNCTIONS])}.")
        if not self._taken("("):
            raise self._unexpected()
        arguments = [self._sum()]
        while self._taken(","):
            arguments.append(self._sum())
        return self._closed(called(name, arguments))

    def _closed(self, number: Number) -> Number:
        if not self._taken(")"):
            raise self._unexpected()
        return number
