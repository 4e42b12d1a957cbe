"""What a delta costs on its way from the provider to whoever watches, and how long it takes, when many answers are written at once.

Run it with `python -m bench.load`. The provider, the server and the watchers are processes of their own, on the same machine.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import accumulate
from statistics import median, quantiles

import aiohttp

from bench.house import House, Place, house
from bench.provider import Plan, Provider, providing
from bench.watcher import Watcher

PATIENCE = 120
THOUGHT = 100
# Of a core.
BUSY = 0.4


@dataclass(frozen=True)
class Run:
    """`asking`: CPU milliseconds of a question. `first` and `relay`: milliseconds from the provider to the watcher, for the first delta
    of each answer and all others."""

    asking: float
    first: list[float]
    relay: list[float]
    server: float
    renderers: float
    memory: float
    broken: list[str]
    anew: int


@asynccontextmanager
async def watching(house: House, places: Iterable[Place]) -> AsyncIterator[list[Watcher]]:
    """One socket for each place."""
    async with AsyncExitStack() as stack:
        connections = aiohttp.TCPConnector(limit=0)
        http = await stack.enter_async_context(aiohttp.ClientSession(connector=connections))
        watchers = []
        for place in places:
            watcher = Watcher(http, house.url, place)
            await watcher.open()
            stack.push_async_callback(watcher.close)
            watchers.append(watcher)
        yield watchers


async def quiet(house: House) -> None:
    """Until what was asked is on every page: then only drafts are saved."""
    busy = True
    while busy:
        before = house.use()
        await asyncio.sleep(1)
        busy = (house.use() - before).server > BUSY
    await asyncio.sleep(1)


async def played(house: House, provider: Provider, places: list[Place], plans: list[Plan]) -> Run:
    """All are asked, and begin to speak together when all are."""
    async with watching(house, places) as watchers:
        before = house.use()
        await asyncio.gather(*(watcher.ask(plan) for watcher, plan in zip(watchers, plans, strict=True)))
        await asyncio.to_thread(provider.wait_for, len(plans))
        await quiet(house)
        asking = house.use() - before
        house.forget_most()
        before = house.use()
        await asyncio.to_thread(provider.let_go)
        ended = asyncio.gather(*(watcher.ended for watcher in watchers))
        await asyncio.wait_for(ended, PATIENCE)
        used, memory = house.use() - before, house.most_memory()
        broken = [
            words
            for watcher, plan in zip(watchers, plans, strict=True)
            for words in await lost(watcher, plan, house)
        ]
        late = [delays(watcher, plan, provider) for watcher, plan in zip(watchers, plans, strict=True)]
    deltas = sum(plan.thought + plan.text for plan in plans) / 1000
    return Run(
        asking=asking.server / len(plans) * 1000,
        first=[each[0] for each in late if each],
        relay=[ms for each in late for ms in each[1:]],
        server=used.server / deltas,
        renderers=used.renderers / deltas,
        memory=memory,
        broken=broken,
        anew=late.count([]),
    )


def delays(watcher: Watcher, plan: Plan, provider: Provider) -> list[float]:
    """Of each delta, in milliseconds. None where the socket showed the answer anew: what came rendered has no letters to count."""
    sent = iter(provider.sent(plan.name))
    parts = [("".join(deltas), deltas) for deltas in plan.parts() if deltas]
    bodies = list(watcher.bodies.values())
    if len(bodies) < len(parts) or not all(
        body.text in said for body, (said, _) in zip(bodies, parts, strict=True)
    ):
        return []
    return [
        (body.shown(said, end) - next(sent)) / 1e6
        for body, (said, deltas) in zip(bodies, parts, strict=True)
        for end in accumulate(map(len, deltas))
    ]


async def lost(watcher: Watcher, plan: Plan, house: House) -> list[str]:
    """What is not as it was said, or not as a reload shows it."""
    return not_stored(watcher, plan, house) + await not_shown(watcher, plan)


def not_stored(watcher: Watcher, plan: Plan, house: House) -> list[str]:
    if watcher.ended.result() != "complete":
        return [f"{plan.name} ended {watcher.ended.result()}"]
    said = ["".join(part) for part in plan.parts() if part]
    if [item["text"] for item in house.clerk("message", pk=watcher.answer)["items"]] != said:
        return [f"{plan.name}: other letters are stored than were said"]
    return []


async def not_shown(watcher: Watcher, plan: Plan) -> list[str]:
    page, found = await watcher.page(), []
    for name, body in watcher.bodies.items():
        shown = re.search(f'id="{re.escape(name)}"[^>]*>', page)
        if not body.html or not shown or not page.startswith(body.html, shown.end()):
            found.append(f"{plan.name}: {name} looks otherwise when it is loaded")
    return found


def alone(house: House, provider: Provider, runs: int) -> list[float]:
    """The first letters of answers one after the other."""
    place = house.place()
    found = []
    for n in range(runs):
        plan = Plan(name=f"alone-{n}", thought=5, text=5, held=True)
        found += asyncio.run(played(house, provider, [place], [plan])).first
    return found


def at_once(house: House, provider: Provider, answers: int, deltas: int, pace: float) -> Run:
    places = [house.place() for _ in range(answers)]
    plans = [
        Plan(name=f"{answers}-{n}", thought=THOUGHT, text=deltas - THOUGHT, pace=pace, held=True)
        for n in range(answers)
    ]
    return asyncio.run(played(house, provider, places, plans))


def show(name: str, run: Run) -> None:
    late = quantiles(run.relay, n=100)
    print(
        f"{name:16} a question {run.asking:3.0f} ms of CPU   first letter {median(run.first):6.1f} ms (worst {max(run.first):.0f})   "
        f"relay {late[49]:5.1f} / {late[94]:5.1f} / {late[98]:5.1f} ms   "
        f"CPU {run.server:.3f} s + renderers {run.renderers:.3f} s   {run.memory:.0f} MB   "
        f"{run.anew} shown anew, {len(run.broken)} not whole"
    )
    for words in run.broken[:5]:
        print(f"  {words}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, nargs="+", default=[1, 20, 100])
    parser.add_argument("--deltas", type=int, default=500)
    parser.add_argument("--pace", type=float, default=50)
    parser.add_argument("--alone", type=int, default=15, help="answers one after the other")
    chosen = parser.parse_args()
    print("relay: median / 95 / 99 of 100; CPU for 1,000 deltas")
    with providing() as provider, house(provider) as served:
        firsts = alone(served, provider, chosen.alone)
        print(f"{'alone':16} first letter {median(firsts):6.1f} ms (worst {max(firsts):.0f})")
        for answers in chosen.answers:
            run = at_once(served, provider, answers, chosen.deltas, chosen.pace)
            show(f"{answers} at once", run)


if __name__ == "__main__":
    main()
