"""What people wait for while many ask at once, and what that costs: questions within a second, answers that begin at once.

Run it with `python -m bench.live`. The provider, the server and the watchers are processes of their own, on the same machine. Its floor is
measured in the same run, by turns: what the least of such servers does (`bench/floor.py`), so that figures are told as ratios to it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from statistics import median, quantiles
from tempfile import TemporaryDirectory

import aiohttp

from bench.house import House, Place, cpu, house, most_memory
from bench.load import delays, lost
from bench.provider import Plan, Provider, providing
from bench.watcher import TOKEN, Watcher

PATIENCE = 300
# Of the least of servers.
END = "\0"
THOUGHT = 20
FORM = {"X-CSRFToken": TOKEN}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """So many people, each of whom asks at some moment of one second, and is answered in so many deltas at this pace."""

    people: int
    pace: float = 50
    plain: bool = False
    tabs: int = 1
    first: bool = False
    seconds: float = 10

    @property
    def deltas(self) -> int:
        return int(self.seconds * self.pace)

    @property
    def name(self) -> str:
        words = [f"{self.people} x {self.pace:.0f}/s", "plain" if self.plain else "Markdown"]
        words += ["first question"] * self.first + [f"{self.tabs} tabs"] * (self.tabs > 1)
        return ", ".join(words)

    def plan(self, name: str) -> Plan:
        return Plan(name=name, thought=THOUGHT, text=self.deltas - THOUGHT, pace=self.pace, plain=self.plain)


@dataclass
class Run:
    """`first`: milliseconds from the question to the first letter; `relay`: from the provider to the watcher, of all others; `cpu`: seconds
    of the server and all its children, questions and ends included."""

    first: list[float] = field(default_factory=list)
    relay: list[float] = field(default_factory=list)
    cpu: float = 0.0
    deltas: int = 0
    memory: float = 0.0
    broken: list[str] = field(default_factory=list)

    def __add__(self, other: Run) -> Run:
        return Run(
            self.first + other.first,
            self.relay + other.relay,
            self.cpu + other.cpu,
            self.deltas + other.deltas,
            max(self.memory, other.memory),
            self.broken + other.broken,
        )

    @property
    def per_thousand(self) -> float:
        return self.cpu / self.deltas * 1000


async def within_a_second(asks: Sequence[Callable[[], Awaitable[float]]]) -> list[float]:
    """When each was asked."""

    async def later(ask: Callable[[], Awaitable[float]], seconds: float) -> float:
        await asyncio.sleep(seconds)
        return await ask()

    chance = random.Random(7)
    together = len(asks) > 1
    return await asyncio.gather(*(later(ask, chance.random() * together) for ask in asks))


async def ours(served: House, provider: Provider, scene: Scene, places: Sequence[Place], name: str) -> Run:
    plans = [scene.plan(f"{name}-{n}") for n in range(scene.people)]
    async with AsyncExitStack() as stack:
        connections = aiohttp.TCPConnector(limit=0)
        http = await stack.enter_async_context(aiohttp.ClientSession(connector=connections))
        watchers = [Watcher(http, served.url, place) for place in places]
        beside = [Watcher(http, served.url, place) for place in places for _ in range(scene.tabs - 1)]
        for watcher in [*([] if scene.first else watchers), *beside]:
            await watcher.open()
        for watcher in [*watchers, *beside]:
            stack.push_async_callback(watcher.close)
        before = served.use()
        served.forget_most()
        asks = [
            lambda watcher=watcher, plan=plan: (watcher.begin if scene.first else watcher.ask)(plan)
            for watcher, plan in zip(watchers, plans, strict=True)
        ]
        asked = await within_a_second(asks)
        await asyncio.wait_for(asyncio.gather(*(each.ended for each in [*watchers, *beside])), PATIENCE)
        used = served.use() - before
        run = Run(cpu=used.server + used.renderers, deltas=sum(plan.thought + plan.text for plan in plans))
        run.memory = served.most_memory()
        for watcher, plan, at in zip(watchers, plans, asked, strict=True):
            run.broken += await lost(watcher, plan, served)
            _note(run, delays(watcher, plan, provider), provider.sent(plan.name), at)
    return run


def _note(run: Run, late: list[float], sent: list[int], asked: float) -> None:
    if late:
        run.first.append(late[0] + sent[0] / 1e6 - asked * 1000)
        run.relay += late[1:]


class Floor:
    """The least of servers, in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.pid = process.pid
        assert process.stdout
        port, self.session = process.stdout.readline().split()
        self.url = f"http://127.0.0.1:{port}/"

    async def relay(self, provider: Provider, scene: Scene, name: str) -> Run:
        plans = [scene.plan(f"floor-{name}-{n}") for n in range(scene.people)]
        async with AsyncExitStack() as stack:
            http = await stack.enter_async_context(
                aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
            )
            sockets = [await http.ws_connect(self.url) for _ in plans]
            for socket in sockets:
                stack.push_async_callback(socket.close)
            before = cpu(self.pid)
            heard = [
                asyncio.create_task(_heard(socket, len("".join(map("".join, plan.parts())))))
                for socket, plan in zip(sockets, plans, strict=True)
            ]
            asks = [
                lambda socket=socket, plan=plan: _asked(socket, plan)
                for socket, plan in zip(sockets, plans, strict=True)
            ]
            asked = await within_a_second(asks)
            came = await asyncio.wait_for(asyncio.gather(*heard), PATIENCE)
            run = Run(cpu=cpu(self.pid) - before, deltas=sum(plan.thought + plan.text for plan in plans))
            run.memory = most_memory(self.pid)
            for plan, arrived, at in zip(plans, came, asked, strict=True):
                sent = provider.sent(plan.name)
                _note(run, [(came - went) / 1e6 for came, went in zip(arrived, sent, strict=True)], sent, at)
        return run

    async def writes(self, many: int) -> tuple[float, float]:
        """Milliseconds of CPU, and of waiting, for one POST that writes two rows."""
        cookies = {"Cookie": f"sessionid={self.session}; csrftoken={TOKEN}"}
        async with aiohttp.ClientSession(headers=cookies | FORM) as http:
            took = [await _took(http, self.url) for _ in range(20)]
            before, took = cpu(self.pid), []
            for _ in range(many):
                took.append(await _took(http, self.url))
            return (cpu(self.pid) - before) / many * 1000, median(took) * 1000


async def _took(http: aiohttp.ClientSession, url: str) -> float:
    began = time.monotonic()
    async with http.post(url) as response:
        assert response.status == 200, await response.text()
    return time.monotonic() - began


async def _asked(socket: aiohttp.ClientWebSocketResponse, plan: Plan) -> float:
    at = time.monotonic()
    await socket.send_str(plan.question)
    return at


async def _heard(socket: aiohttp.ClientWebSocketResponse, letters: int) -> list[int]:
    """When each delta was there."""
    came = []
    async for message in socket:
        if message.data == END:
            break
        came.append(time.monotonic_ns())
        letters -= len(message.data)
    assert letters == 0, letters
    return came


@contextmanager
def floor(provider: Provider) -> Iterator[Floor]:
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bench.floor", provider.url]
        given = os.environ | {"DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "bench.floor_settings"}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=given)
        try:
            yield Floor(process)
        finally:
            process.terminate()
            process.wait()
            assert process.stdout
            process.stdout.close()


class Play:
    """One run of all that was chosen; each scene is played by ours and by the floor, one after the other."""

    def __init__(self, provider: Provider, served: House, least: Floor) -> None:
        self.provider, self.served, self.least = provider, served, least
        self._played = 0

    def scene(self, scene: Scene) -> tuple[Run, Run]:
        self._played += 1
        name = f"{self._played}"
        make = self.served.newcomer if scene.first else self.served.place
        places = [make() for _ in range(scene.people)]
        run = asyncio.run(ours(self.served, self.provider, scene, places, name))
        return run, asyncio.run(self.least.relay(self.provider, scene, name))

    def alone(self, scene: Scene, times: int) -> tuple[Run, Run]:
        """One after the other."""
        runs = [self.scene(scene) for _ in range(times)]
        return sum((mine for mine, _ in runs), Run()), sum((least for _, least in runs), Run())


def show(scene: Scene, run: Run, least: Run) -> None:
    first, relay, bare = _hundredths(run.first), _hundredths(run.relay), _hundredths(least.relay)
    print(
        f"{scene.name:34} first letter {first[49]:7.1f} / {first[94]:7.1f} ms (floor {_hundredths(least.first)[49]:.1f})   "
        f"relay {relay[49]:6.1f} / {relay[94]:6.1f} / {relay[98]:6.1f} ms (floor {bare[49]:.1f} / {bare[94]:.1f} / {bare[98]:.1f})   "
        f"CPU {run.per_thousand:.3f} s for 1,000 = {run.per_thousand / least.per_thousand:.2f} x floor {least.per_thousand:.3f}   "
        f"{run.memory:.0f} MB   {len(run.broken)} not whole",
        flush=True,
    )
    for words in run.broken[:5]:
        print(f"  {words}")


def _hundredths(values: list[float]) -> list[float]:
    return quantiles(values, n=100) if len(values) > 1 else values * 99


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, nargs="+", default=[100, 200])
    parser.add_argument("--paces", type=float, nargs="+", default=[20, 50, 200])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--alone", type=int, default=15, help="answers one after the other")
    parser.add_argument("--brief", action="store_true", help="plain text, a next question and one tab alone")
    chosen = parser.parse_args()
    print(
        "Milliseconds: median / 95 / 99 of 100. CPU: all processes of the server, questions and ends included."
    )
    with providing() as provider, house(provider) as served, floor(provider) as least:
        play = Play(provider, served, least)
        written, waited = asyncio.run(least.writes(300))
        print(
            f"floor: a signed-in POST that writes two rows: {written:.1f} ms of CPU, {waited:.1f} ms until its answer"
        )
        one = Scene(people=1, plain=True, seconds=1)
        for scene in (one, replace(one, first=True)):
            show(scene, *play.alone(scene, chosen.alone))
        for people in chosen.people:
            for pace in chosen.paces:
                scene = Scene(people=people, pace=pace, plain=True, seconds=chosen.seconds)
                others = [replace(scene, plain=False), replace(scene, first=True), replace(scene, tabs=2)]
                for each in [scene, *([] if chosen.brief else others)]:
                    show(each, *play.scene(each))


if __name__ == "__main__":
    main()
