"""The built-in demo: no model, no key, no network, and honest about it. It streams thoughts, calls and answers as a model does."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing

from ...core.contracts import Contract, contract_for
from ...core.events import Event
from ...core.items import KeyMaker
from ..base import OFF, Ask, Endpoint, HearLetters, ModelSpec, RequestShape, UnknownModel
from .replies import Reply, asked_at
from .speech import Pause, speak

NAME = "demo"
MODEL, QUICK = "thinker", "talker"
LABEL = "Demo (not a real model)"
LABELS = {MODEL: LABEL, QUICK: "Demo that thinks little (not a real model)"}
EFFORTS = {MODEL: (OFF, "low", "medium", "high"), QUICK: (OFF, "low")}
# How many times as fast it speaks.
PACES = {MODEL: 1.0, QUICK: 2.0}


class DemoProvider:
    """`speed` divides all pauses. `keeps`: of how many questions it knows that they were asked before."""

    endpoint = Endpoint(name=NAME, dialect=NAME, label=LABEL)

    def __init__(self, *, sleep: Pause = asyncio.sleep, speed: float = 1.0, keeps: int = 1000) -> None:
        self._sleep, self._speed, self._keeps = sleep, speed, keeps
        self._asked: OrderedDict[int, int] = OrderedDict()

    def model(self, name: str = MODEL) -> ModelSpec:
        if name not in LABELS:
            raise UnknownModel(
                f"There is no model '{NAME}:{name}'. The demo has two: {NAME}:{MODEL} and {NAME}:{QUICK}."
            )
        return ModelSpec(
            provider=NAME,
            dialect=NAME,
            name=name,
            label=LABELS[name],
            efforts=EFFORTS[name],
            demo=True,
            sees=False,
        )

    def contract(self, model: ModelSpec) -> Contract:
        return contract_for(NAME, model=model.name)

    def sent(self, ask: Ask) -> RequestShape:
        """Nothing goes out, but all of the history is read."""
        return RequestShape(thoughts=ask.history.replayed)

    async def list_models(self) -> list[ModelSpec]:
        return [self.model(name) for name in LABELS]

    async def stream(
        self, ask: Ask, keys: KeyMaker, hear: HearLetters | None = None
    ) -> AsyncGenerator[Event, None]:
        tools = ask.tools if ask.may_call else ()
        effort, program = ask.effort or _usual(ask.model.name), ask.wishes if ask.wishes.dialect else None
        reply = Reply(ask.history, tools, effort, self._again(ask), program)
        speed = self._speed * PACES[ask.model.name]
        events = speak(reply.pieces(), ask, keys, lambda seconds: self._sleep(seconds / speed))
        async with aclosing(events):
            async for event in events:
                yield event

    def _again(self, ask: Ask) -> int:
        """How often this place of this conversation was asked before, so that asking again gives another answer. A turn's later
        rounds keep to what its first one said."""
        steps, at = ask.history.steps, asked_at(ask.history)
        place = hash((ask.conversation, at, steps[at : at + 1]))
        before = self._asked.get(place, -1)
        if at + 1 != len(steps):
            return max(before, 0)
        self._asked[place] = before + 1
        self._asked.move_to_end(place)
        if len(self._asked) > self._keeps:
            self._asked.popitem(last=False)
        return before + 1


def _usual(model: str) -> str:
    """The effort of a model when nobody chose one."""
    return "low" if model == QUICK else ""
