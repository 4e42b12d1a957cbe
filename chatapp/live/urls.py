"""Every socket address."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from channels.routing import URLRouter
from channels.sessions import CookieMiddleware
from django.urls import path, re_path

from .socket import Listening

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


async def nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    """No such address: refused before anybody is looked up."""
    await receive()
    await send({"type": "websocket.close"})


listening = CookieMiddleware(Listening.as_asgi())
sockets = URLRouter(
    [path("ws/", listening), path("ws/c/<uuid:pk>/", listening), re_path("", cast(Any, nowhere))]
)
