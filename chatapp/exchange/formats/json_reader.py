"""Reads JSON as it comes, however long it is: whoever reads goes into lists and objects, as deep as they like, and takes out of them values
that are small and not too deep. What is wrong is told with its place. What it reads costs in proportion to its length, and it holds no
more than one value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import isfinite
from typing import Any, NoReturn

from ...core.plural import many
from ...core.verbatim import DEEPEST

# One value: a message with all that was said in it, or an item.
MOST = 16 * 1024 * 1024
LONGEST_NAME = 4096
MOST_NAMES = 200_000
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_SIGN = re.compile(rb'["{}\[\]]')
_REST_OF_TEXT = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_REST_OF_WORD = re.compile(rb"[^\s,:\]}\[{\"]*+")
_MARK = b"\xef\xbb\xbf"


class Broken(ValueError):
    """Why a file cannot be read, in words, and where: so many bytes from its beginning, where that is known."""

    def __init__(self, why: str, place: int | None = None) -> None:
        super().__init__(why)
        self.why, self.place = why, place


class JsonReader:
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._text, self._at, self._before = pieces, b"", 0, 0
        self._depth = 0
        if self._has(len(_MARK)) and self._text.startswith(_MARK):
            self._at = len(_MARK)

    @property
    def place(self) -> int:
        """In bytes, from the beginning."""
        return self._before + self._at

    def broken(self, why: str) -> NoReturn:
        raise Broken(why, self.place)

    def sign(self) -> str:
        """With which the next value begins; "" at the end."""
        while True:
            found = _BLANKS.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text):
                return chr(self._text[self._at])
            if not self._more():
                return ""

    def values(self) -> Iterator[int]:
        """One after the other, as in files of lines."""
        number = 0
        while self.sign():
            yield from self._each(number)
            number += 1

    def elements(self) -> Iterator[int]:
        """Of a list; each is to be read before the next is asked for, or it is passed over."""
        self._enter("[", "a list")
        number = 0
        while self._goes_on("]", number):
            yield from self._each(number)
            number += 1
        self._depth -= 1

    def members(self) -> Iterator[str]:
        """Of an object, by name; no name twice."""
        self._enter("{", "an object")
        seen = set[str]()
        while self._goes_on("}", len(seen)):
            if (sign := self.sign()) != '"':
                self.broken("a name is missing" if sign else "it ends in the middle")
            name = self.value(LONGEST_NAME)
            if len(seen) > MOST_NAMES:
                self.broken(f"one object has more than {many(MOST_NAMES, 'name')}")
            if name in seen:
                self.broken(f"“{name[:60]}” stands there twice")
            seen.add(name)
            if (sign := self.sign()) != ":":
                self.broken("a colon is missing" if sign else "it ends in the middle")
            self._at += 1
            yield from self._each(name)
        self._depth -= 1

    def value(self, most: int = MOST) -> Any:
        began = self.place
        text = self._raw(most)
        try:
            return _decoder.decode(text.decode())
        except (ValueError, RecursionError) as problem:
            raise Broken(_words_of(problem), began) from None

    def skip(self) -> None:
        """However large it is: nobody looks whether it is in order."""
        if self.sign() not in ("{", "["):
            self._raw(MOST)
            return
        depth = self._depth
        while True:
            found = _SIGN.search(self._text, self._at)
            if found is None:
                self._at = len(self._text)
                if not self._more():
                    self.broken("it ends in the middle")
                continue
            self._at = found.start()
            if found[0] == b'"':
                self._at = self._end_of_text(self._at + 1, MOST)
                continue
            self._at += 1
            depth += 1 if found[0] in b"{[" else -1
            if depth - self._depth > DEEPEST:
                self.broken("it is nested too deeply")
            if depth == self._depth:
                return

    def _each(self, name: Any) -> Iterator[Any]:
        self.sign()
        began, depth = self.place, self._depth
        yield name
        if self.place == began:
            self.skip()
        if self._depth != depth:
            raise RuntimeError("what was begun was not read to its end")

    def _enter(self, sign: str, what: str) -> None:
        if self.sign() != sign:
            self.broken(f"it is not {what}" if self.sign() else "it ends in the middle")
        self._depth += 1
        self._at += 1

    def _goes_on(self, end: str, number: int) -> bool:
        match self.sign():
            case sign if sign == end:
                self._at += 1
                return False
            case "":
                self.broken("it ends in the middle")
            case ",":
                if not number:
                    self.broken("there is a comma too many")
                self._at += 1
                if self.sign() == end:
                    self.broken("there is a comma too many")
                return True
            case _:
                if number:
                    self.broken("a comma is missing")
                return True

    # The text of one value

    def _raw(self, most: int) -> bytes:
        sign = self.sign()
        if not sign or sign in ",:]}":
            self.broken("a value is missing" if sign else "it ends in the middle")
        end = (
            self._end_of_nested(most)
            if sign in "{["
            else self._end_of_text(self._at + 1, most)
            if sign == '"'
            else self._end_of_word()
        )
        text, self._at = self._text[self._at : end], end
        return text

    def _end_of_nested(self, most: int) -> int:
        at, depth = self._at, self._depth
        while True:
            found = _SIGN.search(self._text, at)
            if found is None:
                at = len(self._text) - self._at
                self._need_more(most)
                at += self._at
                continue
            at = found.end()
            match found[0]:
                case b'"':
                    at = self._end_of_text(at, most)
                case b"{" | b"[":
                    depth += 1
                    if depth - self._depth > DEEPEST:
                        self._at = at
                        self.broken("it is nested too deeply")
                case _:
                    depth -= 1
                    if depth == self._depth:
                        return at

    def _end_of_text(self, at: int, most: int) -> int:
        """`at`: behind its first sign."""
        while not (found := _REST_OF_TEXT.match(self._text, at)):
            at -= self._at
            self._need_more(most)
            at += self._at
        return found.end()

    def _end_of_word(self) -> int:
        while True:
            found = _REST_OF_WORD.match(self._text, self._at)
            end = found.end() if found else self._at
            if end < len(self._text) or not self._more():
                return end

    def _need_more(self, most: int) -> None:
        if len(self._text) - self._at > most:
            self.broken(f"one value is longer than {many(most // 1024 // 1024, 'megabyte')}")
        if not self._more():
            self._at = len(self._text)
            self.broken("it ends in the middle")

    def _more(self) -> bool:
        """At least as much again as is waiting, so that what is long is not looked through again and again."""
        waits = self._text[self._at :]
        fresh, size = list[bytes](), 0
        while size <= len(waits):
            piece = next(self._pieces, None)
            if piece is None:
                break
            fresh.append(piece)
            size += len(piece)
        self._before += self._at
        self._text, self._at = waits + b"".join(fresh), 0
        return bool(size)

    def _has(self, size: int) -> bool:
        while len(self._text) < size:
            if not self._more():
                return False
        return True


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen = set[str]()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"“{twice[:60]}” stands there twice")
    return made


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError("a number is too large")
    return number


def _words_of(problem: Exception) -> str:
    match problem:
        case UnicodeDecodeError():
            return "it is not written in UTF-8"
        case json.JSONDecodeError():
            return f"it is not JSON ({problem.msg})"
        case RecursionError():
            return "it is nested too deeply"
        case _:
            return "a number is too large" if "digits" in str(problem) else str(problem)


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite)
