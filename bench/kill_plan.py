"""What the model of the kill bench says: for each question a plan of its own, and a model that goes on wherever a plan was cut."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import uuid4

from chatapp.core.contracts import Contract, contract_for
from chatapp.core.events import Event, Finish, ItemDelta, ItemDone, ItemStarted, ResponseEnded, Usage
from chatapp.core.history import GO_ON, History, Question, Response
from chatapp.core.items import Item, KeyMaker, Kind
from chatapp.providers.base import Ask, Endpoint, HearLetters, ModelSpec, RequestShape

MODEL = "scripted:model"
THINKS = 0.03  # seconds at least, for each thought
NOTHING_LEFT = "."
Note = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    id: str


@dataclass(frozen=True, slots=True)
class Round:
    thoughts: tuple[str, ...]
    words: tuple[str, ...]
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Its last round is the one without calls. `limited`: that one is first cut by the output limit."""

    rounds: tuple[Round, ...]
    limited: bool

    @property
    def text(self) -> str:
        return "".join(self.words())

    def words(self, rounds: int | None = None) -> list[str]:
        return [word for each in self.rounds[:rounds] for word in each.words]


def plan(question: str) -> Plan:
    """The same for the same question, in every process: 0 to 3 thoughts, 0 to 3 calls, one to four rounds."""
    random = Random(question)
    groups = random.choice([(), (), (1,), (2,), (3,), (1, 1), (1, 2), (2, 1), (1, 1, 1)])
    where = [random.randrange(len(groups) + 1) for _ in range(random.randrange(4))]
    rounds = tuple(
        Round(
            tuple(f"{question} thinks {n}.{i}" for i in range(where.count(n))),
            tuple(f"{question}:{n}:{i} " for i in range(_words(random, calls))),
            tuple(Call(random.choice(("look", "act", "send")), f"{question}/{n}/{i}") for i in range(calls)),
        )
        for n, calls in enumerate((*groups, 0))
    )
    return Plan(rounds, limited=random.random() < 0.15)


def _words(random: Random, calls: int) -> int:
    return random.choice((0, 0, 4)) if calls else random.randrange(3, 16)


class PlannedModel:
    """Reads in the request how far its answer has come, and says what follows, with small pauses."""

    def __init__(self, note: Note, random: Random) -> None:
        self.endpoint = Endpoint(name="scripted", dialect="responses", label="The plan")
        self._note, self._random = note, random

    def model(self, name: str) -> ModelSpec:
        return ModelSpec(provider="scripted", dialect="responses", name=name)

    def contract(self, model: ModelSpec) -> Contract:
        return contract_for("responses", host="api.openai.com", model=model.name)

    def sent(self, ask: Ask) -> RequestShape:
        return RequestShape(thoughts=ask.history.replayed)

    async def list_models(self) -> list[ModelSpec]:
        return [self.model("model")]

    async def stream(self, ask: Ask, keys: KeyMaker, hear: HearLetters | None = None) -> AsyncIterator[Event]:
        question, said, done = _so_far(ask.history, self._note)
        whole = plan(question)
        here = whole.rounds[done]
        words, limited = _left(whole, done, said)
        self._note("asks", question=question, round=done)
        await self._pause()
        for text in here.thoughts:
            async for event in self._piece(ask, keys, Kind.REASONING, text.split(" "), question):
                yield event
        if words:
            async for event in self._piece(ask, keys, Kind.ASSISTANT_MESSAGE, words, question):
                yield event
        for call in () if limited else here.calls:
            arguments = list(json.dumps({"call": call.id}).partition(":"))
            names = {"name": call.tool, "call_id": call.id}
            async for event in self._piece(ask, keys, Kind.TOOL_CALL, arguments, question, **names):
                yield event
        yield Usage(input=10, output=5)
        finish = Finish.TOOL_CALLS if here.calls else Finish.STOP
        if not limited:
            self._note("said", question=question, round=done)
        yield ResponseEnded(Finish.LENGTH if limited else finish)

    async def _piece(
        self, ask: Ask, keys: KeyMaker, kind: Kind, deltas: list[str], question: str, **names: str
    ) -> AsyncIterator[Event]:
        key = keys.take(self._random.choice((None, f"{kind}_{uuid4().hex[:12]}")))
        yield ItemStarted(key, kind, **names)
        # Whoever reads has noted the start by now, so what is counted from here is never more than what is stored.
        began = time.monotonic()
        for n, delta in enumerate(deltas):
            await self._pause()
            yield ItemDelta(key, delta if kind is not Kind.REASONING or n == 0 else f" {delta}")
        if kind is Kind.REASONING:
            await asyncio.sleep(THINKS)
            self._note("thought", question=question, key=key, ms=(time.monotonic() - began) * 1000)
        yield ItemDone(_item(ask, key, kind, deltas, names))

    async def _pause(self) -> None:
        await asyncio.sleep(self._random.uniform(0, 0.008))


class OneModel:
    """The catalog that has this model only."""

    def __init__(self, provider: PlannedModel) -> None:
        self.provider = provider

    def find(self, model: str) -> tuple[PlannedModel, ModelSpec]:
        return self.provider, self.provider.model(model.partition(":")[2])

    offered = find


def _left(whole: Plan, done: int, said: str) -> tuple[list[str], bool]:
    """The words of this round that were not said yet, and whether the output limit cuts them."""
    before, upto = "".join(whole.words(done)), "".join(whole.words(done + 1))
    left = upto.removeprefix(said)
    closing = done + 1 == len(whole.rounds)
    if whole.limited and closing and len(said) <= len(before):
        return [f"{left.split(' ')[0]} "], True
    words = [f"{word} " for word in left.rstrip(" ").split(" ")] if left.strip() else []
    return words or ([NOTHING_LEFT] if closing else []), False


def _so_far(history: History, note: Note) -> tuple[str, str, int]:
    """The question, what has been said of its answer, and how many rounds with calls are behind."""
    question, said, done = "", "", 0
    for step in history.steps:
        if isinstance(step, Question) and step.text != GO_ON:
            question, said, done = step.text, "", 0
        elif isinstance(step, Response):
            _prove(step, note)
            said += "".join(part.item.text for part in step.parts if part.item.kind is Kind.ASSISTANT_MESSAGE)
            done += any(part.item.kind is Kind.TOOL_CALL for part in step.parts)
    return question, said.rstrip(NOTHING_LEFT), done


def _prove(step: Response, note: Note) -> None:
    calls = [part for part in step.parts if part.item.kind is Kind.TOOL_CALL]
    if step.parts[-1].item.kind is Kind.REASONING:
        note(
            "breach",
            why=f"the request holds the thought {step.parts[-1].item.key!r} without what followed it",
        )
    if [part.call_id for part in calls] != [result.call_id for result in step.results]:
        note("breach", why="the request holds calls and results that do not belong together")


def _item(ask: Ask, key: str, kind: Kind, deltas: list[str], names: dict[str, Any]) -> Item:
    return Item(
        key=key,
        kind=kind,
        text=(" " if kind is Kind.REASONING else "").join(deltas),
        wire={"type": kind, "id": key, "encrypted_content": "sealed"},
        provider=ask.model.provider,
        dialect=ask.model.dialect,
        model=ask.model.name,
        round=ask.round,
        **names,
    )
