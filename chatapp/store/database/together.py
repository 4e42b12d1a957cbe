"""What many ask at once is done together: on one thread, in one transaction. Whoever comes meanwhile is done next, with all who came."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from contextvars import Context
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")
R = TypeVar("R")
# For each that asked what it is told, or why it is not.
Done = Sequence[R | Exception]
MOST = 32


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
        # Of each loop the lines in which somebody is being served, with those who wait.
        self._lines: WeakKeyDictionary[
            asyncio.AbstractEventLoop, dict[Hashable, list[tuple[T, asyncio.Future[R]]]]
        ] = WeakKeyDictionary()
        self._serving: set[asyncio.Task[None]] = set()

    def done(self, one: T) -> asyncio.Future[R]:
        """Whoever waits no longer for it has it done all the same."""
        loop = asyncio.get_running_loop()
        lines, name = self._lines.setdefault(loop, {}), self._line_of(one)
        future: asyncio.Future[R] = loop.create_future()
        if name in lines:
            lines[name].append((one, future))
            return future
        lines[name] = [(one, future)]
        # It serves others as well, so it must not inherit the context of the first.
        task = loop.create_task(self._serve(lines, name), context=Context())
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        return future

    async def _serve(self, lines: dict[Hashable, list[tuple[T, asyncio.Future[R]]]], name: Hashable) -> None:
        # Who came in the same moment comes along.
        await asyncio.sleep(self._pause())
        line = lines[name]
        while line:
            served, line[:] = line[:MOST], line[MOST:]
            try:
                told = await self._work([one for one, _ in served])
            except Exception as error:
                told = [error] * len(served)
            for (_, future), each in zip(served, told, strict=True):
                _tell(future, each)
        del lines[name]


def _tell(future: asyncio.Future[R], told: R | Exception) -> None:
    if future.done():
        return
    if isinstance(told, Exception):
        future.set_exception(told)
    else:
        future.set_result(told)
