"""By what an answer is known whose ids a program did not keep: what was said up to it, and what it says."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from ...core import verbatim
from ...core.attached import Attached
from ...core.items import Item, Kind, clean
from ..doors.asked import Said, SaidBy, Told, ToldAnswer, ToldCall, ToldResult, ToldWords

# Beyond it no float is an integer's.
LARGEST = 2**1023


class Chain:
    """A digest of a history that grows. What an operator says is left out, since programs change it from request to request; so are
    blanks, since they trim words and join them in their own ways."""

    def __init__(self, owner: int) -> None:
        self._hash = hashlib.sha256(f"{owner}".encode())

    def add(self, told: Told) -> None:
        match told:
            case Said():
                if told.role is SaidBy.USER:
                    self._say("user", told.parts)
            case ToldAnswer():
                self._answer(*spoken(told))
            case ToldResult():
                self._say("result", told.parts)

    def add_response(self, items: Sequence[Item]) -> None:
        """What a model has just said, as the program will tell it."""
        texts = [item.text for item in items if item.kind is Kind.ASSISTANT_MESSAGE]
        calls = [(item.name, item.text) for item in items if item.kind is Kind.TOOL_CALL]
        self._answer(texts, calls)

    def digest(self) -> str:
        return self._hash.hexdigest()

    def _say(self, who: str, parts: Iterable[str | Attached]) -> None:
        words = [part for part in parts if isinstance(part, str)]
        beside = [part.url or part.data or part.file_id for part in parts if isinstance(part, Attached)]
        self._note(who, "".join(map(bare, words)), *beside)

    def _answer(self, texts: Iterable[str], calls: Iterable[tuple[str, str]]) -> None:
        self._note("answer", "".join(map(bare, texts)))
        for name, arguments in calls:
            self._note("call", name, same_arguments(arguments))

    def _note(self, *words: str) -> None:
        for word in words:
            said = word.encode(errors="surrogatepass")
            self._hash.update(b"%d:" % len(said) + said)


def spoken(answer: ToldAnswer) -> tuple[list[str], list[tuple[str, str]]]:
    """Its words and its calls."""
    texts = [part.text for part in answer.parts if isinstance(part, ToldWords)]
    calls = [(part.name, part.arguments) for part in answer.parts if isinstance(part, ToldCall)]
    return texts, calls


def bare(text: str) -> str:
    return "".join(text.split())


def same_arguments(arguments: str) -> str:
    """The same for values that are the same, however they are written: programs read and write them anew. What is no object was handed out
    as an empty one."""
    try:
        value: Any = verbatim.loads(arguments)
    except ValueError:
        value = {}
    return verbatim.dumps(_ordered(value)) if isinstance(value, dict) else "{}"


def _ordered(value: Any) -> Any:
    """With numbers as JavaScript has them, where 1.0 is written as 1."""
    match value:
        case bool():
            return value
        case str():
            return clean(value)
        case int() | float() if abs(value) <= LARGEST:
            return float(value)
        case dict():
            return {name: _ordered(value[name]) for name in sorted(value)}
        case list():
            return [*map(_ordered, value)]
        case _:
            return value
