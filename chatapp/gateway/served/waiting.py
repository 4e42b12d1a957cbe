"""Messages that wait on the connections of programs for the answers before them: so many of each, and so long together, of one person and
of all."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from sys import getsizeof

from ..doors.door import LIMITED, OVERLOADED, Wrong
from .refused import LONGEST_BODY

Message = str | bytes
MOST_WAITING = 8
LONGEST_OF_ONE, LONGEST_OF_ALL = LONGEST_BODY, 4 * LONGEST_BODY
TOO_MANY = Wrong(
    429,
    LIMITED,
    f"{MOST_WAITING} requests wait on this connection already. Wait until one has been answered.",
    "rate_limit_exceeded",
    wait=2,
)
TOO_LONG = Wrong(
    429,
    LIMITED,
    "Your requests that wait for an answer are too long together. Send this one when those before it have been answered.",
    "rate_limit_exceeded",
    wait=2,
)
CROWDED = Wrong(
    503,
    OVERLOADED,
    "Too many long requests wait here. Send this one when those before it have been answered.",
    "server_error",
    wait=2,
)
# By person, in bytes of memory.
lengths: Counter[int] = Counter()


class Waiting:
    """Of one connection, in their order. What comes while nothing is being answered does not wait."""

    def __init__(self, person: int) -> None:
        self._person, self._is_idle = person, True
        self._messages: asyncio.Queue[tuple[Message, int]] = asyncio.Queue(MOST_WAITING)

    def add(self, message: Message) -> None:
        """Wrong where there is no room for it."""
        length = 0 if self._is_idle else getsizeof(message)
        if self._messages.full():
            raise replace(TOO_MANY)
        if length and lengths[self._person] + length > LONGEST_OF_ONE:
            raise replace(TOO_LONG)
        if length and lengths.total() + length > LONGEST_OF_ALL:
            raise replace(CROWDED)
        self._is_idle = False
        self._messages.put_nowait((message, length))
        lengths[self._person] += length

    async def next(self) -> Message:
        self._is_idle = self._messages.empty()
        message, length = await self._messages.get()
        self._leave(length)
        return message

    def close(self) -> None:
        while not self._messages.empty():
            self._leave(self._messages.get_nowait()[1])

    def _leave(self, length: int) -> None:
        lengths[self._person] -= length
        if not lengths[self._person]:
            del lengths[self._person]
