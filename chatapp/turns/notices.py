""" "Something changed in this conversation": small news, carried when it has become true."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from django.db import transaction

from ..store.changes import changed


@dataclass(frozen=True, slots=True)
class Notice:
    conversation: UUID
    what: str
    message: UUID | None = None


class Notices(Protocol):
    """`listen` gives a queue that fills with the notices of one conversation while the block lasts."""

    def listen(self, conversation: UUID) -> Any: ...


class MemoryNotices:
    """One process: told on commit, handed to the event loop that listens."""

    def __init__(self) -> None:
        self._listeners: dict[UUID, set[_Listener]] = defaultdict(set)
        changed.connect(self._on_change)

    @asynccontextmanager
    async def listen(self, conversation: UUID) -> AsyncIterator[asyncio.Queue[Notice]]:
        listener = _Listener(asyncio.get_running_loop(), asyncio.Queue())
        self._listeners[conversation].add(listener)
        try:
            yield listener.queue
        finally:
            self._listeners[conversation].discard(listener)
            if not self._listeners[conversation]:
                del self._listeners[conversation]

    def _on_change(self, conversation: UUID, what: str, message: UUID | None, **_: Any) -> None:
        notice = Notice(conversation, what, message)
        transaction.on_commit(lambda: self._deliver(notice), robust=True)

    def _deliver(self, notice: Notice) -> None:
        for listener in tuple(self._listeners.get(notice.conversation, ())):
            listener.loop.call_soon_threadsafe(listener.queue.put_nowait, notice)


@dataclass(frozen=True, slots=True, eq=False)
class _Listener:
    loop: asyncio.AbstractEventLoop
    queue: asyncio.Queue[Notice]
