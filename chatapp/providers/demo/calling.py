"""Calls the tools that are offered, each by what it says of itself: its name, its first sentence, and the schema of its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from shlex import quote
from typing import Any

from ..base import ToolSpec
from .topics import READ, words_of

MOST_CALLS, DEEPEST = 3, 8
_RUN = frozenset(words_of("cmd command script shell bash sh"))
SENTENCE_ENDS = ".,;:!?…"
_SIGNS_OF_A_SUM = re.compile(r"(?<![a-zA-Z])[*/+^%](?![a-zA-Z])|(?<=\d )-(?= \d)")
_QUOTED = re.compile(r'"([^"]++)"|`([^`]++)`')
_MERE_NUMBER = re.compile(r"[\d.,-]++")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
# What says nothing of what a question is about.
COMMON_WORDS = (
    "a an and another are as at be by can com could do does each example for from get give had has have how i if in into is it its "
    "let many me much my new no not now of on one or org out please s say see show so some such tell than that the their them then "
    "there this to today too us use want was we what when where which who why will with would you your"
)
COMMON = frozenset(words_of(COMMON_WORDS))


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: Mapping[str, Any]


def calls(question: str, tools: Sequence[ToolSpec], *, named: bool) -> list[Call]:
    """Of the tool that shares most words with the question: one for each text that is found for it. `named`: where the
    question names a tool in so many words."""
    asked = _marks(question)
    names = {tool.name: _marks(own_name(tool.name)) for tool in tools}
    if named:
        tools = [tool for tool in tools if names[tool.name] and names[tool.name] <= asked]
    tool = max(tools, key=lambda tool: len(_known_by(tool) & asked), default=None)
    if tool is None or not _known_by(tool) & asked:
        return []
    texts = _quoted(question) or _unlike_words(question)
    if named and not texts:
        texts = _other_words(question, _known_by(tool))
    return [Call(tool.name, each) for each in _each(tool.schema, question, texts)]


def any_calls(question: str, tools: Sequence[ToolSpec]) -> list[Call]:
    """For a program, which offers tools to see them called: of the tool that fits best, or of the first, once, with whatever is found."""
    asked = _marks(question)
    tool = max(tools, key=lambda tool: len(_known_by(tool) & asked), default=None)
    if tool is None:
        return []
    texts = _quoted(question) or _names_in(question) or _unlike_words(question)
    return [Call(tool.name, filled(tool.schema, question, [*texts, _line_of(question)]))]


def filled(schema: Mapping[str, Any], question: str, texts: list[str]) -> dict[str, Any]:
    """An object of this schema, the last text as often as it takes."""
    return _Filling(schema, question, texts, endless=True).object(schema, _demanded(schema))


def _demanded(schema: Mapping[str, Any]) -> Iterable[str]:
    required = schema.get("required")
    return required if isinstance(required, list) else _mapping(schema.get("properties"))


def _names_in(question: str) -> list[str]:
    """Words with capitals that stand together, where no sentence begins with them."""
    words = question[:READ].split()
    runs = (" ".join(run) for capital, run in groupby(words[1:], lambda word: word[:1].isupper()) if capital)
    return [run.strip(SENTENCE_ENDS) for run in runs]


def _line_of(question: str) -> str:
    return " ".join(question[:READ].split())[:200] or "something"


def own_name(name: str) -> str:
    """Without its server's."""
    return name.rpartition("__")[2]


def _known_by(tool: ToolSpec) -> frozenset[str]:
    properties = tool.schema.get("properties", {})
    described = (_mapping(each).get("description", "") for each in properties.values())
    return _marks(
        " ".join([own_name(tool.name), tool.description.partition(".")[0], *properties, *described])
    )


def _marks(text: str) -> frozenset[str]:
    """Words that say something, also inside a name like `readPage`, and the signs of a sum."""
    text = re.sub("([a-z])([A-Z])", r"\1 \2", text[:READ])
    signs = _SIGNS_OF_A_SUM.findall(text)
    return frozenset([*words_of(text), *signs]) - COMMON


def _quoted(question: str) -> list[str]:
    pairs = _QUOTED.findall(question[:READ])
    return [text for pair in pairs for text in pair if text]


def _unlike_words(question: str) -> list[str]:
    """Sums, addresses, names of files: what stands together and is made of more than letters. A mere number is none."""
    clauses = re.split(r"(?<=[,;!?])\s", question[:READ])
    words = ([word.rstrip(SENTENCE_ENDS) for word in clause.split()] for clause in clauses)
    runs = [" ".join(run) for each in words for plain, run in groupby(each, _is_word) if not plain]
    return [run for run in runs if re.search(r"\w", run) and not _MERE_NUMBER.fullmatch(run)]


def _is_word(text: str) -> bool:
    return all(part.isalpha() for part in re.split("['’-]", text.strip("()\"'*_")))


def _other_words(question: str, known: frozenset[str]) -> list[str]:
    """Those that neither speak of the tool nor say nothing."""
    words = (word.strip(SENTENCE_ENDS) for word in question[:READ].split())
    text = " ".join(word for word in words if word and not set(words_of(word)) <= known | COMMON)
    return [text] if text else []


def _each(schema: Mapping[str, Any], question: str, texts: list[str]) -> Iterator[dict[str, Any]]:
    """Arguments, as often as there are texts for them. Nothing where something that is required cannot be found."""
    properties = schema.get("properties", {})
    names = schema.get("required") or [*properties][: bool(texts)]
    filling = _Filling(schema, question, texts)
    for _ in range(MOST_CALLS):
        before = len(texts)
        try:
            yield filling.object(schema, names)
        except LookupError:
            return
        if not texts or len(texts) == before:
            return


class _Filling:
    """Takes texts and numbers in the order in which they stand in the question."""

    def __init__(
        self, schema: Mapping[str, Any], question: str, texts: list[str], *, endless: bool = False
    ) -> None:
        self._root, self._question, self._texts, self._endless = (
            schema,
            question[:READ].lower(),
            texts,
            endless,
        )
        self._numbers = _NUMBER.findall(self._question)

    def object(self, schema: Mapping[str, Any], names: Iterable[str], depth: int = 0) -> dict[str, Any]:
        properties = schema.get("properties", {})
        return {name: self._value(properties.get(name), depth + 1, name) for name in names}

    def _value(self, schema: Any, depth: int, name: str = "") -> Any:
        schema = self._chosen(_mapping(schema))
        if depth > DEEPEST:
            raise LookupError("This schema never ends.")
        if values := schema.get("enum"):
            return next((value for value in values if str(value).lower() in self._question), values[0])
        match _type(schema):
            case "string":
                return self._text(name)
            case "integer":
                return int(self._number())
            case "number":
                return self._number()
            case "boolean":
                return False
            case "array":
                return [self._value(schema.get("items"), depth + 1, name)]
            case "object":
                return self.object(schema, schema.get("required", ()), depth)
            case _:
                return schema.get("const")

    def _text(self, name: str) -> str:
        text = self._texts[0] if self._endless and len(self._texts) == 1 else self._texts.pop(0)
        return f"echo {quote(text)}" if self._endless and _is_run(name) else text

    def _number(self) -> float:
        return 1.0 if self._endless and not self._numbers else float(self._numbers.pop(0))

    def _chosen(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """What it refers to, or the first of its alternatives."""
        for _ in range(DEEPEST):
            if "$ref" in schema:
                path = schema["$ref"].removeprefix("#/").split("/")
                schema = reduce(lambda at, name: _mapping(at[name]), path, self._root)
            elif others := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
                schema = _mapping(others[0])
        return schema


def _is_run(name: str) -> bool:
    """Programs run what stands there, and a question quotes what nobody should."""
    return not _RUN.isdisjoint(words_of(name.replace("_", " ")))


def _type(schema: Mapping[str, Any]) -> object:
    said = schema.get("type", "object" if "properties" in schema else "")
    return said[0] if isinstance(said, list) else said


def _mapping(value: Any) -> Mapping[str, Any]:
    """A schema may also be no more than true or false."""
    return value if isinstance(value, Mapping) else {}
