"""The same caps for servers that hand a body over while it comes. A request takes a place among those that are served when it is
whole, so that nobody holds a place by being slow."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from django.db import Error

from ...core.named import number
from ...store import in_thread
from .caps import LITTLE, cap_of
from .reception import HEADER, Refusal, person_of, seconds_for

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[Any]]
NAME = HEADER.lower().encode()
EMPTY = {"type": "http.request", "body": b"", "more_body": False}


class BodyRefused(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


class Capped:
    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        read: deque[Message] = deque()
        try:
            await _read_ahead(scope, receive, read)
        except BodyRefused as refused:
            scope = scope | {"headers": [*scope["headers"], (NAME, refused.refusal.encode())]}
            read, receive = deque([EMPTY]), _nothing_more

        async def again() -> Message:
            return read.popleft() if read else await receive()

        await self._application(scope, again, send)


async def _nothing_more() -> Message:
    """Whoever listens is cancelled when the answer is out."""
    never: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
    return await never


async def _read_ahead(scope: Scope, receive: Receive, read: deque[Message]) -> None:
    """The whole body, or what tells that it will never come."""
    headers = dict(scope["headers"])
    if NAME in headers:
        return
    length = number(headers.get(b"content-length", b"").decode("latin-1")) or 0
    allowed, size, more = LITTLE, 0, True
    if length > allowed:
        allowed = await _allowed(scope, length)
    try:
        async with asyncio.timeout(seconds_for(length or allowed)) as limit:
            while more:
                message = await receive()
                read.append(message)
                size += len(message.get("body", b""))
                if size > allowed:
                    allowed = await _allowed(scope, size)
                    limit.reschedule(asyncio.get_running_loop().time() + seconds_for(allowed))
                more = message.get("more_body", False)
    except TimeoutError:
        raise BodyRefused(Refusal.SLOW) from None


async def _allowed(scope: Scope, size: int) -> int:
    """How much may come, where it is more than a little already."""
    cap = cap_of(scope["method"], scope["path"])
    if size > cap:
        raise BodyRefused(Refusal.LARGE)
    try:
        person = await in_thread(person_of)(scope["path"], partial(_header, scope))
    except Error:
        raise BodyRefused(Refusal.CROWDED) from None
    if person is None:
        raise BodyRefused(Refusal.SIGNED_OUT)
    return cap


def _header(scope: Scope, name: str) -> str:
    """Over HTTP/2 cookies may come in several."""
    wanted = name.encode()
    return b"; ".join(value for name, value in scope["headers"] if name == wanted).decode("latin-1")
