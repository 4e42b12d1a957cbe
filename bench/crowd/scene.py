"""What is played, and what came of it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from statistics import quantiles
from typing import TypeVar

from bench.provider import Plan

T = TypeVar("T")

THOUGHT = 20
# Whose answer has not ended so long after it should have is told as lost.
PATIENCE = 60
NUMBERS = count(1)


@dataclass(frozen=True, kw_only=True)
class Scene:
    """So many people, each of whom asks at some moment of one second, and is answered in so many deltas at this pace.
    `reloaded`: afterwards each page is loaded, and held against what the socket has told. `asking`: within so many seconds they ask."""

    people: int
    pace: float = 50
    plain: bool = False
    tabs: int = 1
    first: bool = False
    seconds: float = 10
    reloaded: bool = True
    asking: float = 1

    @property
    def deltas(self) -> int:
        return max(THOUGHT + 1, int(self.seconds * self.pace))

    @property
    def patience(self) -> float:
        return self.seconds + self.asking + PATIENCE

    @property
    def name(self) -> str:
        words = [f"{self.people} x {self.pace:.0f}/s", "plain" if self.plain else "Markdown"]
        words += ["first question"] * self.first + [f"{self.tabs} tabs"] * (self.tabs > 1)
        words += [f"asked within {self.asking:.0f} s"] * (self.asking != 1)
        return ", ".join(words)

    def plans(self) -> list[Plan]:
        """One for each of the people, by names that none had before."""
        said = {"thought": THOUGHT, "text": self.deltas - THOUGHT}
        names = [str(next(NUMBERS)) for _ in range(self.people)]
        return [Plan(name=name, pace=self.pace, plain=self.plain, **said) for name in names]


@dataclass
class Run:
    """`first`: milliseconds from the question to the first letter; `relay`: from the provider to the watcher, of all others; `steady`: of
    those that were said when everybody had their first letter, so that no questions come between. `cpu`:
    seconds of the server and all its children, questions and ends included. `memory`: the most that the server had, in MB; `beside`: with
    what renders beside it. `sent`: deltas a second that the provider gave all who were answered. `refused`: questions; `lost`: what came
    otherwise than it was said, or not at all; `anew`: answers that came rendered, so that their letters cannot be counted."""

    first: list[float] = field(default_factory=list)
    relay: list[float] = field(default_factory=list)
    steady: list[float] = field(default_factory=list)
    cpu: float = 0.0
    deltas: int = 0
    frames: int = 0
    memory: float = 0.0
    beside: float = 0.0
    sent: float = 0.0
    refused: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    anew: int = 0

    def __add__(self, other: Run) -> Run:
        return replace(
            self,
            first=self.first + other.first,
            relay=self.relay + other.relay,
            steady=self.steady + other.steady,
            cpu=self.cpu + other.cpu,
            deltas=self.deltas + other.deltas,
            frames=self.frames + other.frames,
            memory=max(self.memory, other.memory),
            beside=max(self.beside, other.beside),
            refused=self.refused + other.refused,
            lost=self.lost + other.lost,
            anew=self.anew + other.anew,
        )

    @property
    def whole(self) -> bool:
        return not self.refused and not self.lost

    @property
    def per_thousand(self) -> float:
        return self.cpu / self.deltas * 1000 if self.deltas else 0.0

    def count(self, sent: list[list[int]]) -> None:
        """When the provider sent which deltas of each answer."""
        self.deltas = sum(map(len, sent))
        self.sent = sum((len(each) - 1) / (each[-1] - each[0]) * 1e9 for each in sent if len(each) > 1)

    def note(self, answers: Sequence[tuple[list[float], list[int], float]]) -> None:
        """Of each answer: how many milliseconds each delta took, when it was sent, and when the answer was asked for."""
        told = [answer for answer in answers if answer[0]]
        self.anew += len(answers) - len(told)
        all_began = max((late[0] + sent[0] / 1e6 for late, sent, _ in told), default=0.0)
        for late, sent, asked in told:
            self.first.append(late[0] + sent[0] / 1e6 - asked * 1000)
            self.relay += late[1:]
            self.steady += [ms for ms, at in zip(late, sent, strict=True) if at / 1e6 > all_began]


def of_hundred(values: list[float], place: int) -> float:
    if not values:
        return float("nan")
    return quantiles(values, n=100)[place - 1] if len(values) > 1 else values[0]


async def within(seconds: float, asks: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """What each came to."""

    async def later(ask: Callable[[], Awaitable[T]], seconds: float) -> T:
        await asyncio.sleep(seconds)
        return await ask()

    chance = random.Random(7)
    longest = seconds if len(asks) > 1 else 0.0
    return await asyncio.gather(*(later(ask, chance.random() * longest) for ask in asks))
