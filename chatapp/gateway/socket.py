"""The Responses door over a WebSocket: one request after the other, each let in by itself."""

from __future__ import annotations

import asyncio
import logging
import time

from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import Error

from ..turns.engine import engine
from .answering import Answering, Program
from .doors import responses
from .doors.asked import Asked
from .doors.door import LIMITED, Frame, Wrong
from .doors.responses.reading import generates
from .doors.responses.socket import Remembered, body_in, message_of, refusal, too_old
from .doors.responses.writing import warmed
from .going_on import GoingOn
from .handed import Handed
from .http import address_of, headers_of, secret_in
from .refused import BROKEN, NO_DATABASE
from .serving import let_in_by

log = logging.getLogger(__name__)

# Requests that wait for those before them.
MOST_WAITING = 8
MINUTES = 60
# As HTTP would have refused it.
NOT_LET_IN, TOO_MUCH = 4401, 4429
TOO_MANY_WAIT = Wrong(
    429,
    LIMITED,
    f"{MOST_WAITING} requests wait on this connection already. Wait until one has been answered.",
    "rate_limit_exceeded",
    wait=2,
)


class RespondingSocket(AsyncWebsocketConsumer):
    async def connect(self) -> None:
        self._asked: asyncio.Queue[str | bytes] = asyncio.Queue(MOST_WAITING)
        self._remembered, self._opened = Remembered(), time.monotonic()
        self._work: asyncio.Task[None] | None = None
        self._headers = headers_of(self.scope)
        self._address = address_of(self.scope, self._headers)
        try:
            await self._let_in()
        except (Wrong, Error):
            # The handshake is refused: 403 is all that a server can say there.
            await self.close(NOT_LET_IN)
            return
        await self.accept()
        self._work = asyncio.create_task(self._answer_all())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            self._asked.put_nowait(text_data if text_data is not None else bytes_data or b"")
        except asyncio.QueueFull:
            await self.send(refusal(TOO_MANY_WAIT))

    async def disconnect(self, code: int) -> None:
        if self._work:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def _let_in(self) -> Program:
        return await let_in_by(secret_in(self._headers), self._address, self._headers)

    async def _answer_all(self) -> None:
        while True:
            message = await self._asked.get()
            if time.monotonic() - self._opened > MINUTES * 60:
                await self.send(refusal(too_old(MINUTES)))
                await self.close()
                return
            await self._answered(message)

    async def _answered(self, message: str | bytes) -> None:
        try:
            await self._answer(message)
        except Wrong as wrong:
            await self.send(refusal(wrong))
        except Error as error:
            log.warning("a program could not be served: %s", type(error).__name__)
            await self.send(refusal(NO_DATABASE))
        except Exception as error:
            log.error(
                "a request of a program broke: %s",
                type(error).__name__,
                exc_info=log.isEnabledFor(logging.DEBUG),
            )
            await self.send(refusal(BROKEN))

    async def _answer(self, message: str | bytes) -> None:
        program = await self._let_in()
        asked = responses.DOOR.read(body_in(message), self._headers)
        going_on = GoingOn(program, self._remembered)
        if not generates(asked):
            await self._warm_up(await going_on.whole(asked), going_on)
            return
        try:
            answering = Answering(
                engine(), responses.DOOR, await going_on.whole(asked), program, keep_whole=going_on.keep
            )
            try:
                await answering.prepare()
                await self._told(answering)
            finally:
                await answering.close()
        except Wrong:
            going_on.forget()
            raise
        if answering.has_failed:
            going_on.forget()

    async def _warm_up(self, asked: Asked, going_on: GoingOn) -> None:
        handed = Handed()
        frames, response = warmed(asked, handed, int(time.time()))
        await going_on.keep(handed.secret, response)
        for frame in frames:
            await self.send(message_of(frame))

    async def _told(self, answering: Answering) -> None:
        said: asyncio.Queue[list[Frame] | None] = asyncio.Queue()
        running = asyncio.create_task(answering.run(said.put_nowait))
        running.add_done_callback(lambda _: said.put_nowait(None))
        try:
            while frames := await said.get():
                for frame in frames:
                    await self.send(message_of(frame))
            await running
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
