"""What one socket still has to send. The page acknowledges what it has applied, since the server under us would take
everything for a socket that never reads.

A message is the operations of a frame as JSON, or letters alone. A body is named when it is another than before. Both sides count
messages.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from ..pages import operations
from ..pages.operations import Operation

# What a socket that reads nothing has been sent is kept here rendered and as text, several times as large.
WINDOW = 64 * 1024
WAITING = 4 * 1024
# The server under us sends no message that is longer, so a longer frame goes in pieces: each begins with MORE or, at its end, with LAST.
# A frame in one piece is JSON, which begins with neither.
PIECE = 64 * 1024
MORE, LAST = "+", "="
PATIENCE = 30.0
# What comes so soon after a message waits for the next: no page shows more pictures than that.
BETWEEN = 0.016
# A heartbeat: a page that hears nothing for longer than two of them comes back.
BEAT = 25.0


class Stuck(Exception):
    """The page has not acknowledged anything for too long."""


class Outbox:
    def __init__(
        self,
        send: Callable[[str], Awaitable[None]],
        *,
        window: int = WINDOW,
        patience: float = PATIENCE,
        between: float = BETWEEN,
    ) -> None:
        self._send, self._window, self._patience, self._between = send, window, patience, between
        self._waiting: list[Operation] = []
        self._flying: deque[tuple[int, int]] = deque()
        self._n = self._unread = self._size = 0
        self._body, self._sent_at = "", 0.0
        self._more, self._room = asyncio.Event(), asyncio.Event()

    def add(self, *made: Operation) -> None:
        """Letters for the same body that wait already are joined; nothing else is touched."""
        for operation in made:
            if operation[0] == "text" and self._waiting and self._waiting[-1][:2] == operation[:2]:
                self._waiting[-1] = operations.text(operation[1], self._waiting[-1][2] + operation[2])
            else:
                self._waiting.append(operation)
            self._size += _size(operation)
        self._more.set()

    async def room(self) -> None:
        """Returns when what waits here is little: whoever makes news waits for it, so that a slow page costs nothing."""
        while self._size > WAITING:
            self._room.clear()
            await self._room.wait()

    def read(self, n: int) -> None:
        """The page has applied everything up to this message."""
        while self._flying and self._flying[0][0] <= n:
            self._unread -= self._flying.popleft()[1]
        self._room.set()

    async def run(self) -> None:
        """Sends until it is cancelled."""
        beating = asyncio.create_task(self._beat())
        try:
            while True:
                await self._more.wait()
                if self._unread > self._window:
                    await self._wait_for_window()
                if (soon := self._sent_at + self._between - time.monotonic()) > 0:
                    await asyncio.sleep(soon)
                await self._send_what_waits()
        finally:
            beating.cancel()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            self._more.set()

    async def _wait_for_window(self) -> None:
        try:
            async with asyncio.timeout(self._patience):
                while self._unread > self._window:
                    self._room.clear()
                    await self._room.wait()
        except TimeoutError:
            raise Stuck from None

    async def _send_what_waits(self) -> None:
        self._more.clear()
        made, self._waiting, self._size = self._waiting, [], 0
        frame = json.dumps(self._shortened(made), ensure_ascii=False, separators=(",", ":"))
        self._room.set()
        for message in _in_pieces(frame):
            if self._unread > self._window:
                await self._wait_for_window()
            self._n += 1
            self._flying.append((self._n, len(message)))
            self._unread += len(message)
            await self._send(message)
        self._sent_at = time.monotonic()

    def _shortened(self, made: list[Operation]) -> Any:
        short = [self._without_body(operation) for operation in made]
        return short[0][2] if len(short) == 1 and short[0][:2] == ["text", ""] else short

    def _without_body(self, operation: Operation) -> Operation:
        """The name of a body is said once, until there is another."""
        name, body, *said = operation
        if name not in ("text", "blocks"):
            return operation
        known, self._body = self._body, body
        return [name, "" if body == known else body, *said]


def _in_pieces(frame: str) -> Iterator[str]:
    if len(frame) <= PIECE:
        yield frame
        return
    for at in range(0, len(frame), PIECE):
        sign = LAST if at + PIECE >= len(frame) else MORE
        yield sign + frame[at : at + PIECE]


def _size(operation: Operation) -> int:
    return sum(len(part) for part in operation if isinstance(part, str)) + 50
