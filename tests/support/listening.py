"""A listening socket as the server hands it to the application, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.auth.models import User

from chatapp.live.urls import sockets
from chatapp.store import in_thread

from .frames import Frames
from .front import house, session_of
from .patience import PATIENCE


class Socket(WebsocketCommunicator):
    """`said`: all operations that came. `code`: how it was closed."""

    def __init__(
        self,
        path: str,
        session: str = "",
        *,
        origin: str | None = "http://localhost",
        host: str = "localhost",
    ) -> None:
        given = {"host": host, "origin": origin, "cookie": f"{settings.SESSION_COOKIE_NAME}={session}"}
        headers = [
            (name.encode(), value.encode("latin-1")) for name, value in given.items() if value is not None
        ]
        super().__init__(sockets, path, headers=headers)
        self.said: list[list[Any]] = []
        self._frames = Frames()
        self.code: int | None = None

    async def open(self) -> Socket:
        await self.send_input({"type": "websocket.connect"})
        await self._take()
        return self

    @property
    def is_open(self) -> bool:
        return self.code is None

    async def sees(self, look: Callable[[Socket], Any]) -> None:
        while not look(self):
            await self._take()

    async def is_told(self, name: str) -> None:
        """Until an operation of this name has come."""
        await self.sees(lambda socket: any(operation[0] == name for operation in socket.said))

    async def is_closed(self) -> int:
        await self.sees(lambda socket: socket.code is not None)
        assert self.code is not None
        return self.code

    async def answer(self, *, text: str | None = None, data: bytes | None = None) -> None:
        await self.send_input({"type": "websocket.receive", "text": text, "bytes": data})

    async def leave(self) -> None:
        """The browser goes away."""
        await self.send_input({"type": "websocket.disconnect", "code": 1001})
        await self.wait()

    async def _take(self) -> None:
        event = await self.receive_output(PATIENCE)
        match event["type"]:
            case "websocket.accept":
                pass
            case "websocket.close":
                self.code = event.get("code") or 1000
            case "websocket.send":
                self.said += self._frames.read(event["text"])
            case other:
                raise AssertionError(other)


@asynccontextmanager
async def listening(*people: User, path: str = "/ws/", **more):
    """A socket for each of them, in the order of their names here."""
    async with house():
        sockets = [Socket(path, await in_thread(session_of)(each), **more) for each in people]
        for socket in sockets:
            await socket.open()
        try:
            yield sockets[0] if len(sockets) == 1 else sockets
        finally:
            for socket in sockets:
                await socket.leave()
