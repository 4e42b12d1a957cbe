"""A program with a key, as forgetful as most: it sends back words and calls, and never a thought."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import wraps
from typing import Any

import httpx
from django.contrib.auth.models import User

from chatapp.asgi import http
from chatapp.core.history import Response
from chatapp.core.items import Item, Kind
from chatapp.gateway.store import kept
from chatapp.gateway.store.cached import heard_cleared
from chatapp.gateway.store.keys import KeyChoices, create_key
from chatapp.gateway.store.replays import to_write
from chatapp.providers.base import Ask
from chatapp.providers.configured import Catalog
from chatapp.store import in_thread
from chatapp.turns.engine import Engine
from tests.support.front import house
from tests.support.stage import Script, ScriptedProvider, play

MODEL = "scripted:model"
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("shell", "patch")
]


class Program:
    """Chat completions. `told`: the history as it keeps it, for those stories that go on from it."""

    def __init__(self, secret: str) -> None:
        self.key = secret
        headers = {"authorization": f"Bearer {secret}", "user-agent": "editor/1"}
        transport = httpx.ASGITransport(app=http)
        self.http = httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers)
        self.told: list[dict[str, Any]] = []
        self.reasoning = ""

    async def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        return await self.http.request(method, path, **more)

    async def chat(self, *messages: dict[str, Any], **more: Any) -> httpx.Response:
        body = {"model": MODEL, "messages": list(messages), **more}
        return await self.send("POST", "/v1/chat/completions", json=body)

    async def answer(self, *messages: dict[str, Any]) -> dict[str, Any]:
        """What it keeps of the answer."""
        return _kept(await self.chat(*messages))

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

    async def ask(self, **more: Any) -> dict[str, Any]:
        response = await self.post(**more)
        kept = _kept(response)
        self.reasoning = response.headers["x-thoughtline-reasoning"]
        self.told.append({"content": None, **kept})
        return kept

    async def post(self, *, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        body = {"model": MODEL, "messages": self.told, "tools": TOOLS} | more
        return await self.send("POST", "/v1/chat/completions", json=body, headers=headers or {})


def _kept(response: httpx.Response) -> dict[str, Any]:
    response.raise_for_status()
    message = response.json()["choices"][0]["message"]
    return {name: message[name] for name in ("role", "content", "tool_calls") if message.get(name)}


def played(story: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that is a story of its own."""

    @wraps(story)
    def told(*args: Any, **kwargs: Any) -> None:
        play(story(*args, **kwargs))

    return told


def user(words: str = "Why?") -> dict[str, Any]:
    return {"role": "user", "content": words}


def result(answer: dict[str, Any], words: str = "noon") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": answer["tool_calls"][0]["id"], "content": words}


async def program_of(owner: User, name: str = "Editor", **said: Any) -> Program:
    return Program((await in_thread(create_key)(owner, KeyChoices(name=name, **said)))[1])


@asynccontextmanager
async def served(*scripts: Script) -> AsyncIterator[tuple[Engine, ScriptedProvider]]:
    """A house with one model, which says these one after the other, and a process that remembers nothing."""
    restarted()
    async with house() as engine:
        provider = ScriptedProvider(scripts)
        engine.catalog = Catalog([], beside=[provider])
        engine.runner._world = replace(engine.runner._world, catalog=engine.catalog)
        yield engine, provider
    restarted()


def restarted() -> None:
    """Nothing of the memory is left."""
    kept.memory.forget()
    kept.memory.lookups = type(kept.memory.lookups)()
    kept.written.clear()
    heard_cleared.__init__()  # type: ignore[misc]
    to_write.__init__()  # type: ignore[misc]


def thoughts_sent(ask: Ask) -> list[str]:
    return [item.text for item in _sent(ask) if item.kind is Kind.REASONING]


def _sent(ask: Ask) -> Iterable[Item]:
    return (part.item for step in ask.history.steps if isinstance(step, Response) for part in step.parts)
