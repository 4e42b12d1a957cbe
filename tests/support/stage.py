"""A stage to play turns on: a real engine on a real database, asked by alice; the models are scripts or a real server. With Redis there
are two engines: what is asked of the one is answered by the other."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user_model

from chatapp import store
from chatapp.core.contracts import contract_for
from chatapp.core.events import Event
from chatapp.core.items import Item, KeyMaker, Kind
from chatapp.providers.base import OFF, Ask, Endpoint, HearLetters, ModelSpec, RequestShape
from chatapp.store import in_thread
from chatapp.store.models import Conversation, Message, Status
from chatapp.tools import TOOLS
from chatapp.tools.base import Tool
from chatapp.turns.engine import Engine
from chatapp.turns.watching import AT_WORK

from .apart import two_engines
from .patience import PATIENCE
from .sums import assert_counted

Script = Callable[[Ask, KeyMaker], AsyncIterator[Event]]


class ScriptedProvider:
    """Says what its script says, one script for each request; the last one again and again."""

    def __init__(self, scripts: Iterable[Script]) -> None:
        self.endpoint = Endpoint(name="scripted", dialect="responses", label="The script")
        self.asked: list[Ask] = []
        self._scripts = list(scripts)

    def model(self, name: str) -> ModelSpec:
        return ModelSpec(provider="scripted", dialect="responses", name=name, efforts=(OFF, "low"))

    def contract(self, model: ModelSpec):
        return contract_for("responses", host="api.openai.com", model=model.name)

    async def list_models(self) -> list[ModelSpec]:
        return [self.model("model")]

    def sent(self, ask: Ask) -> RequestShape:
        return RequestShape((f"steps: {len(ask.history.steps)}",), ask.history.replayed)

    async def stream(self, ask: Ask, keys: KeyMaker, hear: HearLetters | None = None) -> AsyncIterator[Event]:
        self.asked.append(ask)
        script = self._scripts[min(len(self.asked), len(self._scripts)) - 1]
        async for event in script(ask, keys):
            yield event


class ScriptedCatalog:
    def __init__(self, provider: ScriptedProvider) -> None:
        self.provider = provider

    def find(self, model: str) -> tuple[ScriptedProvider, ModelSpec]:
        return self.provider, self.provider.model(model.partition(":")[2])

    offered = find


class Stage:
    """`working`: the engine that answers what the other is asked, where that is not the same."""

    def __init__(
        self, engine: Engine, conversation: Conversation, model: str, working: Engine | None = None
    ) -> None:
        self.engine, self.conversation, self.model = engine, conversation, model
        self.working = working or engine

    async def begin(
        self, text: str = "Why?", *, at: UUID | None = None, model: str = "", effort: str = ""
    ) -> UUID:
        started = await self.engine.ask(
            self.conversation.id,
            text,
            parent=at,
            model=model or self.model,
            effort=effort,
            author=self.conversation.owner,
        )
        return started.answer

    async def leave(self, runner: str = "", *, claimed: bool = False) -> UUID:
        """A question whose turn a process of this name is to claim, or has claimed: this one, where nobody is named."""
        asked = store.AskedFor(model=self.model, runner=runner or self.engine.runner.name, claimed=claimed)
        owner = self.conversation.owner
        starting = in_thread(store.start_turn)
        return (await starting(self.conversation.id, "Why?", parent=None, author=owner, asked=asked)).answer

    async def ask(
        self, text: str = "Why?", *, at: UUID | None = None, model: str = "", effort: str = ""
    ) -> Message:
        return await self.end(await self.begin(text, at=at, model=model, effort=effort))

    async def again(self, answer: UUID, *, model: str = "") -> Message:
        return await self.end(await self.begin_again(answer, model=model))

    async def begin_again(self, answer: UUID, *, model: str = "") -> UUID:
        question = (await self.row(answer)).parent_id
        started = await self.engine.ask_again(
            question, author=self.conversation.owner, model=model or self.model
        )
        return started.answer

    async def go_on(self, answer: UUID) -> Message:
        assert await self.engine.go_on(answer)
        return await self.end(answer)

    async def end(self, answer: UUID) -> Message:
        """The row when nobody works on it any more, whoever did."""
        return await ended(self.engine, answer)

    async def let_go(self, answer: UUID) -> Message:
        """The row when nothing is done for it any more, whether or not it has ended."""
        await until(lambda: self._is_begun(answer))
        await self.working.runner.wait(answer)
        return await self.row(answer)

    async def _is_begun(self, answer: UUID) -> bool:
        return (await self.row(answer)).status != Status.QUEUED

    async def row(self, answer: UUID) -> Message:
        return await _row(answer)

    async def items(self, answer: UUID) -> list[Item]:
        return await in_thread(store.load_items)(answer)

    async def said(self, answer: UUID) -> str:
        return "".join(item.text for item in await self.items(answer) if item.kind is Kind.ASSISTANT_MESSAGE)


@asynccontextmanager
async def stage(
    catalog: Any,
    folder: Path,
    *,
    model: str = "scripted:model",
    tools: Mapping[str, Tool] = TOOLS,
    now: Callable[[], float] = time.monotonic,
    **world: Any,
) -> AsyncIterator[Stage]:
    make = partial(Engine, catalog, folder=folder, tools=tools, now=now, **world)
    async with two_engines(make) as (engine, working):
        conversation = await in_thread(_conversation)([each.definition for each in tools.values()])
        yield Stage(engine, conversation, model, working)
        assert [breach async for breach in _breaches()] == []
        await in_thread(assert_counted)()


async def ended(engine: Engine, answer: UUID) -> Message:
    """Its row when nobody works on it any more, whoever did; this engine, where there is no other."""

    async def rested() -> Message | None:
        row = await _row(answer)
        return None if row.status in AT_WORK else row

    if settings.REDIS_URL:
        return await until(rested)
    await engine.runner.wait(answer)
    return await _row(answer)


async def _row(answer: UUID) -> Message:
    return await in_thread(Message.objects.get)(pk=answer)


async def _breaches() -> AsyncIterator[str]:
    for breach in await in_thread(lambda: list(store.verify_log()))():
        yield breach


def _conversation(tools: list[Any]) -> Conversation:
    alice, _ = get_user_model().objects.get_or_create(username="alice")
    return store.start_conversation(alice, tools=tools, instructions="Be brief.")


async def until(look: Callable[[], Awaitable[Any]]) -> Any:
    """What the look finds at last."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if found := await look():
                return found
            await asyncio.sleep(0.005)


def play(story: Coroutine[Any, Any, None]) -> None:
    """Runs a story to its end, or gives up on it; the database threads go with it."""
    try:
        asyncio.run(asyncio.wait_for(story, 2 * PATIENCE))
    finally:
        store.close_threads()
