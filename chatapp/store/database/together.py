"""What many ask at once is done together: on one thread, in one transaction. Whoever comes meanwhile is done next, with all who came."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")
R = TypeVar("R")
# What is done gives for each that asked what it is told, or why it is not.
Done = Sequence[R | Exception]
MOST = 32


@dataclass(slots=True)
class _Line(Generic[T, R]):
    """Those who wait, and whether somebody of them is being served."""

    waiting: list[tuple[T, asyncio.Future[R]]] = field(default_factory=list)
    is_served: bool = False


class Together(Generic[T, R]):
    """`work`: on a thread. `line`: only those of one line are done together, and lines do not wait for each other. `pause`: seconds for
    which the first waits for others, asked each time."""

    def __init__(
        self,
        work: Callable[[Sequence[T]], asyncio.Future[Done[R]]],
        *,
        line: Callable[[T], Hashable] = lambda _: None,
        pause: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._work, self._line_of, self._pause = work, line, pause
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, defaultdict[Hashable, _Line[T, R]]] = (
            WeakKeyDictionary()
        )

    def done(self, one: T) -> asyncio.Future[R]:
        """Whoever waits no longer for it has it done all the same."""
        loop = asyncio.get_running_loop()
        lines = self._lines.setdefault(loop, defaultdict(_Line))
        name = self._line_of(one)
        line = lines[name]
        future: asyncio.Future[R] = loop.create_future()
        line.waiting.append((one, future))
        if not line.is_served:
            line.is_served = True
            # Who came in the same moment comes along.
            loop.call_later(pause, self._serve, name) if (pause := self._pause()) else loop.call_soon(
                self._serve, name
            )
        return future

    def _serve(self, name: Hashable) -> None:
        lines = self._lines[asyncio.get_running_loop()]
        line = lines[name]
        served, line.waiting = line.waiting[:MOST], line.waiting[MOST:]
        if not served:
            del lines[name]
            return
        working = self._work([one for one, _ in served])
        working.add_done_callback(lambda done: self._tell(name, [future for _, future in served], done))

    def _tell(
        self, name: Hashable, futures: Sequence[asyncio.Future[R]], done: asyncio.Future[Done[R]]
    ) -> None:
        for place, future in enumerate(futures):
            if future.done():
                continue
            error = RuntimeError("given up") if done.cancelled() else done.exception()
            told = error or done.result()[place]
            if isinstance(told, Exception):
                future.set_exception(told)
            elif isinstance(told, BaseException):
                future.cancel()
            else:
                future.set_result(told)
        self._serve(name)
