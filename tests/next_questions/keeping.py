"""A conversation whose answers end when the test says so, with what asks by itself at work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import httpx
from django.contrib.auth.models import User

from chatapp.core.events import Event
from chatapp.core.items import KeyMaker
from chatapp.next_questions.models import NextQuestion
from chatapp.next_questions.part import NextQuestions
from chatapp.providers.base import Ask
from chatapp.store import in_thread
from chatapp.store.models import Item, Message
from chatapp.turns.watching import AT_WORK
from tests.conversations.asking_tools import Toolbox, furnished
from tests.support.front import HTMX, Visitor
from tests.support.page import Page, attribute
from tests.support.script import response, text
from tests.support.stage import Script, Stage, until


class Story:
    """`go`: the answer that is being written ends."""

    def __init__(self, on: Stage, she: Visitor, go: asyncio.Event) -> None:
        self.on, self.she, self.go = on, she, go
        self.path = f"/c/{on.conversation.pk}/"

    async def begin(self, keep: str, **more: Any) -> UUID:
        """An answer is being written, and this waits for it."""
        answer = await self.on.begin("Why?")
        await self.keep(keep, answer, **more)
        return answer

    async def end(self, answer: UUID) -> Message:
        self.go.set()
        return await self.on.end(answer)

    async def stop(self, answer: UUID) -> None:
        await self.she.post(f"/m/{answer}/stop/")

    async def ask_all(self) -> None:
        """What asks by itself looks once."""
        await self.on.engine.part(NextQuestions).ask_all()

    async def keep(self, words: str, answer: UUID, *, script: bool = True, **more: Any) -> httpx.Response:
        form = {"text": words, "parent": str(answer), "key": str(uuid4()), "keep": "1"}
        form |= {"model": "scripted:model"} | more
        return await self.she.post(f"{self.path}ask/", form, headers=HTMX if script else {})

    async def send(self, answer: UUID, words: str = "", **more: Any) -> httpx.Response:
        """As the composer does that shows what waits."""
        form = {"text": words, "parent": str(answer), "next": str(answer), "key": str(uuid4())}
        form |= {"model": "scripted:model"} | more
        return await self.she.post(f"{self.path}ask/", form, headers=HTMX)

    async def press(self, what: str, answer: UUID, **form: str) -> httpx.Response:
        return await self.she.post(f"/m/{answer}/next/{what}/", form, headers=HTMX)

    async def page(self) -> Page:
        return Page(await self.she.get(self.path))

    async def shown(self) -> str:
        """What the page shows of a question that waits."""
        page = Page(await self.she.get(self.path))
        return " ".join(str(one) for one in page.all("section", aria_label="Waiting question"))

    async def whole(self, questions: int) -> list[str]:
        """So many were asked, and all of them are answered."""

        async def are_asked() -> bool:
            return await in_thread(_ended)() == questions

        await until(are_asked)
        return await asked()

    async def rests(self) -> None:
        """Nothing is being written any more."""
        at_work = Message.objects.filter(status__in=AT_WORK)

        async def ended() -> bool:
            return not await in_thread(at_work.exists)()

        await until(ended)


def _ended() -> int:
    return Message.objects.filter(role="assistant", status="complete").count()


async def asked() -> list[str]:
    """The questions, in their order."""
    rows = Item.objects.filter(kind="user_message").order_by("message__order")
    return await in_thread(lambda: list(rows.values_list("text", flat=True)))()


async def waiting() -> list[str]:
    rows = NextQuestion.objects.filter(asked_as=None).order_by("created_at")
    return await in_thread(lambda: list(rows.values_list("text", flat=True)))()


def gated(go: asyncio.Event, script: Script) -> Script:
    async def gate(ask: Ask, keys: KeyMaker) -> AsyncIterator[Event]:
        await go.wait()
        async for event in script(ask, keys):
            yield event

    return gate


@asynccontextmanager
async def keeping(owner: User, *scripts: Script, alone: bool = True) -> AsyncIterator[Story]:
    """`alone`: nothing asks by itself unless it is told to."""
    go = asyncio.Event()
    played = scripts or (gated(go, response(text())), response(text()))
    async with furnished(owner, Toolbox(), *played) as (on, she):
        work = [] if alone else [asyncio.create_task(on.engine.part(NextQuestions).keep())]
        try:
            yield Story(on, she, go)
        finally:
            for each in work:
                each.cancel()
            await asyncio.gather(*work, return_exceptions=True)


def parent_of(page: Page) -> str:
    return attribute(page.one("input", name="parent"), "value")
