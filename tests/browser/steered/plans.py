"""Answers that run by themselves: the steps of one, at a given pace."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from .answer import Answer

CHARACTERS = 6
# Each provider has its own words for it.
TOO_LONG = (
    "prompt is too long: 9000 tokens > 8192 maximum (This model's maximum context length is 8192 tokens)"
)


class Step(Protocol):
    async def play(self, answer: Answer) -> None: ...


@dataclass(frozen=True)
class Think:
    """A thought that takes `seconds`, its words spread over them; without words it is silent."""

    words: str
    seconds: float = 0.0
    at_once: int = CHARACTERS

    async def play(self, answer: Answer) -> None:
        await answer.think("")
        pieces = list(_pieces(self.words, self.at_once))
        if pieces:
            await _spread(pieces, self.seconds / len(pieces), answer.think)
        else:
            await asyncio.sleep(self.seconds)
        await answer.end_thought()


@dataclass(frozen=True)
class Write:
    """Text, `pace` deltas a second; 0 is as fast as it goes."""

    words: str
    pace: float = 0.0
    at_once: int = CHARACTERS

    async def play(self, answer: Answer) -> None:
        await _spread(
            list(_pieces(self.words, self.at_once)), 1 / self.pace if self.pace else 0, answer.write
        )


@dataclass(frozen=True)
class Held:
    """So many tokens were in the request. Before anything is said: Anthropic tells it first."""

    tokens: int

    async def play(self, answer: Answer) -> None:
        await answer.hold(self.tokens)


@dataclass(frozen=True)
class Call:
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)

    async def play(self, answer: Answer) -> None:
        await answer.call(self.name, json.dumps(self.arguments))


@dataclass(frozen=True)
class Pause:
    seconds: float

    async def play(self, answer: Answer) -> None:
        await asyncio.sleep(self.seconds)


@dataclass(frozen=True)
class Refuse:
    """An HTTP error instead of an answer."""

    status: int
    words: str = "No."
    headers: Mapping[str, str] = field(default_factory=dict)
    code: str | None = None

    async def play(self, answer: Answer) -> None:
        body = {"message": self.words, "type": "invalid_request_error", "param": None, "code": self.code}
        await answer.refuse(self.status, {"error": body}, self.headers)


def too_long() -> Refuse:
    return Refuse(400, TOO_LONG, code="context_length_exceeded")


@dataclass(frozen=True)
class Cut:
    """The connection breaks."""

    async def play(self, answer: Answer) -> None:
        await answer.cut()


@dataclass(frozen=True)
class Silence:
    """Nothing more until the product hangs up."""

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        await answer.gone.wait()


async def play(steps: tuple[Step, ...], answer: Answer) -> None:
    """The steps, then the end, unless a step was the end."""
    for step in steps:
        await step.play(answer)
    if not answer.over.is_set():
        await answer.finish()


def _pieces(words: str, at_once: int) -> Iterator[str]:
    return (words[at : at + at_once] for at in range(0, len(words), at_once))


async def _spread(pieces: list[str], gap: float, say: Callable[[str], Awaitable[None]]) -> None:
    """By the clock, so that a busy machine does not stretch the whole."""
    now = asyncio.get_running_loop().time
    began = now()
    for place, piece in enumerate(pieces, start=1):
        await say(piece)
        await asyncio.sleep(max(0.0, began + place * gap - now()))
