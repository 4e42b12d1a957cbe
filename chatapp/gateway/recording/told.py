"""A history as it is recorded: questions, answers and results in their order, each with the digest of all that was said until then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby

from ...core.items import Item
from ...core.values import fields
from ...providers.base import Form
from ..doors.asked import Said, SaidBy, Told, ToldAnswer, ToldResult
from ..replay.digests import Chain


class Part(StrEnum):
    QUESTION = "question"
    ANSWER = "answer"
    RESULTS = "results"


@dataclass(frozen=True, slots=True)
class Piece:
    """What is recorded together. `items`: as they are asked with; `name`: by which this place of a history is found again."""

    part: Part
    items: tuple[Item, ...]
    name: str


def pieces(history: Sequence[Told], made: Mapping[int, Sequence[Item]], owner: int) -> list[Piece]:
    """Without the operator's words that open it. `made`: the items that each of its entries became."""
    chain, found = Chain(owner), list[Piece]()
    for part, places in _together(history):
        for place in places:
            chain.add(history[place])
        if any(place in made for place in places):
            items = tuple(item for place in places for item in made.get(place, ()))
            found.append(Piece(part, items, name_of(part, chain.digest())))
    return found


def name_of(part: Part, digest: str) -> str:
    """A question and the answer before it may have been said in the same words, where an operator asks."""
    return f"{part[0]}{digest}"


def _together(history: Sequence[Told]) -> Iterator[tuple[Part, list[int]]]:
    """Messages in a row are one question, results in a row are given together; an answer stands by itself."""
    number = 0

    def kind(place: int) -> tuple[Part, int]:
        nonlocal number
        match history[place]:
            case ToldAnswer():
                number += 1
                return Part.ANSWER, number
            case ToldResult():
                return Part.RESULTS, number
            case Said():
                return Part.QUESTION, number

    for (part, _), places in groupby(range(len(history)), key=kind):
        yield part, list(places)


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """What a program told beside its history: the operator's words that open it, and the names of its tools."""

    words: tuple[tuple[str, str], ...] = ()
    tools: tuple[str, ...] = field(default=())


def saying_of(history: Sequence[Told], opening: int, tools: Sequence[str]) -> Saying:
    said = [each for each in history[:opening] if isinstance(each, Said)]
    return Saying(words=tuple((each.role, each.text) for each in said), tools=tuple(tools))


# As agents word it; a script that is told to stay on its topic is no agent that looks for one.
_SIDE_TALK = (
    *(
        "title generator",
        "generate a title",
        "find a title",
        "write a title",
        "thread title",
        "conversation title",
        "session title",
    ),
    *(
        "title for this",
        "new conversation topic",
        "a new topic",
        "summarize this conversation",
        "summarize this coding conversation",
    ),
)
_LITTLE = 64


def is_side_talk(history: Sequence[Told], *, tools: int, most_output: int | None, form: Form | None) -> bool:
    """What agents ask beside their work: a title, whether something is a new topic, whether anybody is there."""
    if tools or sum(isinstance(each, Said) and each.role is SaidBy.USER for each in history) > 1:
        return False
    if (most_output is not None and most_output <= _LITTLE) or _is_a_title(form):
        return True
    operators = " ".join(
        each.text[:2000].lower()
        for each in history
        if isinstance(each, Said) and each.role is not SaidBy.USER
    )
    return any(mark in operators for mark in _SIDE_TALK)


def _is_a_title(form: Form | None) -> bool:
    """Whether that is all that the answer may hold."""
    return form is not None and list(fields(fields(form.schema).get("properties"))) == ["title"]
