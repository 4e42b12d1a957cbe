"""The kinds of faults. Each is played from its beginning until the house is as it was; how long is the fault's own matter."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from random import Random

from bench.faults.director import Director
from bench.faults.house import BUSY_SECONDS, CLOCKS, HOUR, WEBS, WORKERS, OurProcess
from bench.faults.network import PEOPLE

Fault = Callable[[Director], Awaitable[None]]
Kind = Callable[[Director, str], Awaitable[None]]
# At which they are taken for dead at the latest.
SILENT_SECONDS = 17.0


# Those who work


async def worker_dies(it: Director, machine: str) -> None:
    """With its machine: somebody else goes on."""
    worker = it.house.workers[machine]
    async with it.trouble(machine):
        turns = await it.turns_of(worker)
        began = time.monotonic()
        await asyncio.to_thread(worker.kill)
        await it.await_take_over("worker dies", turns, began)
        await it.start(worker)


async def worker_dies_and_is_back(it: Director, machine: str) -> None:
    worker = it.house.workers[machine]
    async with it.trouble(machine):
        turns = await it.turns_of(worker)
        began = time.monotonic()
        await asyncio.to_thread(worker.kill)
        await asyncio.gather(it.await_take_over("worker dies and is back", turns, began), it.start(worker))


async def worker_freezes(it: Director, machine: str) -> None:
    """Long enough to be taken for dead; then it wakes, and knows of nothing."""
    worker = it.house.workers[machine]
    async with it.trouble(machine):
        turns = await it.turns_of(worker)
        began = time.monotonic()
        worker.freeze()
        await it.await_take_over("worker freezes", turns, began)
        await it.pause(0, 2)
        worker.thaw()
        await it.pause(2, 3)


async def worker_stumbles(it: Director, machine: str) -> None:
    """Not long enough to be taken for dead."""
    async with it.trouble(machine):
        it.house.workers[machine].freeze()
        await it.pause(0.3, 5)
        it.house.workers[machine].thaw()


async def worker_is_told_to_end(it: Director, machine: str) -> None:
    worker = it.house.workers[machine]
    async with it.trouble(machine):
        turns = await it.turns_of(worker)
        began = time.monotonic()
        worker.tell_to_end()
        # Those that end within its time are nobody's any more.
        await it.await_take_over("worker is told to end", turns, began)
        if await asyncio.to_thread(worker.gone) != 0:
            it.breach(f"{machine} was told to end and did not: {worker.tail()}")
        await it.start(worker)


async def worker_is_busy(it: Director, machine: str) -> None:
    """Its loop stands still, and it is alive: nobody may take its turns."""
    worker = it.house.workers[machine]
    async with it.trouble(machine):
        before = await it.turns_of(worker)
        worker.be_busy()
        over = time.monotonic() + BUSY_SECONDS - 0.5
        while time.monotonic() < over:
            await asyncio.sleep(0.5)
            if gone := await it.taken_of(before):
                it.breach(f"{gone} turns of {machine} were taken from it, which was only busy")
                break
        await asyncio.sleep(max(0.0, over + 1 - time.monotonic()))


async def both_workers_die(it: Director, machine: str) -> None:
    async with AsyncExitStack() as troubles:
        for each in WORKERS:
            await troubles.enter_async_context(it.trouble(each))
        for worker in it.house.workers.values():
            await asyncio.to_thread(worker.kill)
        await it.pause(0, 3)
        await asyncio.gather(*map(it.start, it.house.workers.values()))


# PostgreSQL


async def postgres_restarts(it: Director, machine: str) -> None:
    """As where its machine loses power: nobody is told."""
    await it.away(_restarted(it))
    await it.pause(1, 3)


async def _restarted(it: Director) -> None:
    await asyncio.to_thread(_stopped, it)
    await it.pause(0, 3)
    await asyncio.to_thread(it.house.postgres.heal)


def _stopped(it: Director) -> None:
    import signal

    it.house.postgres.send(signal.SIGQUIT)
    it.house.postgres.gone()


async def postgres_loses_connections(it: Director, machine: str) -> None:
    share = it.random.choice((0.3, 1.0))
    await asyncio.to_thread(it.house.postgres.cut_connections, share)
    await it.pause(1, 3)


async def postgres_is_full(it: Director, machine: str) -> None:
    if not it.house.postgres.can_be_full:
        it.skip("a disk that is full")
        return
    await asyncio.to_thread(it.house.postgres.fill)
    await it.pause(2, 5)
    await asyncio.to_thread(it.house.postgres.heal)
    await it.pause(1, 3)


# Redis


async def redis_dies(it: Director, machine: str) -> None:
    await _redis_away(it, "Redis dies and is back", 0.0)


async def redis_is_away(it: Director, machine: str) -> None:
    await _redis_away(it, "Redis is away for 10 s", 10.0)


async def _redis_away(it: Director, kind: str, seconds: float) -> None:
    await asyncio.to_thread(it.house.redis.kill)
    await asyncio.sleep(seconds)
    await asyncio.to_thread(it.house.redis.start)
    await it.await_words(kind, time.monotonic())


async def redis_forgets(it: Director, machine: str) -> None:
    await asyncio.to_thread(it.house.redis.forget)
    await it.await_words("Redis forgets", time.monotonic())


async def redis_freezes(it: Director, machine: str) -> None:
    it.house.redis.freeze()
    await it.pause(1, 9)
    it.house.redis.thaw()
    await it.await_words("Redis freezes", time.monotonic())


async def redis_is_slow(it: Director, machine: str) -> None:
    for _ in range(20):
        it.house.redis.freeze()
        await asyncio.sleep(0.25)
        it.house.redis.thaw()
        await asyncio.sleep(0.05)
    await it.await_words("Redis is slow", time.monotonic())


# Those who serve


async def web_dies(it: Director, machine: str) -> None:
    web = it.house.webs[machine]
    async with it.trouble(machine):
        await asyncio.to_thread(web.kill)
        await it.pause(0, 2)
        await it.start(web)


async def web_freezes(it: Director, machine: str) -> None:
    async with it.trouble(machine):
        it.house.webs[machine].freeze()
        await it.pause(0.5, 15)
        it.house.webs[machine].thaw()


async def web_is_told_to_end(it: Director, machine: str) -> None:
    web = it.house.webs[machine]
    async with it.trouble(machine):
        web.tell_to_end()
        if await asyncio.to_thread(web.gone, 30) is None:
            it.breach(f"{machine} was told to end and did not: {web.tail()}")
            await asyncio.to_thread(web.kill)
        await it.start(web)


# The network, and clocks


def cut(one: str | None, other: str, seconds: float) -> Kind:
    """One that is not named is the machine that is chosen."""

    async def play(it: Director, machine: str) -> None:
        here = one or machine
        if not it.house.network.is_real:
            it.skip("networks that are cut")
            return
        async with AsyncExitStack() as troubles:
            if other == PEOPLE or (here in WORKERS and other != "redis"):
                await troubles.enter_async_context(it.trouble(here))
            if other == "redis":
                silence = troubles.enter_context(ExitStack())
                silence.enter_context(it.deaf(here))
            process = it.house.processes[here]
            turns = await it.turns_of(process) if here in WORKERS else []
            began = time.monotonic()
            it.house.network.cut(here, other)
            try:
                if other == "postgres" and seconds > SILENT_SECONDS:
                    await it.await_take_over("worker is cut off from PostgreSQL", turns, began)
                await asyncio.sleep(max(0.0, began + seconds - time.monotonic()))
            finally:
                it.house.network.join(here, other)
            if other == "redis":
                silence.close()
                kind = f"{here.partition('-')[0]} and Redis were cut apart for {seconds:.0f} s"
                await it.await_words(kind, time.monotonic(), of=here)
            elif seconds > 1:
                await it.pause(1, 3)

    return play


async def clock_jumps(it: Director, machine: str) -> None:
    if it.house.clocks is None:
        it.skip("clocks that jump")
        return
    process: OurProcess = it.house.processes[it.random.choice((*WEBS, *WORKERS))]
    process.set_clock(it.random.choice((-24, -1, 0, 1, 24)) * HOUR)
    await it.pause(2, 4)
    process.set_clock(CLOCKS[process.machine])
    await it.pause(1, 2)


# How often each comes, of all in its lane
WORK: dict[str, tuple[Kind, int]] = {
    "worker dies": (worker_dies, 5),
    "worker dies and is back": (worker_dies_and_is_back, 5),
    "worker freezes": (worker_freezes, 4),
    "worker stumbles": (worker_stumbles, 3),
    "worker is told to end": (worker_is_told_to_end, 5),
    "worker is busy": (worker_is_busy, 2),
    "both workers die": (both_workers_die, 2),
    "PostgreSQL restarts": (postgres_restarts, 5),
    "PostgreSQL loses connections": (postgres_loses_connections, 6),
    "PostgreSQL's disk is full": (postgres_is_full, 4),
    "a worker and PostgreSQL cut apart, 1 s": (cut(None, "postgres", 1), 4),
    "a worker and PostgreSQL cut apart, 10 s": (cut(None, "postgres", 10), 3),
    "a worker and PostgreSQL cut apart, 60 s": (cut(None, "postgres", 60), 1),
    "a worker and Redis cut apart, 1 s": (cut(None, "redis", 1), 2),
    "a worker and Redis cut apart, 10 s": (cut(None, "redis", 10), 2),
    "a worker and the provider cut apart, 1 s": (cut(None, "outside", 1), 2),
    "a worker and the provider cut apart, 10 s": (cut(None, "outside", 10), 2),
}
ELSE: dict[str, tuple[Kind, int]] = {
    "Redis dies": (redis_dies, 6),
    "Redis forgets": (redis_forgets, 6),
    "Redis is away for 10 s": (redis_is_away, 3),
    "Redis freezes": (redis_freezes, 3),
    "Redis is slow": (redis_is_slow, 4),
    "web dies": (web_dies, 6),
    "web freezes": (web_freezes, 4),
    "web is told to end": (web_is_told_to_end, 4),
    "a web and PostgreSQL cut apart, 1 s": (cut(None, "postgres", 1), 3),
    "a web and PostgreSQL cut apart, 10 s": (cut(None, "postgres", 10), 2),
    "a web and Redis cut apart, 1 s": (cut(None, "redis", 1), 3),
    "a web and Redis cut apart, 10 s": (cut(None, "redis", 10), 3),
    "a web and Redis cut apart, 60 s": (cut(None, "redis", 60), 1),
    "people and a web cut apart, 1 s": (cut(None, PEOPLE, 1), 3),
    "people and a web cut apart, 10 s": (cut(None, PEOPLE, 10), 2),
    "a clock jumps": (clock_jumps, 5),
}
LANES = ((WORK, WORKERS), (ELSE, WEBS))
KINDS = {**WORK, **ELSE}


def lanes(seed: str, count: int, only: str = "") -> tuple[list[list[Fault]], list[str]]:
    """So many faults, drawn for this seed, and their names. `only`: of the kinds that have this in their names."""
    random, made, names = Random(seed), list[list[Fault]](), list[str]()
    for (kinds, machines), number in zip(LANES, ((count + 1) // 2, count // 2), strict=True):
        known = {name: weight for name, (_, weight) in kinds.items() if only in name}
        drawn = random.choices(list(known), list(known.values()), k=number) if known else []
        chosen = [(name, random.choice(machines)) for name in drawn]
        names += [f"{name} ({machine})" for name, machine in chosen]
        made.append([_fault(name, machine) for name, machine in chosen])
    return made, names


def _fault(name: str, machine: str) -> Fault:
    kind = KINDS[name][0]

    async def play(it: Director) -> None:
        print(f"{time.strftime('%H:%M:%S')}   {name} ({machine})", flush=True)
        await kind(it, machine)

    return play


def kinds_in(names: list[str]) -> Iterator[str]:
    yield from (name.rpartition(" (")[0] for name in names)
