"""A house whose model is a script and whose tools ask first, behind its real front door."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
from django.contrib.auth.models import User

from chatapp import store
from chatapp.store import in_thread
from chatapp.store.models import Message
from chatapp.tools import Tool
from chatapp.tools.base import tool as made
from tests.support.front import HTMX, Visitor, house, visitor
from tests.support.page import Page, attribute
from tests.support.script import call
from tests.support.stage import Script, ScriptedProvider, Stage


class Toolbox(dict[str, Tool]):
    """`look` is safe, `send` asks, `docs.find` is of a server and asks; `slow` is safe and ends when `go` is set. They count
    how often they ran."""

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()
        self.go = asyncio.Event()

        async def look() -> str:
            """Looks."""
            self.ran["look"] += 1
            return "seen"

        async def send(to: str = "bob", words: str = "") -> str:
            """Sends <b>words</b> to somebody."""
            self.ran[to] += 1
            return f"sent to {to}"

        async def find(words: str = "") -> str:
            """Finds."""
            self.ran["find"] += 1
            return "found"

        async def slow() -> str:
            """Takes its time."""
            await self.go.wait()
            return "at last"

        found = replace(made(find, title="<i>Hostile</i>"), name="docs.find", server="docs", usual=False)
        super().__init__(
            look=made(look, safe=True, idempotent=True),
            send=made(send),
            slow=made(slow, safe=True),
            **{found.name: found},
        )


def send(to: str = "bob", call_id: str = "call_1") -> dict[str, Any]:
    return call("send", f'{{"to": "{to}"}}', call_id=call_id)


@asynccontextmanager
async def furnished(
    owner: User, tools: Mapping[str, Tool], *scripts: Script
) -> AsyncIterator[tuple[Stage, Visitor]]:
    """The stage of a conversation with these tools, and its owner at the door."""
    async with house() as own:
        own.tools.change(tools)
        own.catalog._providers["scripted"] = ScriptedProvider(scripts)
        definitions = [tool.definition for tool in tools.values()]
        conversation = await in_thread(store.start_conversation)(owner, tools=definitions)
        yield Stage(own, conversation, "scripted:model"), await visitor(owner)


class Panels:
    """What the page of a conversation asks, and how one answers it there."""

    def __init__(self, on: Stage, she: Visitor) -> None:
        self.on, self.she = on, she

    async def look(self) -> Panels:
        self.page = Page(await self.she.get(f"/c/{self.on.conversation.pk}/"))
        return self

    @property
    def groups(self) -> list[Any]:
        return self.page.all("div", role="group", aria_label="Permission")

    @property
    def seen(self) -> list[str]:
        return [attribute(it, "value") for it in self.page.all("input", name="seen")]

    async def press(self, value: str, *, script: bool = False, **more: Any) -> httpx.Response:
        """A button by what it says to the server, at the address that it names."""
        (button,) = self.page.all("button", name="decision", value=value)
        form = {"decision": value, "seen": self.seen} | more
        headers = HTMX if script else {}
        return await self.she.post(attribute(button, "formaction"), form, headers=headers)


async def row(pk: Any) -> Message:
    return await in_thread(Message.objects.get)(pk=pk)
