"""Beyond what is held: is everybody served alike, and does whoever wants something else get it?"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import aiohttp

from bench.crowd.ladder import RUNGS, rung_of
from bench.crowd.least import Least
from bench.crowd.ours import REFUSALS, Ours, timed
from bench.crowd.scene import Run, Scene, of_hundred
from bench.crowd.told import Table, line
from bench.watcher import Watcher

SECONDS = 8.0
# After the first questions: all have asked by then.
BEFORE_SECONDS = 3.0
STOPS = 5
STOP_SECONDS, PAGE_SECONDS = 0.3, 0.5


class Reader(Protocol):
    def shown_at(self, at: int) -> int: ...


@dataclass
class Flood:
    """Seconds. `shown`: letters (of the floor: deltas) that each had at one moment in the middle."""

    stops: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    shown: list[int] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def look(self, readers: Sequence[Reader]) -> None:
        self.shown = [reader.shown_at(time.monotonic_ns()) for reader in readers]

    async def time(self, took: list[float], awaited: Awaitable[object]) -> None:
        try:
            took.append(await timed(awaited))
        except REFUSALS as error:
            self.refused.append(repr(error))


def flood(players: Sequence[Ours | Least], people: int, held: dict[str, int], table: Table) -> None:
    """Each at twice what it held, or at the first rung where it held none."""
    for player in players:
        rung = 2 * held[player.name] or RUNGS[0]
        found, run = _flooded(player, rung_of(rung, people, SECONDS))
        _show(player.name, rung, found, run, table)


def _flooded(player: Ours | Least, scene: Scene) -> tuple[Flood, Run]:
    found = Flood()
    if isinstance(player, Least):
        least = player

        async def beside_least(listeners: Sequence[Reader]) -> None:
            await asyncio.sleep(BEFORE_SECONDS)
            found.look(listeners)
            async with aiohttp.ClientSession() as http:
                for _ in range(STOPS):
                    await found.time(found.pages, least.write(http))

        return found, least.play(scene, beside_least)
    ours, another = player, player.served.place()

    async def beside_ours(watchers: Sequence[Watcher]) -> None:
        await asyncio.sleep(BEFORE_SECONDS)
        found.look(watchers)
        async with aiohttp.ClientSession() as http:
            visitor = Watcher(http, ours.served.url, another)
            for stopping in watchers[:STOPS]:
                await found.time(found.pages, visitor.page())
                if stopping.bodies and not stopping.ended.done():
                    began = time.monotonic()
                    await found.time(found.stops, stopping.stop())
                    await asyncio.wait([stopping.ended], timeout=scene.patience)
                    found.ended.append(time.monotonic() - began)

    return found, ours.play(scene, beside_ours)


def _show(name: str, rung: int, found: Flood, run: Run, table: Table) -> None:
    print(line(f"flood, {rung} a second", name, run), f" {run.sent:.0f} sent a second", flush=True)
    least, most = min(found.shown), max(found.shown)
    share = least / most if most else float("nan")
    print(
        f"  shown at {BEFORE_SECONDS:.0f} s: {least} to {most} letters of each, share {share:.2f};"
        f" another's page {_most(found.pages)} s (target {PAGE_SECONDS});"
        f" Stop {_most(found.stops)} s (target {STOP_SECONDS}), seen {_most(found.ended)} s"
    )
    for words in found.refused:
        print(f"  {words}")
    table.add("flood: deltas a second that came through", name, run.sent)
    table.add("flood: letters of the slowest, against the fastest", name, share)
    table.add("flood: sockets dropped, answers lost or refused", name, len(run.lost) + len(run.refused))
    table.add("flood: another's page, s (floor: a POST)", name, of_hundred(found.pages, 50))
    if found.stops:
        table.add("flood: Stop, s", name, of_hundred(found.stops, 50))
        table.add("flood: until the stop is seen, s", name, of_hundred(found.ended, 50))


def _most(took: list[float]) -> str:
    return f"{of_hundred(took, 50):.2f} (worst {max(took):.2f})" if took else "-"
