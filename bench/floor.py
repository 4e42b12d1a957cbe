"""The least that a server of this kind does, to measure ours by: Daphne, a consumer of Channels that asks the provider over httpx and sends
a frame for each delta, and a view that writes two rows for somebody who is signed in. It keeps nothing, draws nothing and knows nobody.

`bench.live` serves it, with `bench.floor_settings`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any
from uuid import uuid4

import django
import httpx
from channels.generic.websocket import AsyncWebsocketConsumer
from channels.routing import ProtocolTypeRouter
from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server
from django.contrib.auth.decorators import login_required
from django.core.asgi import get_asgi_application
from django.core.management import call_command
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from django.views.decorators.http import require_POST

django.setup()

from django.contrib.auth.models import Group, User  # noqa: E402


@require_POST
@login_required
@transaction.atomic
def write(request: HttpRequest) -> HttpResponse:
    for _ in range(2):
        Group.objects.create(name=str(uuid4()))
    return HttpResponse("written")


urlpatterns = [path("", write)]


END = "\0"


class Relay(AsyncWebsocketConsumer):
    """A word is a question; its answer comes a frame a delta, and `END` after it."""

    provider = ""
    http: httpx.AsyncClient

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        self._asking = asyncio.create_task(self._ask(text_data or ""))

    async def _ask(self, question: str) -> None:
        body = {"input": [{"role": "user", "content": question}], "stream": True}
        async with self.http.stream("POST", f"{self.provider}/responses", json=body) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: ") and (delta := json.loads(line[6:]).get("delta")):
                    await self.send(text_data=delta)
        await self.send(text_data=END)


def main(provider: str) -> None:
    call_command("migrate", verbosity=0)
    client = Client()
    client.force_login(User.objects.create_user("somebody"))
    Relay.provider = provider
    Relay.http = httpx.AsyncClient(timeout=None, trust_env=False, limits=httpx.Limits(max_connections=None))
    routes: Any = {"http": get_asgi_application(), "websocket": Relay.as_asgi()}
    server = Server(
        ProtocolTypeRouter(routes),
        endpoints=build_endpoint_description_strings(host="127.0.0.1", port=0),
        signal_handlers=False,
        ready_callable=lambda: print(
            server.listening_addresses[0][1], client.cookies["sessionid"].value, flush=True
        ),
    )
    server.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
