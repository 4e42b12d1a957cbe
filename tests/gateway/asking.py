"""A program that asks through a door, with a key of alice's, and keeps no thoughts: over a model that says what a script says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import wraps
from typing import Any

import httpx
from django.contrib.auth.models import User

from chatapp.asgi import http
from chatapp.gateway.store.keys import KeyChoices, create_key
from chatapp.providers.configured import Catalog
from chatapp.store import in_thread
from chatapp.turns.engine import Engine
from tests.support import front
from tests.support.stage import Script, ScriptedProvider, play

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("shell", "patch")
]


def played(story: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that is a story of its own."""

    @wraps(story)
    def told(*args: Any, **kwargs: Any) -> None:
        play(story(*args, **kwargs))

    return told


class Program:
    """Chat completions. `told`: the history as it is sent."""

    def __init__(self, secret: str) -> None:
        transport = httpx.ASGITransport(app=http)
        headers = {"authorization": f"Bearer {secret}"}
        self.http = httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers)
        self.told: list[dict[str, Any]] = []
        self.reasoning = ""

    async def say(self, text: str, *, role: str = "user", **more: Any) -> dict[str, Any]:
        self.told.append({"role": role, "content": text})
        return await self.ask(**more)

    async def give(self, *results: str, **more: Any) -> dict[str, Any]:
        """What its calls gave."""
        calls = self.told[-1]["tool_calls"]
        self.told += [
            {"role": "tool", "tool_call_id": call["id"], "content": said}
            for call, said in zip(calls, results, strict=False)
        ]
        return await self.ask(**more)

    async def ask(self, *, headers: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
        response = await self.post(headers=headers, **more)
        response.raise_for_status()
        self.reasoning = response.headers["x-thoughtline-reasoning"]
        message = response.json()["choices"][0]["message"]
        kept = {name: message[name] for name in ("role", "content", "tool_calls") if message.get(name)}
        self.told.append({"content": None, **kept})
        return kept

    async def post(self, *, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        body = {"model": "scripted:model", "messages": self.told, "tools": TOOLS} | more
        return await self.http.post("/v1/chat/completions", json=body, headers=headers)

    async def hang_up(self, text: str, when: asyncio.Event) -> None:
        """Asks for a stream, and goes."""
        body = json.dumps(
            {"model": "scripted:model", "stream": True, "messages": [{"role": "user", "content": text}]}
        )
        told: list[dict[str, Any]] = [{"type": "http.request", "body": body.encode(), "more_body": False}]
        headers = [(name.encode(), value.encode()) for name, value in self.http.headers.items()]
        scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions", "headers": headers}

        async def receive() -> dict[str, Any]:
            if told:
                return told.pop()
            await when.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            pass

        await http(scope | {"query_string": b"", "client": ("127.0.0.1", 1)}, receive, send)


@asynccontextmanager
async def over(*scripts: Script) -> AsyncIterator[tuple[Engine, ScriptedProvider]]:
    """The house, with a model that says these."""
    provider = ScriptedProvider(scripts)
    async with front.house() as engine:
        engine.catalog = Catalog((), beside=[provider])
        engine.runner._world = replace(engine.runner._world, catalog=engine.catalog)
        yield engine, provider


async def program_of(owner: User, **choices: Any) -> Program:
    key = KeyChoices(name="Codex on the laptop", **choices)
    return Program((await in_thread(create_key)(owner, key))[1])
