r"""What stands in `\ce{…}`: formulas and reactions as chemists type them, after the package mhchem."""

from __future__ import annotations

import re

from .definitions import WrongFormula

MOST_NESTED = 8
_ARROWS = {
    "<=>>": ("⇌", r"\xrightleftharpoons"),
    "<<=>": ("⇌", r"\xrightleftharpoons"),
    "<=>": ("⇌", r"\xrightleftharpoons"),
    "<-->": ("⇄", r"\xrightleftharpoons"),
    "<->": (r"\longleftrightarrow", r"\xleftrightarrow"),
    "->": (r"\longrightarrow", r"\xrightarrow"),
    "<-": (r"\longleftarrow", r"\xleftarrow"),
}
_ARROW = re.compile("|".join(map(re.escape, _ARROWS)) + "|[→⇌⟶↔]")
_TYPED = {"→": "->", "⟶": "->", "⇌": "<=>", "↔": "<->"}
_AMOUNT = re.compile(r"([0-9]+)/([0-9]+)|[0-9]+(?:\.[0-9]+)?")
_LETTERS = re.compile(r"[A-Za-z]+")
_DIGITS = re.compile(r"[0-9]+")
_COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)", re.DOTALL)
_SCRIPT = re.compile(r"[0-9]*[+-]|[0-9]+|[A-Za-z]|[•.*]")
_ATOM_FOLLOWS = re.compile(r"[A-Za-z(\[{\\0-9]")
_BLANK = re.compile(r"\s+")
_BONDS = {
    "-": "{-}",
    "=": "{=}",
    "#": r"{\equiv}",
    "1": "{-}",
    "2": "{=}",
    "3": r"{\equiv}",
    "...": r"{\cdots}",
}
_PAIRS = {"{": "}", "[": "]"}


def chemistry(text: str, depth: int = 0) -> str:
    if depth > MOST_NESTED:
        raise WrongFormula("The reaction is nested too deeply.")
    return _Reaction(text, depth).written()


class _Reaction:
    """Walks the text once. `fresh` is the beginning of a formula, where a number is an amount."""

    def __init__(self, text: str, depth: int) -> None:
        self._text, self._depth = text, depth
        self._closing = _partners(text)
        self._at, self._fresh = 0, True
        self._made: list[str] = []
        self._scripts = ""

    def written(self) -> str:
        while self._at < len(self._text):
            self._step(self._text[self._at])
        return "".join(self._made)

    def _step(self, sign: str) -> None:
        if sign.isspace():
            self._blank()
        elif arrow := _ARROW.match(self._text, self._at):
            self._arrow(arrow[0])
        elif sign in "^_":
            self._script(sign)
        elif sign in "+-=#":
            self._joint(sign)
        elif sign.isdecimal() and sign.isascii():
            self._number()
        elif sign.isalpha():
            self._letters()
        elif sign == "\\":
            self._command()
        elif sign == "{":
            self._make("{" + chemistry(self._inside(), self._depth + 1) + "}")
        elif sign == "$":
            self._mathematics()
        elif sign in ".*·•":
            self._dot()
        else:
            self._make(sign, fresh=sign in "([,/")
            self._at += 1

    def _make(self, latex: str, *, fresh: bool = False) -> None:
        self._made.append(latex)
        self._fresh, self._scripts = fresh, ""

    def _ends_at(self, at: int) -> bool:
        return at >= len(self._text) or self._text[at].isspace()

    def _blank(self) -> None:
        found = _BLANK.match(self._text, self._at)
        assert found
        self._at, self._fresh = found.end(), True
        self._scripts = ""

    def _arrow(self, arrow: str) -> None:
        self._at += len(arrow)
        plain, wide = _ARROWS[_TYPED.get(arrow, arrow)]
        notes = [self._note() for _ in range(2)]
        if not any(notes):
            self._make(f"\\mathrel{{{plain}}}", fresh=True)
            return
        above, below = (chemistry(note, self._depth + 1) for note in notes)
        self._make(f"{wide}[{{{below}}}]{{{above}}}" if below else f"{wide}{{{above}}}", fresh=True)

    def _note(self) -> str:
        return self._inside() if self._text[self._at : self._at + 1] == "[" else ""

    def _inside(self) -> str:
        """What stands in the brackets that open here."""
        end = self._closing.get(self._at)
        if end is None:
            raise WrongFormula("A bracket in the reaction is not closed.")
        inner = self._text[self._at + 1 : end]
        self._at = end + 1
        return inner

    def _script(self, sign: str) -> None:
        self._at += 1
        if sign == "^" and self._fresh and self._ends_at(self._at):
            self._make(r"\uparrow ", fresh=True)
            return
        if self._text[self._at : self._at + 1] == "{":
            inner = self._inside()
        else:
            found = _SCRIPT.match(self._text, self._at)
            if not found:
                return
            inner, self._at = found[0], found.end()
        self._raise(sign, inner, before=self._fresh)

    def _raise(self, sign: str, inner: str, *, before: bool = False) -> None:
        if sign in self._scripts or (before and not self._scripts):
            self._made.append("{}")
            self._scripts = ""
        self._made.append(f"{sign}{{{_upright(inner)}}}")
        self._scripts += sign

    def _joint(self, sign: str) -> None:
        """A sum, a charge, or a bond."""
        self._at += 1
        if self._fresh:
            self._make(f" {_BONDS['#'] if sign == '#' else sign} ", fresh=True)
        elif sign in "=#" or (sign == "-" and _ATOM_FOLLOWS.match(self._text, self._at)):
            self._make(_BONDS[sign], fresh=False)
        else:
            self._raise("^", sign)

    def _number(self) -> None:
        if self._fresh:
            found = _AMOUNT.match(self._text, self._at)
            assert found
            amount = f"\\tfrac{{{found[1]}}}{{{found[2]}}}" if found[1] else found[0]
            self._make(amount if self._ends_at(found.end()) else rf"{amount}\,", fresh=True)
            self._at = found.end()
            self._skip_blank_after_amount()
        else:
            found = _DIGITS.match(self._text, self._at)
            assert found
            self._at = found.end()
            self._raise("_", found[0])

    def _skip_blank_after_amount(self) -> None:
        found = _BLANK.match(self._text, self._at)
        if found and _LETTERS.match(self._text, found.end()):
            self._made.append(r"\,")
            self._at = found.end()

    def _letters(self) -> None:
        found = _LETTERS.match(self._text, self._at)
        word = found[0] if found else self._text[self._at]
        self._at += len(word)
        if self._fresh and word == "v" and self._ends_at(self._at):
            self._make(r"\downarrow ", fresh=True)
        elif self._fresh and word in ("n", "m", "x", "y") and not self._ends_at(self._at):
            self._make(f"{word}\\,", fresh=True)
        else:
            self._make(f"\\mathrm{{{word}}}")

    def _command(self) -> None:
        """Mathematics among the atoms, with the groups that follow it."""
        found = _COMMAND.match(self._text, self._at)
        if not found:
            raise WrongFormula("A command in the reaction has no name.")
        name, self._at = found[0], found.end()
        groups = []
        while self._text[self._at : self._at + 1] == "{":
            groups.append(self._inside())
        if name == r"\bond":
            self._make(_BONDS.get("".join(groups).strip("~"), "{-}"))
        else:
            self._make(
                name + "".join(f"{{{group}}}" for group in groups) + ("" if groups else " "),
                fresh=self._fresh,
            )

    def _mathematics(self) -> None:
        end = self._text.find("$", self._at + 1)
        if end < 0:
            raise WrongFormula("A dollar in the reaction has no partner.")
        self._make(f"{{{self._text[self._at + 1 : end]}}}", fresh=self._fresh)
        self._at = end + 1

    def _dot(self) -> None:
        if self._text.startswith("...", self._at):
            self._make(r"\cdots ")
            self._at += 3
            return
        self._at += 1
        self._make(r"\cdot ", fresh=True)


def _upright(script: str) -> str:
    """Charges and numbers of oxidation are upright; a single small letter is a number that is not known."""
    if len(script) == 1 and script.islower():
        return script
    if "\\" in script or "$" in script:
        return script.replace("$", "")
    return _LETTERS.sub(lambda found: f"\\mathrm{{{found[0]}}}", script).replace("•", r"\bullet ")


def _partners(text: str) -> dict[int, int]:
    """Where each brace and square bracket is closed."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for at, sign in enumerate(text):
        if sign in _PAIRS:
            opened.append(at)
        elif opened and sign == _PAIRS[text[opened[-1]]]:
            found[opened.pop()] = at
    return found
