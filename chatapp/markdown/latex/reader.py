"""LaTeX as tokens, and what a command takes after its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .definitions import WrongFormula

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)


def tokens_of(latex: str) -> list[str]:
    """Commands, blanks and single signs; joined they are the same text."""
    return _TOKEN.findall(latex)


def joined(pieces: Iterable[str]) -> str:
    """A command and a letter that have come together stay two."""
    made: list[str] = []
    for piece in filter(None, pieces):
        if made and piece[0].isalpha() and _is_name(made[-1]):
            made.append(" ")
        made.append(piece)
    return "".join(made)


def _is_name(piece: str) -> bool:
    return piece[0] == "\\" and piece[-1].isalpha()


class LatexReader:
    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = tokens
        self._partners = _partners(tokens)
        self.at = 0

    def more(self) -> bool:
        return self.at < len(self._tokens)

    def next(self) -> str:
        self.at += 1
        return self._tokens[self.at - 1]

    def peek(self) -> str:
        """The next piece that is no blank; empty at the end."""
        self._skip_blank()
        return self._tokens[self.at] if self.more() else ""

    def _skip_blank(self) -> None:
        while self.more() and self._tokens[self.at].isspace():
            self.at += 1

    def took(self, piece: str) -> bool:
        if self.peek() != piece:
            return False
        self.at += 1
        return True

    def argument(self) -> list[str]:
        """The inside of a group, or one piece."""
        first = self.peek()
        if first in ("", "}"):
            raise WrongFormula("A command stands at the end of its group, and wants more after it.")
        return self._group() if first == "{" else [self.next()]

    def _group(self) -> list[str]:
        end = self._partners.get(self.at)
        if end is None:
            raise WrongFormula("A group is not closed.")
        inner = list(self._tokens[self.at + 1 : end])
        self.at = end + 1
        return inner

    def word(self) -> str:
        return joined(self.argument()).strip()

    def option(self) -> list[str] | None:
        """What stands in square brackets here."""
        return self.bracketed("[", "]") if self.peek() == "[" else None

    def bracketed(self, opening: str, closing: str) -> list[str]:
        """Up to the bracket that closes the one here; brackets in groups do not count."""
        depth, start = 0, self.at + 1
        while self.more():
            piece = self._tokens[self.at]
            depth += (piece == opening) - (piece == closing)
            self.at = self._partners.get(self.at, self.at) + 1
            if depth == 0:
                return list(self._tokens[start : self.at - 1])
        raise WrongFormula("A bracket is not closed.")


def _partners(tokens: Sequence[str]) -> dict[int, int]:
    """Where each group ends, by where it begins."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for at, piece in enumerate(tokens):
        if piece == "{":
            opened.append(at)
        elif piece == "}" and opened:
            found[opened.pop()] = at
    return found
