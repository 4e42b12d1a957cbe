"""What is done at each address of `/v1/`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

from ...pages.door.caps import BESIDE
from ...pages.door.open_sockets import Rate
from ...pages.door.reception import SENDERS
from ...store import in_thread
from ...turns.engine import engine
from ..asking.answering import Answering, Caller
from ..doors import responses
from ..doors.door import Door, Frame
from ..models import ApiKey
from ..store.keys import find_key
from .going_on import GoingOn
from .http import DoorConnection, DoorRequest, Handler, secret_in
from .refused import LONGEST_BODY, NO_KEY, WRONG_KEY, too_often

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
    return Caller(key=key, name=headers.get("user-agent", "").partition("/")[0])


def opened(key: ApiKey | None, address: str) -> ApiKey:
    """What was found for a secret. Whoever comes with wrong ones is told so no more often than now and then."""
    if key is None:
        raise replace(WRONG_KEY) if wrong_keys.may(address) else too_often(5)
    if not by_key.may(str(key.pk)):
        raise too_often(2)
    return key


def asks(door: Door) -> Handler:
    async def ask(request: DoorRequest, connection: DoorConnection) -> None:
        program = await let_in(request)
        asked = door.read(request.json(), request.headers)
        going_on = GoingOn(program) if door is responses.DOOR else None
        if going_on:
            asked = await going_on.whole(asked)
        keep_whole = going_on.keep if going_on and asked.store else None
        again = request.headers.get("idempotency-key", "")[:200]
        answering = Answering(engine(), door, asked, program, keep_whole=keep_whole, again=again)
        try:
            await answering.prepare()
            await (_streamed if asked.stream else _whole)(answering, connection)
        finally:
            await answering.close()

    return ask


async def _whole(answering: Answering, connection: DoorConnection) -> None:
    await answering.run(unheard)
    if answering.wrong:
        raise answering.wrong
    await connection.answer(200, answering.whole(), answering.headers)


def unheard(frames: list[Frame]) -> None:
    """All of it is told at the end."""


async def _streamed(answering: Answering, connection: DoorConnection) -> None:
    told, woken = list[Frame](), asyncio.Event()

    def tell(frames: list[Frame]) -> None:
        told.extend(frames)
        woken.set()

    running = asyncio.create_task(answering.run(tell))
    running.add_done_callback(lambda _: woken.set())
    try:
        while told or not running.done():
            frames = await _next(
                told, woken, answering, PING_SECONDS if connection.has_begun else BEGUN_SECONDS
            )
            if frames and not connection.has_begun:
                await connection.begin_stream(answering.headers)
            if frames:
                await connection.stream(frames)
        running.result()
        await connection.end_stream()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def _next(told: list[Frame], woken: asyncio.Event, answering: Answering, seconds: float) -> list[Frame]:
    try:
        async with asyncio.timeout(seconds):
            await woken.wait()
    except TimeoutError:
        return answering.still_thinking()
    woken.clear()
    frames, told[:] = told[:], []
    return frames


def sender(header: Callable[[str], str]) -> int | None:
    """Whose key it is, where a body is long."""
    found = find_key(secret_in({"authorization": header("authorization"), "x-api-key": header("x-api-key")}))
    return found.owner_id if found else None


BESIDE["/v1/"], SENDERS["/v1/"] = LONGEST_BODY, sender
