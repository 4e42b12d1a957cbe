"""How this process speaks with Redis. That it is away costs a pause, and nothing else."""

from __future__ import annotations

import time
from typing import Any, cast
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

# An answer that takes longer than this never comes.
ANSWER_SECONDS, CONNECT_SECONDS = 6.0, 2.0
# Between two tries while Redis is away.
PAUSE, LONGEST_PAUSE = 0.1, 1.0
# One hears, one speaks; the others are for those who read what was said before they came, so many at a time.
READERS = 8
CONNECTIONS = READERS + 8
RIGHT_SECONDS = 30.0
FIRST = "0-0"
Fields = dict[str, str]
# What Redis' own trouble is, and that of the network below it.
AWAY = (RedisError, OSError, TimeoutError)


def connected(url: str) -> Redis:
    return Redis.from_url(
        url,
        socket_timeout=ANSWER_SECONDS,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_keepalive=True,
        max_connections=CONNECTIONS,
        retry=Retry(NoBackoff(), 0),
        decode_responses=True,
    )


async def entries_after(redis: Redis, key: str, number: str = FIRST) -> list[Fields]:
    """What a stream holds above this number."""
    answer = cast(list[Any], await redis.xread({key: number}))
    return [fields for _, entries in answer for _, fields in entries]


def place_of(url: str) -> str:
    """For people: without a password."""
    parts = urlsplit(url)
    return f"{parts.hostname or parts.path}{f':{parts.port}' if parts.port else ''}"


class BusClock:
    """The clock of Redis as this process knows it: two machines that both ask it agree, whatever their own clocks say."""

    def __init__(self) -> None:
        self._ahead: float | None = None
        self._asked_at = 0.0

    async def keep_right(self, redis: Redis) -> None:
        """Two clocks that were set alike are seconds apart after a few days."""
        if self._ahead is None or time.monotonic() - self._asked_at > RIGHT_SECONDS:
            await self._ask(redis)

    async def _ask(self, redis: Redis) -> None:
        before = time.monotonic()
        seconds, micro = await redis.time()
        self._asked_at = time.monotonic()
        middle = (before + self._asked_at) / 2
        self._ahead = (seconds + micro / 1_000_000 - middle) * 1000

    @property
    def is_known(self) -> bool:
        return self._ahead is not None

    def now(self) -> float:
        """In milliseconds."""
        return time.monotonic() * 1000 + (self._ahead or 0.0)
