"""Long messages of sockets while they come, at a real server: bounded for each person and in all, and refused in words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

websockets = pytest.importorskip("websockets", reason="websockets is not installed: no socket is opened")
from websockets.asyncio.client import ClientConnection, connect  # noqa: E402

from chatapp.pages.door.caps import LITTLE  # noqa: E402
from chatapp.pages.door.reception import MOST_OF_ONE  # noqa: E402
from tests.browser.served import Served, with_tables  # noqa: E402
from tests.pages.test_caps import Changed  # noqa: E402
from tests.support.patience import PATIENCE  # noqa: E402

from .test_at_a_real_server import MAKE, shell  # noqa: E402

LONG = "x" * 4 * LITTLE
CREATE = {"type": "response.create", "model": "demo:thinker", "generate": False}


class Sender:
    """Sends one message, in as many pieces as it is told."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self._pieces = asyncio.Queue[str | None]()
        self._sending = asyncio.ensure_future(socket.send(self._all()))

    async def _all(self) -> AsyncIterator[str]:
        yield json.dumps(CREATE | {"instructions": ""})[:-2]
        while (piece := await self._pieces.get()) is not None:
            yield piece
            self._pieces.task_done()
        yield '"}'

    async def says(self, piece: str) -> None:
        """Returns when it has arrived: the server answers what comes behind it."""
        self._pieces.put_nowait(piece)
        async with asyncio.timeout(PATIENCE):
            await self._pieces.join()
            await (await self.socket.ping())

    async def ends(self) -> None:
        self._pieces.put_nowait(None)
        await self._sending


class Door:
    def __init__(self, served: Served) -> None:
        self.served = served

    def key(self) -> str:
        return shell(self.served, MAKE.format(name=self.served.person()[0]))

    @asynccontextmanager
    async def open(self, key: str) -> AsyncIterator[ClientConnection]:
        address = self.served.url.replace("http", "ws", 1) + "v1/responses"
        async with connect(address, additional_headers={"x-api-key": key}, proxy=None) as socket:
            yield socket


async def heard(socket: ClientConnection) -> Any:
    async with asyncio.timeout(PATIENCE):
        return json.loads(await socket.recv())


async def answered(socket: ClientConnection) -> None:
    while (told := await heard(socket))["type"] != "response.completed":
        assert told["type"] != "error", told


async def is_taken(socket: ClientConnection) -> None:
    await socket.send(json.dumps(CREATE | {"instructions": LONG}))
    await answered(socket)


def served(folder: Path, changes: str = "") -> Iterator[Door]:
    server = Changed(with_tables(folder), changes)
    try:
        server.start()
        yield Door(server)
        assert "Traceback" not in server.new_log()
    finally:
        server.stop()


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    yield from served(tmp_path_factory.mktemp("arriving"))


@pytest.fixture
def narrow_door(tmp_path: Path) -> Iterator[Door]:
    yield from served(tmp_path, f"reception.long_ones = reception.Pool({7 * len(LONG) // 2})")


@pytest.fixture
def hasty_door(tmp_path: Path) -> Iterator[Door]:
    yield from served(tmp_path, "reception.PATIENCE = 1.0\nreception.PACE = 10**9")


def test_of_one_person_few_long_messages_come_at_once(door: Door) -> None:
    key, other = door.key(), door.key()

    async def story() -> None:
        async with AsyncExitStack() as stack:
            sockets = [await stack.enter_async_context(door.open(key)) for _ in range(MOST_OF_ONE + 1)]
            *coming, late = [Sender(socket) for socket in sockets]
            for sender in coming:
                await sender.says(LONG)
            await late.says(LONG)
            refused = await heard(late.socket)
            assert (refused["type"], refused["status"]) == ("error", 429)
            assert "on their way" in refused["error"]["message"]
            async with door.open(other) as beside:
                await is_taken(beside)
            await late.says(LONG)
            await late.ends()
            for sender in coming:
                await sender.says(LONG)
                await sender.ends()
                await answered(sender.socket)
            await is_taken(late.socket)

    asyncio.run(story())


def test_short_messages_come_beside_them(door: Door) -> None:
    key = door.key()

    async def story() -> None:
        async with AsyncExitStack() as stack:
            for _ in range(MOST_OF_ONE):
                await Sender(await stack.enter_async_context(door.open(key))).says(LONG)
            async with door.open(key) as short:
                await short.send(json.dumps(CREATE))
                await answered(short)

    asyncio.run(story())


def test_whoever_hangs_up_midway_leaves_room(door: Door) -> None:
    key = door.key()

    async def story() -> None:
        for _ in range(MOST_OF_ONE + 1):
            async with door.open(key) as socket:
                await Sender(socket).says(LONG)
                socket.transport.abort()
        async with door.open(key) as socket:
            await is_taken(socket)

    asyncio.run(story())


def test_a_message_in_countless_pieces_is_refused(door: Door) -> None:
    key = door.key()

    async def story() -> None:
        async with door.open(key) as socket:
            await socket.send([json.dumps(CREATE)[:-1], *(" " for _ in range(12_000)), "}"])
            refused = await heard(socket)
            assert (refused["type"], refused["status"]) == ("error", 408)
            await is_taken(socket)

    asyncio.run(story())


def test_of_all_together_the_one_that_takes_longest_makes_room(narrow_door: Door) -> None:
    keys = [narrow_door.key() for _ in range(4)]

    async def story() -> None:
        async with AsyncExitStack() as stack:
            sockets = [await stack.enter_async_context(narrow_door.open(key)) for key in keys]
            first, *others = [Sender(socket) for socket in sockets]
            for sender in (first, *others):
                await sender.says(LONG)
            refused = await heard(first.socket)
            assert (refused["type"], refused["status"]) == ("error", 503)
            for sender in others:
                await sender.ends()
                await answered(sender.socket)
            await first.ends()
            await is_taken(first.socket)

    asyncio.run(story())


def test_what_comes_too_slowly_is_refused(hasty_door: Door) -> None:
    key = hasty_door.key()

    async def story() -> None:
        async with hasty_door.open(key) as socket:
            sender = Sender(socket)
            await sender.says(LONG)
            refused = await heard(socket)
            assert (refused["type"], refused["status"]) == ("error", 408)
            await sender.ends()
            await is_taken(socket)

    asyncio.run(story())
