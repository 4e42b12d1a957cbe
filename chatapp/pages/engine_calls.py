"""How a view asks the engine: without keeping a connection of the pool meanwhile, since the engine needs some of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from asgiref.sync import async_to_sync
from django.db import connection

P = ParamSpec("P")
R = TypeVar("R")


def call(work: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
    """Fifty requests that each held one would wait for each other."""
    if connection.vendor == "postgresql" and not connection.in_atomic_block:
        connection.close()

    async def awaited() -> R:
        return await work(*args, **kwargs)

    return async_to_sync(awaited)()
