"""What listening sockets may take of this process: so many of one person, opened so often, and few looked up at a time. Whoever opens
more than that is the only one who notices."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Protocol

from .at_once import AtOnce

MOST_OF_ONE = 32
LONGEST_NAME = 64
# With one session, which is one person's: all their pages at once, and then now and then another.
BURST, REST_SECONDS = 2 * MOST_OF_ONE, 1.0


class Socket(Protocol):
    async def give_way(self) -> None:
        """It is closed; its page says so, and comes back when somebody looks at it."""

    async def go_elsewhere(self) -> None:
        """It is closed; its page comes back at once, to another process."""


class OpenSockets:
    """By person, in the order in which they were opened: the page that is opened now is looked at, the oldest most likely is not."""

    def __init__(self, most: int = MOST_OF_ONE) -> None:
        self._most = most
        self._of: dict[int, dict[Socket, None]] = defaultdict(dict)

    async def enter(self, person: int, socket: Socket) -> None:
        mine = self._of[person]
        mine[socket] = None
        while len(mine) > self._most:
            oldest = next(iter(mine))
            del mine[oldest]
            await oldest.give_way()

    def leave(self, person: int, socket: Socket) -> None:
        self._of[person].pop(socket, None)
        if not self._of[person]:
            del self._of[person]

    async def send_away(self) -> None:
        for mine in list(self._of.values()):
            for socket in list(mine):
                await socket.go_elsewhere()

    def count(self, person: int) -> int:
        return len(self._of.get(person, ()))

    def count_all(self) -> int:
        return sum(len(sockets) for sockets in tuple(self._of.values()))


class Rate:
    """So many at once and one more in each `seconds`, by name. Of a name it keeps one number, for as long as that says anything."""

    KEPT = 4096

    def __init__(self, at_once: int, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._at_once, self._seconds, self._now = at_once, seconds, now
        self._until: dict[str, float] = {}

    def may(self, name: str) -> bool:
        now, name = self._now(), name[:LONGEST_NAME]
        until = max(now, self._until.get(name, now))
        if until - now > (self._at_once - 1) * self._seconds:
            return False
        if len(self._until) > self.KEPT:
            self._until = {name: until for name, until in self._until.items() if until > now}
        self._until[name] = until + self._seconds
        return True


OPEN = OpenSockets()
OPENINGS = Rate(BURST, REST_SECONDS)
# Of the few threads that ask the database, opening sockets takes no more than these.
LOOKING = AtOnce(2)
