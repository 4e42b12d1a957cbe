"""People at a server of ours."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import aiohttp

from bench.crowd.scene import PATIENCE, Run, Scene, within
from bench.house import House, Place, house
from bench.load import delays, not_shown, not_stored
from bench.provider import Plan, Provider
from bench.watcher import Refused, Watcher

REFUSALS = (Refused, aiohttp.ClientError, TimeoutError)
LOOKING_SECONDS = 0.2
# Nobody asks in the very moment in which their page opens, while its socket is being told what is new.
READING_SECONDS = 0.5

Meanwhile = Callable[[Sequence[Watcher]], Awaitable[None]]


async def nothing(_: Sequence[Watcher]) -> None:
    pass


class Ours:
    """`pid` is its server's."""

    def __init__(self, name: str, served: House, provider: Provider) -> None:
        self.name, self.served, self._provider = name, served, provider
        self.pid = served.pid

    def play(self, scene: Scene, meanwhile: Meanwhile = nothing) -> Run:
        make = self.served.newcomer if scene.first else self.served.place
        places = [make() for _ in range(scene.people)]
        return asyncio.run(self._played(scene, places, meanwhile))

    def beside(self) -> float:
        return self.served.beside()

    async def _played(self, scene: Scene, places: Sequence[Place], meanwhile: Meanwhile) -> Run:
        plans = scene.plans()
        async with self._seated(scene, places) as (watchers, tabs):
            await asyncio.sleep(READING_SECONDS)
            before = self.served.use()
            self.served.forget_most()
            looking = asyncio.create_task(self._most_beside())
            seen_before = sum(each.frames for each in [*watchers, *tabs])
            run = Run()
            asks = [
                lambda watcher=watcher, plan=plan: _asked(watcher, plan, run, first=scene.first)
                for watcher, plan in zip(watchers, plans, strict=True)
            ]
            asked, _ = await asyncio.gather(within(scene.asking, asks), meanwhile(watchers))
            heard = [watcher for watcher, at in zip(watchers, asked, strict=True) if at]
            if heard:
                await asyncio.wait([each.ended for each in [*heard, *tabs]], timeout=scene.patience)
            used = self.served.use() - before
            run.cpu, run.memory = used.server + used.renderers, self.served.most_memory()
            run.frames = sum(each.frames for each in [*watchers, *tabs]) - seen_before
            looking.cancel()
            run.beside = max(run.memory, (await asyncio.gather(looking, return_exceptions=True))[0])
            run.count([self._provider.sent(plan.name) for plan in plans])
            run.note(
                [
                    (delays(watcher, plan, self._provider), self._provider.sent(plan.name), at)
                    for watcher, plan, at in zip(watchers, plans, asked, strict=True)
                    if at and await self._is_whole(watcher, plan, run, scene)
                ]
            )
            run.lost += [f"a further tab: {_fate(tab)}" for tab in tabs if _fate(tab) != "complete"]
        return run

    @asynccontextmanager
    async def _seated(
        self, scene: Scene, places: Sequence[Place]
    ) -> AsyncIterator[tuple[list[Watcher], list[Watcher]]]:
        """Those who ask, and their further tabs."""
        patience = aiohttp.ClientTimeout(total=None, sock_connect=PATIENCE, sock_read=scene.patience)
        connections = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connections, timeout=patience) as http:
            watchers = [Watcher(http, self.served.url, place) for place in places]
            tabs = [Watcher(http, self.served.url, place) for place in places for _ in range(scene.tabs - 1)]
            try:
                for watcher in [*([] if scene.first else watchers), *tabs]:
                    await watcher.open()
                yield watchers, tabs
            finally:
                for watcher in [*watchers, *tabs]:
                    await watcher.close()

    async def _most_beside(self) -> float:
        """In MB, of the server and what renders, until it is cancelled."""
        most = 0.0
        try:
            while True:
                most = max(most, self.served.memory() + self.served.beside())
                await asyncio.sleep(LOOKING_SECONDS)
        except asyncio.CancelledError:
            return most

    async def _is_whole(self, watcher: Watcher, plan: Plan, run: Run, scene: Scene) -> bool:
        fate = _fate(watcher)
        if fate == "stopped":
            return False
        if fate != "complete":
            run.lost.append(f"{plan.name}: {fate}")
            return False
        found = not_stored(watcher, plan, self.served)
        if scene.reloaded:
            try:
                found += await not_shown(watcher, plan)
            except REFUSALS as error:
                found.append(f"{plan.name}: its page, {error!r}")
        run.lost += found
        return True


async def _asked(watcher: Watcher, plan: Plan, run: Run, *, first: bool) -> float | None:
    try:
        return await (watcher.begin if first else watcher.ask)(plan)
    except REFUSALS as error:
        run.refused.append(f"{plan.name}: {error!r}")
        return None


def _fate(watcher: Watcher) -> str:
    if not watcher.ended.done():
        return f"no end within its time, {sum(len(body.text) for body in watcher.bodies.values())} letters"
    if error := watcher.ended.exception():
        return str(error)
    return watcher.ended.result()


@contextmanager
def serving(name: str, checkout: Path, provider: Provider) -> Iterator[Ours]:
    with house(provider, checkout) as served:
        yield Ours(name, served, provider)


async def timed(awaited: Awaitable[object]) -> float:
    """Seconds."""
    began = time.monotonic()
    await awaited
    return time.monotonic() - began
