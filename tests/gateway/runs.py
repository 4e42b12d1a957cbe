"""A run that is recorded: a program behind the real door, over a model that says what a script says, and its owner at the front door."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from django.contrib.auth.models import User

from chatapp.asgi import http
from chatapp.gateway.store.keys import KeyChoices, create_key
from chatapp.store import in_thread, verify_log
from chatapp.store.models import Conversation, Message, Role
from tests.support.front import Visitor, house, visitor
from tests.support.stage import Script, ScriptedProvider

NAME = "Codex on the laptop"
SYSTEM = {"role": "system", "content": "You are a coding agent."}
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("shell", "apply_patch")
]
Told = dict[str, Any]


class Run:
    """`history`: as its program tells it, without a thought. `she`: its owner."""

    def __init__(self, secret: str, she: Visitor, provider: ScriptedProvider) -> None:
        headers = {"authorization": f"Bearer {secret}"}
        transport = httpx.ASGITransport(app=http)
        self._http = httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers)
        self.she, self.provider = she, provider
        self.history: list[Told] = [SYSTEM]

    async def says(self, *told: Told | str) -> Told:
        self.history += [{"role": "user", "content": one} if isinstance(one, str) else one for one in told]
        body = {"model": "scripted:model", "messages": self.history, "tools": TOOLS}
        answer = await self._http.post("/v1/chat/completions", json=body)
        assert answer.status_code == 200, answer.text
        message = answer.json()["choices"][0]["message"]
        self.history.append(
            {name: message.get(name) for name in ("role", "content", "tool_calls") if name in message}
        )
        return self.history[-1]

    async def gives(self, *results: str) -> Told:
        calls = zip(self.history[-1]["tool_calls"], results, strict=True)
        told = [{"role": "tool", "tool_call_id": call["id"], "content": said} for call, said in calls]
        return await self.says(*told)

    async def conversation(self) -> Conversation:
        return await in_thread(Conversation.objects.get)(program=NAME)

    async def answers(self) -> list[Message]:
        rows = Message.objects.filter(conversation__program=NAME, role=Role.ASSISTANT).order_by("order")
        return await in_thread(list)(rows)

    async def page(self, more: str = "") -> httpx.Response:
        return await self.she.get(f"/c/{(await self.conversation()).pk}/{more}")


@asynccontextmanager
async def recorded(owner: User, *scripts: Script) -> AsyncIterator[Run]:
    async with house() as engine:
        provider = ScriptedProvider(scripts)
        engine.catalog._providers["scripted"] = provider  # type: ignore[assignment]
        choices = KeyChoices(name=NAME, is_recorded=True)
        _, secret = await in_thread(create_key)(owner, choices)
        yield Run(secret, await visitor(owner), provider)
        assert await in_thread(lambda: list(verify_log()))() == []
