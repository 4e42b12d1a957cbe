"""Daphne reads a whole body, however large, into a file before the application hears of the request. Here it is refused as soon as
it is known to be too large, and what is taken is kept in memory alone."""

from __future__ import annotations

import asyncio
from io import BytesIO
from time import monotonic
from typing import Any

import daphne.server
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from django.db import Error

from ...store import in_thread
from .caps import BESIDE, LITTLE, beside_of, cap_of
from .open_sockets import BURST, REST_SECONDS, Rate
from .reception import (
    HEADER,
    MOST_OF_ONE,
    PATIENCE,
    Pool,
    Refusal,
    little_ones,
    long_ones,
    person_of,
    seconds_for,
    senders,
    session_in,
)

# In more pieces than this nobody sends anything who means well; each costs as much as a hundred bytes.
MOST_PIECES = 10_000
# As the sockets themselves have it, for servers other than Daphne.
openings = Rate(BURST, REST_SECONDS)
TOO_OFTEN = b"HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
# What still comes of a refused body is thrown away for so long, because closing at once would take the answer from whoever sends.
DRAINED, DRAINING_SECONDS = 32 * 1024 * 1024, 5.0


class CappedRequest(WebRequest):
    """Its body is `allowed` so far; for more than a little, whoever sends it must be signed in, and is looked for meanwhile."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Django reads forms; Twisted would do it before, for nobody, and on the event loop.
        self._parsePOSTFormSubmission = False
        self._deadline, self._is_over, self._has_headers = monotonic() + PATIENCE, False, False
        self._allowed, self._pieces = LITTLE, 0
        self._length: int | None = None
        self._pool: Pool = little_ones
        self._person: int | None = None
        self._looking: asyncio.Task[None] | None = None
        self._whole: tuple[bytes, bytes, bytes] | None = None

    # What Twisted tells

    def gotLength(self, length: int | None) -> None:
        """All headers are here."""
        self.content, self._length, self._has_headers = BytesIO(), length, True
        self._deadline = monotonic() + seconds_for(LITTLE)
        if length == 0:
            return
        if self.requestHeaders.hasHeader(b"Upgrade"):
            self.refuse(Refusal.LARGE)
        elif length is not None and length > LITTLE:
            self._ask_for_more(length)

    def handleContentChunk(self, data: bytes) -> None:
        if self._is_over:
            return
        self.content.write(data)
        size = self.content.tell()
        self._pieces += 1
        if self._pieces > MOST_PIECES:
            self.refuse(Refusal.SLOW)
        elif size > self._allowed:
            self._ask_for_more(self._length or size)
        if not self._is_over:
            self._pool.grow(self, size)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        self._whole = command, path, version
        if self._is_over or self._looking:
            return
        self._is_over = True
        self._pool.arrived(self)
        if self.requestHeaders.hasHeader(b"Upgrade") and not openings.may(self._name()):
            # A page comes back by itself; a socket that is opened only to be closed would cost three times as much.
            self.channel.transport.write(TOO_OFTEN)
            self.channel.loseConnection()
            return
        super().requestReceived(command, path, version)
        if beside_of(self._path()):
            # The application has it by now, and may answer for minutes.
            self.content = BytesIO()
            self._leave()

    def check_timeouts(self) -> None:
        """Every two seconds."""
        if not self._is_over and monotonic() > self._deadline:
            if self._has_headers:
                self.refuse(Refusal.SLOW)
            else:
                self._is_over = True
                self.channel.transport.abortConnection()
        super().check_timeouts()

    def finish(self) -> None:
        self._leave()
        super().finish()

    def connectionLost(self, reason: Any) -> None:
        self._is_over = True
        self._leave()
        super().connectionLost(reason)

    # What becomes of it

    def refuse(self, refusal: Refusal) -> None:
        """The application answers as if nothing were to come; what comes all the same is not kept."""
        self._is_over = True
        self._leave()
        self.content = BytesIO()
        for name in (b"Expect", b"Upgrade"):
            self.requestHeaders.removeHeader(name)
        self.requestHeaders.setRawHeaders(HEADER.encode(), [refusal.encode()])
        self.responseHeaders.setRawHeaders(b"Connection", [b"close"])
        _Drain(self.channel)
        super().requestReceived(*self._line())

    def _ask_for_more(self, size: int) -> None:
        cap = cap_of(self._line()[0].decode("latin-1"), self._path())
        if size > cap:
            self.refuse(Refusal.LARGE)
            return
        self.channel.transport.pauseProducing()
        if self._looking is None:
            # Of a body whose length is not said it was told to go on already.
            waits = self._length is not None and self.requestHeaders.hasHeader(b"Expect")
            self.requestHeaders.removeHeader(b"Expect")
            self._looking = asyncio.ensure_future(self._look_who_it_is(cap, waits))

    async def _look_who_it_is(self, cap: int, waits: bool) -> None:
        try:
            person = await in_thread(person_of)(self._path(), self._header)
        except Error:
            person, refusal = None, Refusal.CROWDED
        else:
            refusal = Refusal.SIGNED_OUT if person is None else Refusal.MANY
        self._looking = None
        if self._is_over:
            return
        if person is None or senders[person] >= MOST_OF_ONE:
            self.refuse(refusal)
        else:
            self._allow(person, cap, waits)

    def _allow(self, person: int, cap: int, waits: bool) -> None:
        self._leave()
        self._pool, self._person, self._allowed = long_ones, person, cap
        senders[person] += 1
        self._deadline = monotonic() + seconds_for(self._length or cap)
        self._pool.grow(self, self.content.tell())
        if self._is_over:
            return
        if waits:
            self.channel._send100Continue()
        self.channel.transport.resumeProducing()
        if self._whole:
            self.requestReceived(*self._whole)

    def _leave(self) -> None:
        self._pool.leave(self)
        if self._person is not None:
            senders[self._person] -= 1
            if not senders[self._person]:
                del senders[self._person]
            self._person = None

    def _header(self, name: str) -> str:
        return b"; ".join(self.requestHeaders.getRawHeaders(name.encode(), [])).decode("latin-1")

    def _name(self) -> str:
        """Whose session or key it is."""
        return (
            session_in(self._header("cookie")) or self._header("authorization") or self._header("x-api-key")
        )

    def _path(self) -> str:
        return self._line()[1].partition(b"?")[0].decode("latin-1")

    def _line(self) -> tuple[bytes, bytes, bytes]:
        channel = self.channel
        return self._whole or (channel._command, channel._path, channel._version)


class _Drain:
    """Takes the place of what the connection does with further data, and of its end: the answer goes out, then nothing more."""

    def __init__(self, channel: Any) -> None:
        self._channel, self._left = channel, DRAINED
        channel.persistent = False
        channel.dataReceived = self._throw_away
        channel.loseConnection = self._close_our_side
        # Until the answer is written nobody has to send more.
        channel.transport.pauseProducing()

    def _throw_away(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left < 0:
            self._channel.transport.abortConnection()

    def _close_our_side(self) -> None:
        transport = self._channel.transport
        transport.unregisterProducer()
        transport.loseWriteConnection()
        transport.resumeProducing()
        self._channel.callLater(DRAINING_SECONDS, transport.abortConnection)


class CappedFactory(HTTPFactory):
    def buildProtocol(self, addr: Any) -> Any:
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = CappedRequest
        return protocol


class RoomyProtocol(WebSocketProtocol):
    """What a page says over its socket is short; what a program asks is not."""

    def onConnect(self, request: Any) -> Any:
        if beside := beside_of(request.path):
            self.maxMessagePayloadSize = self.maxFramePayloadSize = BESIDE[beside]
        return super().onConnect(request)


class RoomyFactory(WebSocketFactory):
    protocol = RoomyProtocol


def install() -> None:
    """For every server of Daphne's that runs in this process from now on: ours, `runserver`, and its own command."""
    daphne.server.HTTPFactory, daphne.server.WebSocketFactory = CappedFactory, RoomyFactory
