"""Daphne reads a whole body, however large, into a file before the application hears of the request. Here it is refused as soon as
it is known to be too large, and what is taken is kept in memory alone."""

from __future__ import annotations

import asyncio
from io import BytesIO
from time import monotonic
from typing import Any

import daphne.server
from daphne.http_protocol import HTTPFactory, WebRequest

from .caps import LITTLE, beside_of, cap_of
from .long_messages import RoomyFactory
from .open_sockets import BURST, REST_SECONDS, Rate
from .reception import HEADER, PATIENCE, Refusal, RoomTaken, in_crumbs, seconds_for, sender_of, session_in

# As the sockets themselves have it, for servers other than Daphne.
openings = Rate(BURST, REST_SECONDS)
TOO_OFTEN = b"HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
# What still comes of a refused body is thrown away for so long, because closing at once would take the answer from whoever sends.
DRAINED, DRAINING_SECONDS = 32 * 1024 * 1024, 5.0


class ReaderPace:
    """Told by the connection whether it takes more, in Twisted's words. Daphne itself would keep all that a slow reader has not
    fetched yet in memory."""

    def __init__(self) -> None:
        self._takes_more = asyncio.Event()
        self._takes_more.set()

    async def wait(self) -> None:
        await self._takes_more.wait()

    def pauseProducing(self) -> None:
        self._takes_more.clear()

    def resumeProducing(self) -> None:
        self._takes_more.set()

    stopProducing = resumeProducing


class CappedRequest(WebRequest):
    """Its body is `allowed` so far; for more than a little, whoever sends it must be signed in, and is looked for meanwhile."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Django reads forms; Twisted would do it before, for nobody, and on the event loop.
        self._parsePOSTFormSubmission = False
        self._deadline, self._is_over, self._has_headers = monotonic() + PATIENCE, False, False
        self._allowed, self._pieces = LITTLE, 0
        self._length: int | None = None
        self._room = RoomTaken(self)
        self._looking: asyncio.Task[None] | None = None
        self._whole: tuple[bytes, bytes, bytes] | None = None
        self.reader: ReaderPace | None = None

    # What goes back

    def handle_reply(self, message: Any) -> None:
        more = message.get("more_body", False)
        if more and self.reader is None and self.channel and not self.finished:
            self.reader = ReaderPace()
            self.registerProducer(self.reader, True)
        super().handle_reply(message)

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
        if in_crumbs(self._pieces, size):
            self.refuse(Refusal.SLOW)
        elif size > self._allowed:
            self._ask_for_more(self._length or size)
        if not self._is_over:
            self._room.grow(size)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        self._whole = command, path, version
        if self._is_over or self._looking:
            return
        self._is_over = True
        self._room.arrived()
        if self.requestHeaders.hasHeader(b"Upgrade") and not openings.may(self._name()):
            # A page comes back by itself; a socket that is opened only to be closed would cost three times as much.
            self.channel.transport.write(TOO_OFTEN)
            self.channel.loseConnection()
            return
        super().requestReceived(command, path, version)
        if beside_of(self._path()):
            # The application has it by now, and may answer for minutes.
            self.content = BytesIO()
            self._room.leave()

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
        self._room.leave()
        if self.producer:
            self.unregisterProducer()
        super().finish()

    def connectionLost(self, reason: Any) -> None:
        self._is_over = True
        self._room.leave()
        if self.reader:
            self.reader.resumeProducing()
        super().connectionLost(reason)

    # What becomes of it

    def refuse(self, refusal: Refusal) -> None:
        """The application answers as if nothing were to come; what comes all the same is not kept."""
        self._is_over = True
        self._room.leave()
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
        sender = await sender_of(self._path(), self._header)
        self._looking = None
        if self._is_over:
            return
        if isinstance(sender, Refusal):
            self.refuse(sender)
        elif self._room.may_be_long(sender, self.content.tell()):
            self._allow(cap, waits)
        else:
            self.refuse(Refusal.MANY)

    def _allow(self, cap: int, waits: bool) -> None:
        self._allowed, self._deadline = cap, monotonic() + seconds_for(self._length or cap)
        if self._is_over:
            return
        if waits:
            self.channel._send100Continue()
        self.channel.transport.resumeProducing()
        if self._whole:
            self.requestReceived(*self._whole)

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


def install() -> None:
    """For every server of Daphne's that runs in this process from now on: ours, `runserver`, and its own command."""
    daphne.server.HTTPFactory, daphne.server.WebSocketFactory = CappedFactory, RoomyFactory
