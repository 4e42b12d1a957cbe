"""How long somebody alone waits for what goes through several processes: a claim, a stop by another process, and a take-over."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from itertools import count
from uuid import UUID

import aiohttp
import psycopg

from bench.crowd.told import Table
from bench.processes.deployment import Many, Worker
from bench.processes.notified import Notified, notified
from bench.provider import Plan
from bench.watcher import Watcher

# What a process does once is done by the first questions.
BEFOREHAND = 4
# So many are answered when a process is killed.
UNDER_WAY = 8
LONG = 100_000
PATIENCE, LOOK = 60, 0.05
NUMBERS = count(1)


async def measure(many: Many, runs: int, kills: int, name: str, table: Table) -> None:
    async with notified(many.database) as heard, aiohttp.ClientSession() as http:
        for found, what, target, worst in (
            (await _claims(many, heard, http, runs), "POST to claim, ms", 30, None),
            (await _stops(many, http, runs), "stop by another process: answered and seen, ms", 300, None),
            (await _take_overs(many, heard, http, kills), "take-over after a kill, s", 12, 15),
        ):
            if found:
                _tell(found, what, target, worst, name, table)


def _tell(found: list[float], what: str, target: float, worst: float | None, name: str, table: Table) -> None:
    middle, longest = sorted(found)[len(found) // 2], max(found)
    aims = f"target {target}" + f" and {worst}" * bool(worst)
    print(f"{what:48} {name}  {middle:.1f}, longest {longest:.1f} of {len(found)}  ({aims})", flush=True)
    table.add(f"{what}, median", name, middle)
    table.add(f"{what}, longest", name, longest)


async def _claims(many: Many, heard: Notified, http: aiohttp.ClientSession, runs: int) -> list[float]:
    found = []
    for _ in range(BEFOREHAND + runs):
        watcher = await _open(many, http)
        asked = await watcher.ask(_plan(40))
        await asyncio.wait_for(watcher.ended, PATIENCE)
        claimed = await heard.when("turn began", UUID(watcher.answer))
        found.append((claimed - asked) * 1000)
        await watcher.close()
    return found[BEFOREHAND:]


async def _stops(many: Many, http: aiohttp.ClientSession, runs: int) -> list[float]:
    found = []
    for _ in range(BEFOREHAND + runs):
        watcher = await _open(many, http)
        await watcher.ask(_plan(LONG))
        await _speaks(watcher)
        began = time.monotonic()
        await _stopped_elsewhere(many, watcher, http)
        found.append((time.monotonic() - began) * 1000)
        await watcher.close()
    return found[BEFOREHAND:]


async def _take_overs(many: Many, heard: Notified, http: aiohttp.ClientSession, kills: int) -> list[float]:
    found = []
    for _ in range(kills):
        watchers = [await _open(many, http) for _ in range(UNDER_WAY)]
        for watcher in watchers:
            await watcher.ask(_plan(LONG))
        for watcher in watchers:
            await _speaks(watcher)
        # Heartbeats are under way, as they are of a turn that is no moment old.
        await asyncio.sleep(3)
        worker, its = await asyncio.to_thread(_busiest, many, [UUID(each.answer) for each in watchers])
        worker.kill()
        killed = time.monotonic()
        again = [asyncio.wait_for(heard.when("turn began", answer, killed), PATIENCE) for answer in its]
        found += [at - killed for at in await asyncio.gather(*again)]
        for watcher in watchers:
            await _stopped_elsewhere(many, watcher, http)
            await watcher.close()
        await asyncio.to_thread(worker.start)
    return found


async def _open(many: Many, http: aiohttp.ClientSession) -> Watcher:
    place = await asyncio.to_thread(many.place)
    watcher = Watcher(http, many.url, place)
    await watcher.open()
    return watcher


def _plan(deltas: int) -> Plan:
    return Plan(name=f"moment {next(NUMBERS)}", text=deltas, plain=True)


async def _speaks(watcher: Watcher) -> None:
    for _ in range(int(PATIENCE / LOOK)):
        if watcher.bodies and watcher.shown_at(time.monotonic_ns()) > 20:
            return
        await asyncio.sleep(LOOK)
    raise TimeoutError


async def _stopped_elsewhere(many: Many, watcher: Watcher, http: aiohttp.ClientSession) -> None:
    """Returns when the page shows it."""
    elsewhere = next(url for url in iter(lambda: many.url, "") if url != watcher.url)
    await watcher.at(elsewhere).stop()
    await asyncio.wait_for(watcher.ended, PATIENCE)


def _busiest(many: Many, answers: list[UUID]) -> tuple[Worker, list[UUID]]:
    """The process that runs most of these, and which."""
    with psycopg.connect(many.database) as line:
        rows = line.execute("SELECT id, runner FROM chatapp_message WHERE id = ANY(%s)", [answers]).fetchall()
    ((runner, _),) = Counter(runner for _, runner in rows).most_common(1)
    worker = next(each for each in many.workers if each.name == runner)
    return worker, [answer for answer, its in rows if its == runner]
