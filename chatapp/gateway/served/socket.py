"""The Responses door over a WebSocket: one request after the other, each let in by itself."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import Error

from ...pages.visitors import same_origin
from ...store import in_writer
from ...turns.engine import engine
from ..asking.answering import Answering, Caller
from ..asking.troubles import BROKEN
from ..asking.under_way import noted
from ..doors import responses
from ..doors.asked import ProgramRequest
from ..doors.door import UNKNOWN_KEY, Frame, Wrong
from ..doors.handed import Handed
from ..doors.responses.reading import generates
from ..doors.responses.socket import body_in, message_of, refusal, too_old
from ..doors.responses.writing import warmed
from .going_on import GoingOn
from .held import held
from .http import address_of, apart, headers_of, secret_in
from .refused import NO_DATABASE, wrong_for
from .remembered import Remembered
from .serving import let_in_by
from .waiting import Waiting

log = logging.getLogger(__name__)

# Of one person: each holds what its program sent and was told.
MOST_OPEN = 32
OPEN: Counter[int] = Counter()
MINUTES = 60
# As HTTP would have refused it.
NOT_LET_IN, TOO_MUCH = 4401, 4429


class RespondingSocket(AsyncWebsocketConsumer):
    async def connect(self) -> None:
        self._owner = 0
        self._ends = asyncio.get_running_loop().time() + MINUTES * 60
        self._work: asyncio.Task[None] | None = None
        self._headers = headers_of(self.scope)
        self._address = address_of(self.scope, self._headers)
        # No program has an origin, and no page can send a key.
        if "origin" in self._headers and not same_origin(dict(self.scope["headers"])):
            await self.close(NOT_LET_IN)
            return
        try:
            key = (await self._let_in()).key
        except (Wrong, Error):
            # The handshake is refused: 403 is all that a server can say there.
            await self.close(NOT_LET_IN)
            return
        owner, self._key = key.owner_id, key.pk
        if OPEN[owner] >= MOST_OPEN:
            await self.close(TOO_MUCH)
            return
        self._owner, self._asked, self._remembered = owner, Waiting(owner), Remembered(owner)
        OPEN[owner] += 1
        await self.accept()
        self._work = asyncio.create_task(self._answer_all())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            self._asked.add(text_data if text_data is not None else bytes_data or b"")
        except Wrong as wrong:
            await self.send(refusal(wrong))

    async def websocket_refused(self, message: Mapping[str, Any]) -> None:
        """The door took no message in its place."""
        await self.send(refusal(wrong_for(message["refusal"], has_key=True)))

    async def disconnect(self, code: int) -> None:
        if self._owner:
            OPEN[self._owner] -= 1
            if not OPEN[self._owner]:
                del OPEN[self._owner]
            self._asked.close()
        if self._work:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
            self._remembered.close()

    async def _let_in(self) -> Caller:
        return await let_in_by(secret_in(self._headers), self._address, self._headers)

    @property
    def key(self) -> UUID:
        return self._key

    def give_up(self, wrong: Wrong) -> None:
        """Whoever waits here is refused as if they had asked."""
        with suppress(Wrong):
            self._asked.add("")

    async def _answer_all(self) -> None:
        try:
            with noted(self):
                while self._may_stay:
                    async with asyncio.timeout_at(self._ends):
                        message = await self._asked.next()
                    await self._answered(message)
            await self.close(NOT_LET_IN)
        except TimeoutError:
            await self.send(refusal(too_old(MINUTES)))
            await self.close()

    _may_stay = True

    async def _answered(self, message: str | bytes) -> None:
        try:
            await self._answer(message)
        except Wrong as wrong:
            await self.send(refusal(wrong))
            self._may_stay = wrong.kind != UNKNOWN_KEY
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
        with held(program.key.owner_id, len(message)):
            await self._answer_as(program, message)

    async def _answer_as(self, program: Caller, message: str | bytes) -> None:
        asked = await apart(lambda: responses.DOOR.read(body_in(message), self._headers), len(message))
        going_on = GoingOn(program, self._remembered, sent=len(message))
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
