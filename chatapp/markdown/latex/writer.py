"""Writes a formula out: what was defined, what packages define, and what the converter calls by another name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from .commands import SILENT, SILENT_ARGUMENT, TEMPLATES
from .definitions import Definition, Definitions, WrongFormula
from .environments import NOTHING, NUMBERED, THREE_COLUMNS, Surrounding, environment, plain_columns
from .reader import LatexReader, joined, tokens_of

MOST_NESTED = 60
# What one formula may come to.
MOST_TOKENS = 30_000
_HASH = re.compile(r"(?<!\\)#([1-9])")
_LENGTH = re.compile(r"\s*-?[0-9.]+\s*[a-z]{2}\s*")
_BIG = r"""
    \int \iint \iiint \iiiint \oint \oiint \oiiint \sum \prod \coprod \bigcup \bigcap \bigvee \bigwedge \bigoplus \bigotimes
    \bigodot \biguplus \bigsqcup
"""
_LIMITED = frozenset(_BIG.split())
_ADDING = frozenset(("+", "-", r"\pm", r"\mp", r"\times", r"\cdot"))

Handler = Callable[["Writer", LatexReader], Sequence[str]]


@dataclass
class _Row:
    """One line of what has numbers beside it."""

    tag: str = ""
    labels: list[str] = field(default_factory=list)


@dataclass
class _Opened:
    environment: Surrounding
    at: int
    three_columns: bool = False
    numbered: bool = False
    columns: int = 0
    broken: bool = False
    aligned: bool = False
    row: _Row = field(default_factory=_Row)


class Writer:
    def __init__(self, definitions: Definitions, handlers: Mapping[str, Handler], *, display: bool) -> None:
        self.definitions, self.handlers, self.display = definitions, handlers, display
        self._row, self._opened = _Row(), list[_Opened]()
        self._left, self._depth = MOST_TOKENS, 0
        self._broken = self._aligned = False

    def whole(self, tokens: Sequence[str]) -> list[str]:
        made = self.write(tokens)
        if self._aligned or (self._broken and self.display):
            name = "aligned" if self._aligned else "gathered"
            made = [f"\\begin{{{name}}}", *made, f"\\end{{{name}}}"]
        return self._with_number(made)

    def _with_number(self, made: list[str]) -> list[str]:
        tag = self._number(self._row)
        if not tag:
            return made
        if not self.display:
            return [*made, r"\qquad", f"\\text{{{_in_brackets(tag)}}}"]
        return [r"\begin{equation*}", *map(_inner, made), tag, r"\end{equation*}"]

    def write(self, tokens: Sequence[str]) -> list[str]:
        self._depth += 1
        self._left -= len(tokens)
        if self._depth > MOST_NESTED or self._left < 0:
            raise WrongFormula("The formula is too long when it is written out.")
        outside = len(self._opened)
        reader, made = LatexReader(tokens), list[str]()
        while reader.more():
            self._step(reader, made)
        if len(self._opened) != outside:
            raise WrongFormula("An environment is not closed.")
        self._depth -= 1
        return made

    def text(self, tokens: Sequence[str]) -> str:
        return joined(self.write(tokens))

    def _step(self, reader: LatexReader, made: list[str]) -> None:
        piece = reader.next()
        if piece in self.definitions.commands:
            made += self._expanded(self.definitions.commands[piece], reader)
        elif piece == r"\begin":
            self._begin(reader, made)
        elif piece == r"\end":
            self._end(reader, made)
        elif piece == r"\\":
            made += self._end_row(reader)
        elif piece == "&":
            made += self._next_column(_last(made), reader.peek())
        elif piece in self.handlers:
            made += self.handlers[piece](self, reader)
        elif piece in TEMPLATES:
            made += self._filled(piece, reader)
        elif piece in (r"\limits", r"\nolimits"):
            made += [piece] if _last(made) in _LIMITED else []
        elif piece in SILENT_ARGUMENT:
            reader.took("*")
            reader.argument()
        elif piece not in SILENT:
            made.append(piece)

    # What stands for something else

    def _expanded(self, command: Definition, reader: LatexReader) -> list[str]:
        given: list[list[str]] = []
        if command.default is not None:
            option = reader.option()
            given.append(tokens_of(command.default) if option is None else option)
        given += [reader.argument() for _ in range(command.arguments - len(given))]
        body: list[str] = []
        for part in _parts(command.body):
            body += _argument(given, part) if isinstance(part, int) else part
            if len(body) > self._left:
                raise WrongFormula("The formula is too long when it is written out.")
        self.definitions.spend(len(body))
        return self.write(body)

    def _filled(self, name: str, reader: LatexReader) -> list[str]:
        arguments, body = TEMPLATES[name]
        if arguments:
            reader.took("*")
        given = [reader.argument() for _ in range(arguments)]
        filled: list[str] = []
        for part in _parts(body):
            filled += _argument(given, part) if isinstance(part, int) else part
        return self.write(filled) if arguments else filled

    # Environments

    def _begin(self, reader: LatexReader, made: list[str]) -> None:
        name = reader.word()
        if name in NOTHING:
            return
        option = reader.option() if name != "array" or reader.peek() == "[" else None
        opening = environment(name, joined(option or []).strip())
        if opening.counted:
            reader.argument()
        alone = not self._opened and not any(piece.strip() for piece in made)
        numbered = opening.name in NUMBERED and alone
        if opening.name in NUMBERED and not alone:
            opening = environment(NUMBERED[opening.name])
        self._opened.append(_Opened(opening, len(made), name in THREE_COLUMNS, numbered))
        made.append(opening.opening)
        if opening.name in ("array", "subarray"):
            made.append(f"{{{plain_columns(reader.word())}}}")

    def _end(self, reader: LatexReader, made: list[str]) -> None:
        name = reader.word()
        if name in NOTHING:
            return
        if not self._opened:
            raise WrongFormula("An environment is closed that was not opened.")
        opened = self._opened.pop()
        name = opened.environment.name
        if name == "equation*" and (opened.broken or opened.aligned):
            name = "align*" if opened.aligned else "gather*"
            made[opened.at] = f"\\begin{{{name}}}"
            opened.environment = environment(name)
        made += [self._number(opened.row), opened.environment.closing]

    def _end_row(self, reader: LatexReader) -> list[str]:
        reader.took("*")
        if reader.peek() == "[":
            at = reader.at
            if not _LENGTH.fullmatch(joined(reader.bracketed("[", "]"))):
                reader.at = at
        if not self._opened:
            self._broken = True
            return [r"\\"]
        opened = self._opened[-1]
        number = self._number(opened.row)
        opened.row, opened.columns, opened.broken = _Row(), 0, True
        return [number, r"\\ "]

    def _next_column(self, before: str, after: str) -> list[str]:
        if not self._opened:
            self._aligned = True
            return ["&"]
        opened = self._opened[-1]
        opened.columns, opened.aligned = opened.columns + 1, True
        if opened.three_columns:
            return ["{}"] if opened.columns == 2 else ["&"]
        if opened.environment.name not in ("align*", "aligned"):
            return ["&"]
        # A sign that adds, alone at the edge of its column, would be taken for the sign of a number.
        column = ["{}" if before in _ADDING else "", "&", "{}" if after in _ADDING else ""]
        apart = [r"\qquad"] if opened.columns % 2 == 0 and not opened.environment.counted else []
        return [*apart, *column]

    # Numbers beside a line

    def row(self) -> _Row:
        numbered = next((each for each in reversed(self._opened) if each.numbered), None)
        return numbered.row if numbered else self._row

    def _number(self, row: _Row) -> str:
        for label in row.labels:
            shown = self.definitions.name(label, _tag_in_words(row.tag) if row.tag else None)
            row.tag = row.tag or f"\\tag{{{shown}}}"
        return row.tag


@lru_cache(256)
def _parts(body: str) -> tuple[int | list[str], ...]:
    """Tokens, and between them the places of arguments."""
    pieces = _HASH.split(body)
    return tuple(int(piece) - 1 if at % 2 else tokens_of(piece) for at, piece in enumerate(pieces))


def _argument(given: Sequence[list[str]], at: int) -> list[str]:
    if at >= len(given):
        raise WrongFormula("A definition names more than it is given.")
    return given[at]


def _last(made: Sequence[str]) -> str:
    return next((piece for piece in reversed(made) if not piece.isspace()), "")


def _tag_in_words(tag: str) -> str:
    """What a `\\tag` shows, without its brackets."""
    inner = tag.partition("{")[2].removesuffix("}")
    return inner[1:-1] if inner[:1] == "(" and inner[-1:] == ")" else inner


def _in_brackets(tag: str) -> str:
    return f"({_tag_in_words(tag)})"


def _inner(piece: str) -> str:
    """Inside another equation the same lines have no numbers of their own."""
    for name, inner in NUMBERED.items():
        for side in ("begin", "end"):
            if piece == f"\\{side}{{{name}}}":
                return f"\\{side}{{{inner}}}"
    return piece
