"""What a short question costs with its answer and its end, and what the page costs on which it is asked, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from itertools import count
from typing import Any

import aiohttp

from bench.crowd.least import Least
from bench.crowd.ours import READING_SECONDS, Ours
from bench.crowd.told import Table
from bench.house import Use
from bench.provider import Plan
from bench.watcher import Watcher

# What a process does once is done by the first people.
BEFOREHAND = 5
# So many does each of them ask, one below the other.
EACH = 4
NUMBERS = count(1)


def measure(players: Sequence[Ours], least: Least, many: int, rounds: int, table: Table) -> None:
    """So `many` people, in turns; beside them the floor's POST, which writes two rows, as often as they ask."""
    for player in players:
        asyncio.run(_asked(player, BEFOREHAND))
    for turn in range(rounds):
        first = turn % len(players)
        found = {}
        for player in [*players[first:], *players[:first]]:
            found[player.name] = asyncio.run(_asked(player, many))
        written, _ = asyncio.run(least.writes(many * EACH))
        for name, (opening, asking) in found.items():
            table.add("a page and its socket: CPU, ms", name, opening)
            table.add("a short question: CPU, ms", name, asking)
            print(f"{name:6}  a page and its socket {opening:.1f}   a short question {asking:.2f}", end="   ")
            print(f"= {asking / written:.2f} POSTs of the floor, of {written:.2f} ms of CPU", flush=True)
        for what in ("a page and its socket", "a short question"):
            table.add(f"{what}: CPU, ms", least.name, written)


async def _asked(player: Ours, many: int) -> tuple[float, float]:
    """Milliseconds of CPU for each page, and for each question."""
    places = [player.served.place() for _ in range(many)]
    connections = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connections) as http:
        watchers = [Watcher(http, player.served.url, place) for place in places]
        try:
            opening = await _used(player, [watcher.open for watcher in watchers])
            asking = await _used(player, [partial(_answered, watcher) for watcher in watchers * EACH])
        finally:
            for watcher in watchers:
                await watcher.close()
    return opening, asking


async def _used(player: Ours, works: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> float:
    """One after the other, with what is left to do afterwards."""
    before = player.served.use()
    for work in works:
        await work()
    await asyncio.sleep(READING_SECONDS)
    used: Use = player.served.use() - before
    return (used.server + used.renderers) / len(works) * 1000


async def _answered(watcher: Watcher) -> None:
    watcher.forget()
    await watcher.ask(Plan(name=f"short {next(NUMBERS)}", thought=4, text=16, pace=0, plain=True))
    assert await watcher.ended == "complete"
