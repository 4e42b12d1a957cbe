"""A server that ends without a gap: nobody new comes in, pages go to another process, and what is being answered is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from daphne.http_protocol import WebRequest
from daphne.server import Server
from twisted.internet.defer import Deferred

from ...processes.itself import ITSELF
from .open_sockets import OPEN


class DrainingServer(Server):
    """`notice`: for how long it says that it is about to end before it closes its door, since whoever stands before a closed one has
    come in vain. `seconds`: for how long it waits then at most. `afterwards`: what is left to be done."""

    def __init__(
        self,
        *args: Any,
        notice: float,
        seconds: float,
        afterwards: Callable[[], Awaitable[None]],
        **more: Any,
    ) -> None:
        super().__init__(*args, **more)
        self._notice, self._seconds, self._afterwards = notice, seconds, afterwards

    async def handle_reply(self, protocol: Any, message: Any) -> None:
        """Returns when more of it is wanted."""
        await super().handle_reply(protocol, message)
        if reader := getattr(protocol, "reader", None):
            await reader.wait()

    def listen_success(self, port: Any) -> Any:
        """Daphne forgets it, and it is to be closed some day."""
        super().listen_success(port)
        return port

    def kill_all_applications(self) -> Deferred[Any]:
        """Before it ends."""
        draining: Deferred[Any] = Deferred.fromFuture(asyncio.ensure_future(self._drain()))
        return draining.addBoth(lambda _: super(DrainingServer, self).kill_all_applications())

    async def _drain(self) -> None:
        ITSELF.is_ending = True
        await asyncio.sleep(self._notice)
        await asyncio.gather(*(_closed(listener) for listener in self.listeners))
        await OPEN.send_away()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._seconds):
                while answering := self._answering():
                    await asyncio.wait(answering)
        await self._afterwards()

    def _answering(self) -> list[asyncio.Task[Any]]:
        """Requests, not sockets: their pages have gone."""
        applications = (
            details.get("application_instance")
            for protocol, details in self.connections.items()
            if isinstance(protocol, WebRequest)
        )
        return [application for application in applications if application and not application.done()]


async def _closed(listener: Deferred[Any]) -> None:
    """Its port takes nobody in any more."""
    listener.addCallback(lambda port: port and port.stopListening())
    await listener.asFuture(asyncio.get_running_loop())
