"""What is done at each address of `/v1/`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from ...pages.door.caps import BESIDE
from ...pages.door.open_sockets import Rate
from ...pages.door.reception import SENDERS
from ...store import in_thread
from ...turns.engine import engine
from ..asking.answering import Answering, Caller
from ..asking.troubles import WRONG_KEY
from ..doors import responses
from ..doors.door import Door, Frame, Wrong
from ..models import ApiKey
from ..store.keys import find_key, seen_key
from .going_on import GoingOn
from .held import held
from .http import DoorConnection, DoorRequest, Handler, secret_in
from .refused import LONGEST_BODY, NO_KEY, too_often

# Of one key; of one address, the keys that open nothing.
by_key, wrong_keys = Rate(2_000, 0.002), Rate(20, 3.0)
# An answer is begun when its model says something, or after so long; then it is heard of at least so often.
BEGUN_SECONDS, PING_SECONDS = 5.0, 15.0


async def let_in(request: DoorRequest) -> Caller:
    return await let_in_by(request.secret, request.address, request.headers)


async def let_in_by(secret: str, address: str, headers: Mapping[str, str]) -> Caller:
    """A key that opens something is let in wherever it comes from: whoever tries wrong ones there slows nobody down."""
    if not secret:
        raise replace(NO_KEY)
    key = opened(await in_thread(find_key)(secret), address)
    return Caller(key=key, name=_program_in(headers))


@asynccontextmanager
async def expected(request: DoorRequest) -> AsyncIterator[Caller]:
    """Lets in whoever comes with a key that was seen before, without looking for it again: the request that is begun inside asks whether
    it opens anything still. So does this, before anything else that is wrong is told."""
    key = seen_key(request.secret)
    if key is None:
        yield await let_in(request)
        return
    try:
        yield Caller(key=opened(key, request.address), name=_program_in(request.headers))
    except Wrong:
        await let_in(request)
        raise


def _program_in(headers: Mapping[str, str]) -> str:
    return headers.get("user-agent", "").partition("/")[0]


def opened(key: ApiKey | None, address: str) -> ApiKey:
    """What was found for a secret. Whoever comes with wrong ones is told so no more often than now and then."""
    if key is None:
        raise replace(WRONG_KEY) if wrong_keys.may(address) else too_often(5)
    if not by_key.may(str(key.pk)):
        raise too_often(2)
    return key


def asks(door: Door) -> Handler:
    async def ask(request: DoorRequest, connection: DoorConnection) -> None:
        async with AsyncExitStack() as at_the_end:
            async with expected(request) as program:
                answering, length = await _asked(door, request, program)
                at_the_end.enter_context(held(program.key.owner_id, length))
                at_the_end.push_async_callback(answering.close)
                await answering.prepare()
            await (_streamed if answering.asked.stream else _whole)(answering, connection)

    return ask


async def _asked(door: Door, request: DoorRequest, program: Caller) -> tuple[Answering, int]:
    """With how much it holds in memory."""
    asked = await request.read(door.read)
    going_on = GoingOn(program) if door is responses.DOOR else None
    if going_on:
        asked = await going_on.whole(asked)
    keep_whole = going_on.keep if going_on and asked.store else None
    again = request.headers.get("idempotency-key", "")[:200]
    answering = Answering(engine(), door, asked, program, keep_whole=keep_whole, again=again)
    return answering, len(request.body) + (going_on.length if going_on else 0)


async def _whole(answering: Answering, connection: DoorConnection) -> None:
    await answering.run(unheard)
    if answering.wrong:
        raise answering.wrong
    await connection.answer(200, answering.whole(), answering.headers)


def unheard(frames: list[Frame]) -> None:
    """All of it is told at the end."""


async def _streamed(answering: Answering, connection: DoorConnection) -> None:
    outgoing = _Outgoing()
    running = asyncio.create_task(answering.run(outgoing.tell))
    running.add_done_callback(outgoing.wake)
    alive = asyncio.create_task(outgoing.keep_alive(answering))
    try:
        while outgoing.told or not running.done():
            frames = await outgoing.next()
            if frames and not connection.has_begun:
                await connection.begin_stream(answering.headers)
            if frames:
                await connection.stream(frames)
        running.result()
        await connection.end_stream()
    finally:
        for task in (running, alive):
            task.cancel()
        await asyncio.gather(running, alive, return_exceptions=True)


class _Outgoing:
    """What is to be told next. One clock beside all frames: one for each of them would cost as much as the frame."""

    def __init__(self) -> None:
        self.told: list[Frame] = []
        self._woken, self._heard = asyncio.Event(), 0

    def tell(self, frames: list[Frame]) -> None:
        self.told.extend(frames)
        self._heard += 1
        self._woken.set()

    def wake(self, _: object) -> None:
        self._woken.set()

    async def next(self) -> list[Frame]:
        await self._woken.wait()
        self._woken.clear()
        frames, self.told = self.told, []
        return frames

    async def keep_alive(self, answering: Answering) -> None:
        seconds = BEGUN_SECONDS
        while True:
            heard = self._heard
            await asyncio.sleep(seconds)
            if heard == self._heard:
                self.tell(answering.still_thinking())
            seconds = PING_SECONDS


def sender(header: Callable[[str], str]) -> int | None:
    """Whose key it is, where a body is long."""
    found = find_key(secret_in({"authorization": header("authorization"), "x-api-key": header("x-api-key")}))
    return found.owner_id if found else None


BESIDE["/v1/"], SENDERS["/v1/"] = LONGEST_BODY, sender
