"""A value that a program sent, and where it stands in its request: what is not as it must be is refused with that place and a sentence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, Self, TypeVar

from ...core.items import clean
from ...core.values import Json
from ...core.verbatim import DEEPEST, too_deep
from .door import Wrong, invalid

T = TypeVar("T")
MOST = 10**12
LONGEST_QUOTE = 60


class Given:
    """Its place is put into words only when something is wrong: a history has thousands of values."""

    __slots__ = ("_above", "_step", "value")

    def __init__(self, value: Any, above: Given | None = None, step: str | int = "") -> None:
        self.value, self._above, self._step = value, above, step

    @classmethod
    def body(cls, value: Any) -> Self:
        """A whole request."""
        request = cls(value)
        request.fields()
        if too_deep(value):
            raise request.wrong(f"is nested more than {DEEPEST} levels deep")
        return request

    @property
    def path(self) -> str:
        return self._joined(self._above.path, self._step) if self._above else ""

    @staticmethod
    def _joined(above: str, step: str | int) -> str:
        if isinstance(step, int):
            return f"{above}[{step}]"
        return f"{above}.{step}" if above else step

    def wrong(self, problem: str, code: str = "") -> Wrong:
        path = self.path
        return invalid(f"{path or 'The body'} {problem}.", path, code)

    def at(self, name: str) -> Self | None:
        """A field of an object; None where it is missing or null."""
        value = self.fields().get(name)
        return None if value is None else type(self)(value, self, name)

    def must(self, name: str) -> Self:
        found = self.at(name)
        if found is None:
            raise type(self)(None, self, name).wrong("is missing", "missing_required_parameter")
        return found

    def take(self, name: str, read: Callable[[Self], T]) -> T | None:
        """What `read` makes of a field, where it is there."""
        found = self.at(name)
        return None if found is None else read(found)

    def says(self, name: str) -> str:
        """The text of a field; empty where it is not there."""
        found = self.at(name)
        return "" if found is None else found.text()

    def fields(self) -> Json:
        return self.value if isinstance(self.value, dict) else self._not_a("an object")

    def rows(self) -> Iterator[Self]:
        values = self.value if isinstance(self.value, list) else self._not_a("a list")
        return (type(self)(value, self, place) for place, value in enumerate(values))

    def objects(self) -> list[Self]:
        """The rows of a list, each of which is an object."""
        found = list(self.rows())
        for row in found:
            row.fields()
        return found

    def text(self) -> str:
        return clean(self.value) if isinstance(self.value, str) else self._not_a("a string")

    def name(self) -> str:
        text = self.text()
        if not text.strip():
            raise self.wrong("is empty")
        return text

    def one_of(self, words: Collection[str]) -> str:
        text = self.text()
        if text not in words:
            raise self.wrong(f"is {_quoted(text)}, which is none of: {', '.join(words)}", "invalid_value")
        return text

    def flag(self) -> bool:
        return self.value if isinstance(self.value, bool) else self._not_a("true or false")

    def count(self) -> int:
        """Of something that there is at least one of."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            return self._not_a("a whole number")  # type: ignore[no-any-return]
        return int(self.up_to(MOST, 1))

    def up_to(self, most: float, least: float = 0) -> float:
        value = self.value
        if not isinstance(value, int | float) or isinstance(value, bool):
            return self._not_a("a number")  # type: ignore[no-any-return]
        if not least <= value <= most:
            raise self.wrong(f"must be between {least} and {most}", "invalid_value")
        return value

    def _not_a(self, wanted: str) -> Any:
        raise self.wrong(f"must be {wanted}, and is {_kind(self.value)}", "invalid_type")


class Dotted(Given):
    """Its places are written as Anthropic writes them."""

    __slots__ = ()

    @staticmethod
    def _joined(above: str, step: str | int) -> str:
        return f"{above}.{step}" if above else str(step)


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"


def _quoted(text: str) -> str:
    short = text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"
    return f"“{short}”"
