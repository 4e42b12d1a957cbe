""" "Something changed in this conversation": small news, carried when it has become true."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar
from uuid import UUID

from django.db import transaction

from ..store.changes import What, Written, changed

R = TypeVar("R")
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
        self._made: dict[Hashable, Any] = {}
        self._known = _KNOWN.get()

    async def get(self, what: Hashable, find: Callable[[], Awaitable[Any]]) -> Any:
        if self._known and self._known.what == what and time.monotonic() < self._known.until:
            return self._known.found
        if what not in self._found:
            self._found[what] = asyncio.ensure_future(find())
        found = self._found[what]
        # One of those who wait may go away; the others wait on.
        return found.result() if found.done() else await asyncio.shield(found)

    def tell(self, what: Hashable, found: Any) -> None:
        """It was found out beside something else."""
        if what not in self._found:
            self._found[what] = asyncio.get_running_loop().create_future()
            self._found[what].set_result(found)

    def now(self, what: Hashable, make: Callable[[], R]) -> R:
        """The same for what can be made at once."""
        if what not in self._made:
            self._made[what] = make()
        made: R = self._made[what]
        return made


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
    A queue that is given may be at several addresses. `delivered`: told of every notice, in whatever thread it comes; `heard`: of those
    of other processes, on the event loop."""

    delivered: list[Callable[[Notice], None]]
    heard: list[Callable[[Notice], None]]

    def listen(self, address: Address, queue: asyncio.Queue[Notice] | None = None) -> Any: ...

    def begin(self) -> None:
        """What other processes tell is heard from now on. Calling it again does nothing."""

    async def end(self) -> None:
        """Of this process: nobody is told anything any more."""


class MemoryNotices:
    """One process: told on commit, handed to the event loop that listens."""

    def __init__(self) -> None:
        self._listeners: dict[Address, set[_Listener]] = defaultdict(set)
        self.delivered: list[Callable[[Notice], None]] = []
        self.heard: list[Callable[[Notice], None]] = []
        changed.connect(self._on_change)

    def begin(self) -> None:
        pass

    async def end(self) -> None:
        changed.disconnect(self._on_change)

    @asynccontextmanager
    async def listen(
        self, address: Address, queue: asyncio.Queue[Notice] | None = None
    ) -> AsyncIterator[asyncio.Queue[Notice]]:
        self.begin()
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
        self._tell_others(as_words(conversation, what, message, owner))

    def _tell_others(self, words: list[Any]) -> None:
        """Inside the transaction, which may still come to nothing."""

    def _deliver(self, notice: Notice) -> None:
        """To the person first: what is found out then is news to the pages of the conversation too."""
        for hear in self.delivered:
            hear(notice)
        addresses = [address for address in (notice.owner, notice.conversation) if address in self._listeners]
        self._give(*(replace(notice, address=address) for address in addresses))

    def _hear(self, told: list[Any]) -> None:
        """What `as_words` made of a notice elsewhere."""
        conversation, what, message, owner = told
        notice = Notice(UUID(conversation), what, UUID(message) if message else None, owner)
        self._deliver(notice)
        for hear in self.heard:
            hear(notice)

    def _give(self, *notices: Notice) -> None:
        """Each loop is woken once."""
        mail: dict[asyncio.AbstractEventLoop, list[_Letter]] = defaultdict(list)
        for notice in notices:
            listeners = () if notice.address is None else self._listeners.get(notice.address, ())
            for listener in tuple(listeners):
                mail[listener.loop].append((listener.queue, notice))
        for loop, letters in mail.items():
            loop.call_soon_threadsafe(_put, letters)


def as_words(conversation: UUID, what: What, message: UUID | None, owner: int | None) -> list[Any]:
    """For other processes."""
    return [conversation.hex, what, message.hex if message else None, owner]


@dataclass(frozen=True, slots=True, eq=False)
class _Listener:
    loop: asyncio.AbstractEventLoop
    queue: asyncio.Queue[Notice]


_Letter = tuple[asyncio.Queue[Notice], Notice]


def _put(letters: Iterable[_Letter]) -> None:
    for queue, notice in letters:
        queue.put_nowait(notice)
