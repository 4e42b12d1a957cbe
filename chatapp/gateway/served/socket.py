"""The Responses door over a WebSocket: one request after the other, each let in by itself."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter

from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import Error

from ...store import in_writer
from ...turns.engine import engine
from ..asking.answering import Answering, Caller
from ..doors import responses
from ..doors.asked import ProgramRequest
from ..doors.door import LIMITED, Frame, Wrong
from ..doors.handed import Handed
from ..doors.responses.reading import generates
from ..doors.responses.socket import Remembered, body_in, message_of, refusal, too_old
from ..doors.responses.writing import warmed
from .going_on import GoingOn
from .http import address_of, headers_of, secret_in
from .refused import BROKEN, LONGEST_BODY, NO_DATABASE
from .serving import let_in_by

log = logging.getLogger(__name__)

# Requests that wait for those before them, and how long they may be together.
MOST_WAITING, LONGEST_WAITING = 8, LONGEST_BODY
# Of one person: each holds what its program sent and was told.
MOST_OPEN = 32
OPEN: Counter[int] = Counter()
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


class _Waiting:
    """Messages in their order."""

    def __init__(self) -> None:
        self._messages: asyncio.Queue[str | bytes] = asyncio.Queue(MOST_WAITING)
        self._length = 0

    def may_wait(self, message: str | bytes) -> bool:
        """From now on it does, if there is room for it."""
        if self._messages.full() or (self._length and self._length + len(message) > LONGEST_WAITING):
            return False
        self._messages.put_nowait(message)
        self._length += len(message)
        return True

    async def next(self) -> str | bytes:
        message = await self._messages.get()
        self._length -= len(message)
        return message


class RespondingSocket(AsyncWebsocketConsumer):
    async def connect(self) -> None:
        self._asked, self._owner = _Waiting(), 0
        self._remembered = Remembered()
        self._ends = asyncio.get_running_loop().time() + MINUTES * 60
        self._work: asyncio.Task[None] | None = None
        self._headers = headers_of(self.scope)
        self._address = address_of(self.scope, self._headers)
        try:
            owner = (await self._let_in()).key.owner_id
        except (Wrong, Error):
            # The handshake is refused: 403 is all that a server can say there.
            await self.close(NOT_LET_IN)
            return
        if OPEN[owner] >= MOST_OPEN:
            await self.close(TOO_MUCH)
            return
        self._owner = owner
        OPEN[owner] += 1
        await self.accept()
        self._work = asyncio.create_task(self._answer_all())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if not self._asked.may_wait(text_data if text_data is not None else bytes_data or b""):
            await self.send(refusal(TOO_MANY_WAIT))

    async def disconnect(self, code: int) -> None:
        if self._owner:
            OPEN[self._owner] -= 1
            if not OPEN[self._owner]:
                del OPEN[self._owner]
        if self._work:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def _let_in(self) -> Caller:
        return await let_in_by(secret_in(self._headers), self._address, self._headers)

    async def _answer_all(self) -> None:
        try:
            while True:
                async with asyncio.timeout_at(self._ends):
                    message = await self._asked.next()
                await self._answered(message)
        except TimeoutError:
            await self.send(refusal(too_old(MINUTES)))
            await self.close()

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

    async def _warm_up(self, asked: ProgramRequest, going_on: GoingOn) -> None:
        handed = Handed()
        frames, response = warmed(asked, handed, int(time.time()))
        if write := going_on.keep(handed.secret, response):
            await in_writer(write)()
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
