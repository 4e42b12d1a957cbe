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
from collections.abc import Callable, Iterator
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
# So often a page shows a picture, and no more messages go out; but after a silence a few may follow each other at once, since the
# first letter comes right behind its question.
BETWEEN, AT_ONCE = 0.016, 4
# A heartbeat: a page that hears nothing for longer than two of them comes back.
BEAT = 25.0
_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Stuck(Exception):
    """The page has not acknowledged anything for too long."""


class Outbox:
    """`send` never waits: the server under us keeps what it cannot send yet."""

    def __init__(
        self,
        send: Callable[[str], None],
        *,
        window: int = WINDOW,
        patience: float = PATIENCE,
        between: float = BETWEEN,
        at_once: int = AT_ONCE,
    ) -> None:
        self._send, self._window, self._patience, self._between = send, window, patience, between
        self._waiting: list[Operation] = []
        self._pieces: deque[str] = deque()
        self._flying: deque[tuple[int, int]] = deque()
        self._n = self._unread = self._size = 0
        self._body, self._at_once = "", at_once
        # When the next message would go if all had kept their distance.
        self._due = 0.0
        self._room = asyncio.Event()
        # What the page says of itself, once it was told everything: where it ends, and how far that is.
        self.on_page: dict[str, str] = {}
        # While it runs: what ends it, when it sends next, and until when the page must have read.
        self._broken: asyncio.Future[None] | None = None
        self._next: asyncio.Handle | None = None
        self._given_up: asyncio.TimerHandle | None = None

    def add(self, *made: Operation) -> None:
        """Letters for the same body that wait already are joined; nothing else is touched."""
        for operation in made:
            if operation[0] == "state":
                self.on_page[operation[1]] = operation[2]
            if operation[0] == "text" and self._waiting and self._waiting[-1][:2] == operation[:2]:
                self._waiting[-1] = operations.text(operation[1], self._waiting[-1][2] + operation[2])
            else:
                self._waiting.append(operation)
            self._size += _weight(operation)
        self._go_on()

    @property
    def is_full(self) -> bool:
        return self._size > WAITING

    async def room(self) -> None:
        """Returns when what waits here is little: whoever makes news waits for it, so that a slow page costs nothing."""
        while self.is_full:
            self._room.clear()
            await self._room.wait()

    def read(self, n: int) -> None:
        """The page has applied everything up to this message."""
        while self._flying and self._flying[0][0] <= n:
            self._unread -= self._flying.popleft()[1]
        if self._given_up and self._unread <= self._window:
            self._given_up.cancel()
            self._given_up = None
            self._go_on()

    async def run(self) -> None:
        """Sends until it is cancelled. It has no turn of its own: whoever adds something has it sent."""
        self._broken = asyncio.get_running_loop().create_future()
        beating = asyncio.create_task(self._beat())
        if self._waiting:
            self._go_on()
        try:
            await self._broken
        finally:
            self._broken = None
            for each in (beating, self._next, self._given_up):
                if each:
                    each.cancel()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            self._go_on()

    def _go_on(self) -> None:
        """Sends what waits as soon as it may go; all that is added in one turn of the loop goes together."""
        if self._broken is None or self._next or self._given_up:
            return
        loop = asyncio.get_running_loop()
        if self._unread > self._window:
            self._given_up = loop.call_later(self._patience, self._break, Stuck())
        elif not self._pieces and (soon := self._due - self._ahead - time.monotonic()) > 0:
            self._next = loop.call_later(soon, self._send_what_waits)
        elif self._waiting and self._waiting[0][0] == "text":
            self._send_what_waits()
        else:
            self._next = loop.call_soon(self._send_what_waits)

    def _break(self, error: Exception) -> None:
        if self._broken and not self._broken.done():
            self._broken.set_exception(error)

    def _send_what_waits(self) -> None:
        self._next = None
        try:
            if not self._pieces:
                self._pieces.extend(_in_pieces(self._frame()))
            while self._pieces and self._unread <= self._window:
                self._send_piece(self._pieces.popleft())
        except Exception as error:
            self._break(error)
            return
        self._due = max(self._due, time.monotonic()) + self._between
        if self._pieces or self._waiting:
            self._go_on()

    @property
    def _ahead(self) -> float:
        """So long before it is due a message may go."""
        return self._between * (self._at_once - 1)

    def _frame(self) -> str:
        made, self._waiting, self._size = self._waiting, [], 0
        self._room.set()
        return _as_json(self._shortened(made))

    def _send_piece(self, message: str) -> None:
        self._n += 1
        self._flying.append((self._n, len(message)))
        self._unread += len(message)
        self._send(message)

    def _shortened(self, made: list[Operation]) -> Any:
        short = [self._without_body(operation) for operation in made]
        return short[0][2] if len(short) == 1 and short[0][:2] == ["text", ""] else short

    def _without_body(self, operation: Operation) -> Operation:
        """The name of a body is said once, until there is another."""
        if operation[0] not in ("text", "piece", "blocks"):
            return operation
        name, body, *said = operation
        known, self._body = self._body, body
        return [name, "" if body == known else body, *said]


def _in_pieces(frame: str) -> Iterator[str]:
    if len(frame) <= PIECE:
        yield frame
        return
    for at in range(0, len(frame), PIECE):
        sign = LAST if at + PIECE >= len(frame) else MORE
        yield sign + frame[at : at + PIECE]


def _weight(operation: Operation) -> int:
    return sum([len(part) for part in operation if isinstance(part, str)]) + 50
