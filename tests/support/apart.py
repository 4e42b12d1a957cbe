"""Two processes in one, where there is Redis: an engine that serves and one that works, on one loop. What one of them does, the other hears
from PostgreSQL and Redis alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from chatapp.store.changes import changed
from chatapp.turns.edges import MakeEdges
from chatapp.turns.engine import Engine, engine

# Which engine of those that work does this; none where it is a story's own, or an engine's that serves.
_working: ContextVar[Engine | None] = ContextVar("working", default=None)


@asynccontextmanager
async def two_engines(make: Callable[..., Engine]) -> AsyncIterator[tuple[Engine, Engine]]:
    """One that is asked, and one that answers: the same, where there is no Redis."""
    async with AsyncExitStack() as stack:
        edges = {}
        if settings.REDIS_URL:
            # What a page asked for its viewers, outside of any story, would hear and tell everything too.
            await close_engine()
            edges = {"edges": _edges()}
        serving = make(**edges)
        stack.push_async_callback(serving.close)
        yield serving, await stack.enter_async_context(work_beside(serving, make))


@asynccontextmanager
async def work_beside(serving: Engine, make: Callable[..., Engine] | None = None) -> AsyncIterator[Engine]:
    """The engine that works for this one: itself, where there is no Redis."""
    if not settings.REDIS_URL:
        yield serving
        return
    from chatapp.turns.scale.jobs import Fetching

    make = make or partial(_twin, serving)
    working = make(edges=_edges())
    with _apart(serving, None), _apart(working, working):
        take = _take_as(working)
        serving.notices.begin()
        working.notices.begin()
        fetching = Fetching(take, working.runner.name)
        fetching.begin()
        try:
            yield working
        finally:
            await fetching.end()
            await working.close()


def _twin(serving: Engine, edges: Any) -> Engine:
    """With the models and the tools of that one, whatever becomes of them."""
    working = Engine(serving.catalog, folder=Path(settings.DATA_DIR), edges=edges)
    working.tools = serving.tools
    working.runner._world = replace(working.runner._world, tools=serving.tools)
    return working


async def close_engine() -> None:
    """That of this process, if it has one."""
    if engine.cache_info().currsize:
        await engine().close()
    engine.cache_clear()


def _edges() -> MakeEdges:
    from chatapp.turns.scale.edges import edges

    return edges


def _take_as(working: Engine) -> Any:
    """As `take` does, in a turn that knows whose it is."""
    runner: Any = working.runner
    place = runner._placed

    async def placed(message: UUID, seen: int) -> None:
        _working.set(working)
        await place(message, seen)

    runner._placed = placed
    return runner.take


@contextmanager
def _apart(one: Engine, process: Engine | None) -> Any:
    """It tells what its own process wrote, and not what is written beside it."""
    tells = [_only_in(process, each._on_change) for each in (one.notices, one.runner)]  # type: ignore[attr-defined]
    for whole, own in tells:
        changed.disconnect(whole)
        changed.connect(own)
    try:
        yield
    finally:
        for _, own in tells:
            changed.disconnect(own)


def _only_in(process: Engine | None, whole: Any) -> tuple[Any, Any]:
    def own(**told: Any) -> None:
        if _working.get() is process:
            whole(**told)

    return whole, own
