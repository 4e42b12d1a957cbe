"""The fields of a request, each of the type that it must have: what is of another one is told with its path."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ....core.items import clean
from ..door import Wrong, invalid

MOST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Fields:
    """An object of the request, and its path there. A field that is null was not said."""

    values: Mapping[str, Any]
    path: str = ""

    def at(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def has(self, name: str) -> bool:
        return self.values.get(name) is not None

    def wrong(self, name: str, sentence: str) -> Wrong:
        return invalid(f"`{self.at(name)}` {sentence}", self.at(name))

    def mistyped(self, name: str, wanted: str) -> Wrong:
        return self.wrong(name, f"must be {wanted}, not {_type_of(self.values.get(name))}.")

    def word(self, name: str, default: str = "") -> str:
        value = self.values.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.mistyped(name, "a string")
        return clean(value)

    def needed(self, name: str) -> str:
        """A word that has to be there."""
        if not self.has(name):
            raise self.wrong(name, "is missing.")
        return self.word(name)

    def name(self, name: str) -> str:
        """A word that has to be there and to say something."""
        word = self.needed(name)
        if not word:
            raise self.wrong(name, "must not be empty.")
        return word

    def one_of(self, name: str, words: Collection[str]) -> str:
        word = self.word(name)
        if word and word not in words:
            raise self.wrong(name, f"is `{_short(word)}`, and must be one of {', '.join(words)}.")
        return word

    def flag(self, name: str) -> bool | None:
        value = self.values.get(name)
        if value is None or isinstance(value, bool):
            return value
        raise self.mistyped(name, "true or false")

    def number(self, name: str, least: float, most: float) -> float | None:
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.mistyped(name, "a number")
        if not least <= value <= most:
            raise self.wrong(name, f"must be between {least:g} and {most:g}.")
        return float(value)

    def count(self, name: str, least: int = 0, most: int = 10**9) -> int | None:
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.mistyped(name, "a whole number")
        if not least <= value <= most:
            raise self.wrong(name, f"must be between {least} and {most}.")
        return value

    def inner(self, name: str) -> Fields:
        """An object inside; an empty one where none was said."""
        value = self.values.get(name)
        if value is None:
            return Fields({}, self.at(name))
        if not isinstance(value, dict):
            raise self.mistyped(name, "an object")
        return Fields(value, self.at(name))

    def rows(self, name: str) -> Iterator[Fields]:
        """The objects of a list inside."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, list):
            raise self.mistyped(name, "a list")
        yield from rows(value or [], self.at(name))

    def words(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.mistyped(name, "a list of strings")
        return tuple(value)


def rows(values: list[Any], path: str) -> Iterator[Fields]:
    for n, value in enumerate(values):
        if not isinstance(value, dict):
            raise invalid(f"`{path}[{n}]` must be an object, not {_type_of(value)}.", f"{path}[{n}]")
        yield Fields(value, f"{path}[{n}]")


def _type_of(value: Any) -> str:
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


def _short(word: str) -> str:
    return word if len(word) <= MOST_SHOWN else word[:MOST_SHOWN] + "…"
