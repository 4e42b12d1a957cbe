""" "Something changed in this conversation": small news, carried when it has become true."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from uuid import UUID

from django.db import transaction

from ..store.changes import What, Written, changed

# A conversation's id, or that of a person.
Address = UUID | int


@dataclass(frozen=True, slots=True)
class _Known:
    what: Hashable
    found: Any
    until: float


_KNOWN: ContextVar[_Known | None] = ContextVar("known", default=None)


@contextmanager
def known(what: Hashable, found: Any, until: float) -> Iterator[None]:
    """Whoever causes a fact in this block has just found this out, by the monotonic clock for so long: nobody who is told of the
    fact has to."""
    before = _KNOWN.set(_Known(what, found, until))
    try:
        yield
    finally:
        _KNOWN.reset(before)


class Once:
    """What is to be known for one fact is found out once, by whoever asks first, for all who are told of it."""

    def __init__(self) -> None:
        self._found: dict[Hashable, asyncio.Future[Any]] = {}
        self._known = _KNOWN.get()

    async def get(self, what: Hashable, find: Callable[[], Awaitable[Any]]) -> Any:
        if self._known and self._known.what == what and time.monotonic() < self._known.until:
            return self._known.found
        if what not in self._found:
            self._found[what] = asyncio.ensure_future(find())
        # One of those who wait may go away; the others wait on.
        return await asyncio.shield(self._found[what])


@dataclass(frozen=True, slots=True)
class Notice:
    """`address`: whose mail this copy is, the conversation's or its owner's. `once` is shared by all who get it. `written`: what
    became of the rows, where whoever changed them says it."""

    conversation: UUID
    what: What
    message: UUID | None = None
    owner: int | None = None
    address: Address | None = None
    written: Written | None = field(default=None, compare=False, repr=False)
    once: Once = field(default_factory=Once, compare=False, repr=False)


class Notices(Protocol):
    """`listen` gives a queue that fills with the notices of one conversation, or of one person's, while the block lasts.
    A queue that is given may be at several addresses."""

    def listen(self, address: Address, queue: asyncio.Queue[Notice] | None = None) -> Any: ...


class MemoryNotices:
    """One process: told on commit, handed to the event loop that listens."""

    def __init__(self) -> None:
        self._listeners: dict[Address, set[_Listener]] = defaultdict(set)
        changed.connect(self._on_change)

    @asynccontextmanager
    async def listen(
        self, address: Address, queue: asyncio.Queue[Notice] | None = None
    ) -> AsyncIterator[asyncio.Queue[Notice]]:
        listener = _Listener(asyncio.get_running_loop(), queue or asyncio.Queue())
        self._listeners[address].add(listener)
        try:
            yield listener.queue
        finally:
            self._listeners[address].discard(listener)
            if not self._listeners[address]:
                del self._listeners[address]

    def _on_change(
        self,
        conversation: UUID,
        what: What,
        message: UUID | None,
        owner: int | None,
        written: Written | None,
        **_: Any,
    ) -> None:
        notice = Notice(conversation, what, message, owner, written=written)
        transaction.on_commit(lambda: self._deliver(notice), robust=True)

    def _deliver(self, notice: Notice) -> None:
        """To the person first: what is found out then is news to the pages of the conversation too."""
        for address in (notice.owner, notice.conversation):
            copy = replace(notice, address=address)
            for listener in tuple(self._listeners.get(address, ())) if address is not None else ():
                listener.loop.call_soon_threadsafe(listener.queue.put_nowait, copy)


@dataclass(frozen=True, slots=True, eq=False)
class _Listener:
    loop: asyncio.AbstractEventLoop
    queue: asyncio.Queue[Notice]
