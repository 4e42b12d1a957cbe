"""The front door of the house in this process: requests with real cookies, each in a thread of its own, on the loop of the story."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from django.utils.crypto import get_random_string

from chatapp.asgi import http
from chatapp.store import in_thread
from chatapp.turns.engine import Engine, engine

from .apart import close_engine, work_beside

HTMX = {"HX-Request": "true"}


@asynccontextmanager
async def house() -> AsyncIterator[Engine]:
    """An engine that nobody had before and nobody gets afterwards."""
    await close_engine()
    try:
        async with work_beside(engine()):
            yield engine()
    finally:
        await close_engine()
        await sync_to_async(connections.close_all)()


class Visitor:
    """Somebody's browser without scripts; with `headers=HTMX` as our page asks."""

    def __init__(self, session: str) -> None:
        self.session, self.token = session, get_random_string(32)
        cookies = {"csrftoken": self.token} | ({settings.SESSION_COOKIE_NAME: session} if session else {})
        transport = httpx.ASGITransport(app=http)
        self._http = httpx.AsyncClient(transport=transport, base_url="http://localhost", cookies=cookies)

    async def get(self, path: str, **more: Any) -> httpx.Response:
        return await self.send("GET", path, **more)

    async def post(self, path: str, data: Mapping[str, Any] | None = None, **more: Any) -> httpx.Response:
        return await self.send("POST", path, data={"csrfmiddlewaretoken": self.token, **(data or {})}, **more)

    async def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        return await self._http.request(method, path, **more)


async def visitor(user: User | None = None) -> Visitor:
    """Signed in, where somebody is named."""
    return Visitor(await in_thread(session_of)(user) if user else "")


def session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)
