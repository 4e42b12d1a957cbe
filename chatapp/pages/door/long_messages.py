"""Messages of sockets to which programs send long ones: while they come they are counted like bodies, and refused like these."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any, Protocol

from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol

from .caps import BESIDE, LITTLE, beside_of
from .reception import Refusal, RoomTaken, in_crumbs, seconds_for, sender_of

# What the application is told instead of a message that was refused.
REFUSED = "websocket.refused"


class MessageLine(Protocol):
    """On which it comes. `find_sender`: whose connection it is."""

    async def find_sender(self) -> int | Refusal: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def drop(self, refusal: Refusal) -> None:
        """What has come of it is forgotten."""


class ComingMessage:
    """It is `allowed` so far; for more than a little its sender is looked for meanwhile."""

    def __init__(self, line: MessageLine, cap: int) -> None:
        self._line, self._cap = line, cap
        self._room = RoomTaken(self)
        self._deadline = monotonic() + seconds_for(LITTLE)
        self._size, self._pieces, self._allowed = 0, 0, LITTLE
        self._looking: asyncio.Task[None] | None = None
        self._is_over = self.is_refused = False

    def grow(self, length: int) -> None:
        """So much more has come."""
        self._size += length
        self._pieces += 1
        if in_crumbs(self._pieces, self._size):
            self.refuse(Refusal.SLOW)
        elif self._size > self._allowed and self._looking is None:
            self._line.pause()
            self._looking = asyncio.ensure_future(self._look_who_it_is())
        if not self._is_over:
            self._room.grow(self._size)

    def end(self) -> None:
        self._is_over = True
        self._room.leave()

    def refuse(self, refusal: Refusal) -> None:
        self.is_refused = True
        self.end()
        self._line.drop(refusal)

    def check_deadline(self) -> None:
        if not self._is_over and monotonic() > self._deadline:
            self.refuse(Refusal.SLOW)

    async def _look_who_it_is(self) -> None:
        try:
            sender = await self._line.find_sender()
            if not self._is_over:
                self._allow(sender)
        finally:
            self._line.resume()

    def _allow(self, sender: int | Refusal) -> None:
        if isinstance(sender, Refusal):
            self.refuse(sender)
        elif self._room.may_be_long(sender, self._size):
            self._allowed, self._deadline = self._cap, monotonic() + seconds_for(self._cap)
        else:
            self.refuse(Refusal.MANY)


class RoomyProtocol(WebSocketProtocol):
    """What a page says over its socket is short; what a program asks is not."""

    _cap = 0
    _coming: ComingMessage | None = None

    def onConnect(self, request: Any) -> Any:
        if beside := beside_of(request.path):
            self._cap = self.maxMessagePayloadSize = self.maxFramePayloadSize = BESIDE[beside]
        return super().onConnect(request)

    # The protocol under us words each message in colours for a log that nobody reads, which takes three quarters of its time.
    def sendData(self, data: bytes, sync: bool = False, chopsize: int | None = None) -> None:
        if sync or chopsize or self.send_queue:
            super().sendData(data, sync, chopsize)
        else:
            self.transport.write(data)

    def onMessageBegin(self, isBinary: bool) -> None:
        super().onMessageBegin(isBinary)
        self._coming = ComingMessage(self, self._cap) if self._cap else None

    def onMessageFrameData(self, payload: bytes) -> None:
        if self._coming and not self._coming.is_refused:
            self._coming.grow(len(payload))
        if not (self._coming and self._coming.is_refused):
            super().onMessageFrameData(payload)

    def onMessageEnd(self) -> None:
        coming, self._coming = self._coming, None
        if coming:
            coming.end()
        if coming and coming.is_refused:
            self.message_data = None
        else:
            super().onMessageEnd()

    def check_timeouts(self) -> None:
        """Every two seconds."""
        if self._coming:
            self._coming.check_deadline()
        super().check_timeouts()

    def onClose(self, wasClean: bool, code: int | None, reason: str | None) -> None:
        if self._coming:
            self._coming.end()
        super().onClose(wasClean, code, reason)

    # What a coming message needs

    async def find_sender(self) -> int | Refusal:
        headers = dict(self.clean_headers)

        def header(name: str) -> str:
            return str(headers.get(name.encode(), b""), "latin-1")

        return await sender_of(self.path.decode("ascii"), header)

    def pause(self) -> None:
        self.transport.pauseProducing()

    def resume(self) -> None:
        self.transport.resumeProducing()

    def drop(self, refusal: Refusal) -> None:
        come: tuple[Any, ...] = (self.message_data, self.frame_data)
        for pieces in filter(None, come):
            pieces.clear()
        self.application_queue.put_nowait({"type": REFUSED, "refusal": refusal})


class RoomyFactory(WebSocketFactory):
    protocol = RoomyProtocol
