"""How Redis is, as this process finds it: for pages of staff, for metrics, and for `check`."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from .redis import AWAY

SOON = 2.0


@dataclass(frozen=True, slots=True)
class RedisFound:
    """`ms`: how long its answer took. `memory`: in bytes. `keeps_all`: it refuses rather than forgets when it is full. `ahead`: its clock
    against this machine's, in seconds."""

    ms: float
    memory: int
    version: tuple[int, ...]
    keeps_all: bool
    ahead: float


async def ask_redis(redis: Redis) -> RedisFound | None:
    """None where it does not answer soon."""
    with suppress(*AWAY):
        async with asyncio.timeout(SOON):
            began = time.monotonic()
            told: dict[str, Any] = await redis.info()
            ms = (time.monotonic() - began) * 1000
            seconds, micro = await redis.time()
            return RedisFound(
                ms,
                int(told.get("used_memory", 0)),
                tuple(int(part) for part in str(told.get("redis_version", "0")).split(".") if part.isdigit()),
                told.get("maxmemory_policy", "noeviction") == "noeviction",
                seconds + micro / 1_000_000 - time.time(),
            )
    return None
