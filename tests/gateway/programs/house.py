"""The doors of a house in this process, the fake providers behind it, and programs that knock with keys of people."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import httpx
from django.contrib.auth.models import User

from chatapp.asgi import http
from chatapp.gateway.models import ApiKey
from chatapp.gateway.store import kept as kept_rows
from chatapp.gateway.store import keys
from chatapp.gateway.store.keys import KeyChoices
from chatapp.limits.models import DailyLimit
from chatapp.store import in_thread
from tests.support.front import house
from tests.support.patience import PATIENCE
from tests.support.providers import catalog_for

from .doors import Door, Json, events_in

REASONING = "x-thoughtline-reasoning"


@asynccontextmanager
async def doors_of(up: Any, **more: Any) -> AsyncIterator[None]:
    """A house that asks the fake providers; nobody is limited, and keys of before open nothing."""
    async with house() as engine:
        engine.catalog = catalog_for(up, **more)
        await in_thread(_made_ready)()
        yield
    restarted()


def _made_ready() -> None:
    DailyLimit.objects.all().delete()
    ApiKey.objects.all().delete()


def restarted() -> None:
    """Of what was kept only the rows are left."""
    kept_rows.memory.forget()


async def key_of(owner: User, **chosen: Any) -> str:
    _, secret = await in_thread(keys.create_key)(owner, KeyChoices(name="Editor", **chosen))
    return secret


@dataclass(frozen=True)
class Answered:
    whole: Json
    headers: Mapping[str, str]

    @property
    def reasoning(self) -> dict[str, int]:
        """What was told of thoughts."""
        pairs = (pair.partition("=") for pair in self.headers[REASONING].split())
        return {name: int(number) for name, _, number in pairs}


class Program:
    """Asks by one key. `url`: of a server elsewhere, where it is not this process."""

    def __init__(self, key: str, *, url: str = "") -> None:
        self._key, self._url = key, url
        self._http = self._client()

    def _client(self) -> httpx.AsyncClient:
        transport = None if self._url else httpx.ASGITransport(app=cast(Any, http))
        bearer = {"authorization": f"Bearer {self._key}", "user-agent": "forgetful/1"}
        at = self._url or "http://localhost"
        return httpx.AsyncClient(transport=transport, base_url=at, headers=bearer, timeout=PATIENCE)

    async def close(self) -> None:
        await self._http.aclose()

    async def connect_anew(self) -> None:
        await self.close()
        self._http = self._client()

    async def ask(self, door: Door, body: Json) -> Answered:
        response = await self.send("POST", door.path, json=body)
        assert response.status_code == 200, response.text
        if not body["stream"]:
            return Answered(response.json(), response.headers)
        return Answered(door.gathered([*events_in(response.text)]), response.headers)

    async def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        return await self._http.request(method, path, **more)
