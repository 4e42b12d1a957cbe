"""What does a door cost its programs? Ours beside no door at all, and beside the proxy of LiteLLM where its environment is named.

.venv/bin/python -m bench.gateway [--litellm FOLDER] [--rounds N]
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.doors.model import asks, speaking
from bench.doors.program import Door, Heard
from bench.doors.restoring import restoring_ms
from bench.doors.servers import litellm, ours
from bench.house import cpu, resident

ALONE, STREAMS, PACE, SECONDS = 100, 50, 50.0, 8
MANY, AT_ONCE, SHORT = 100, 16, 6.0
# No multiple of the time between two deltas: else all streams speak in the same moment, which no two models do.
APART = 0.0206
Cpu = Callable[[], float]


def main() -> None:
    chosen = _chosen()
    with ExitStack() as stack:
        url = stack.enter_context(speaking())
        plain, recorded, house = stack.enter_context(ours(url))
        doors: list[tuple[Door, Cpu, int]] = [(Door("none", url, "bench", "bench"), lambda: 0.0, 0)]
        doors += [
            (plain, lambda: house.use().server, house.pid),
            (recorded, lambda: house.use().server, house.pid),
        ]
        if chosen.litellm:
            rival, pid = stack.enter_context(litellm(url, chosen.litellm))
            doors.append((rival, lambda: cpu(pid), pid))
        print(f"a history of 400 messages with 150 calls made whole: {restoring_ms():.1f} ms")
        for number in range(chosen.rounds):
            print(f"round {number + 1}")
            for door, used, pid in doors:
                asyncio.run(_measure(door, used, pid))


def _chosen() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--litellm", type=Path, help="the folder of an environment that has litellm[proxy]")
    parser.add_argument("--rounds", type=int, default=2)
    return parser.parse_args()


async def _measure(door: Door, used: Cpu, pid: int) -> None:
    for _ in range(5):
        await door.ask(asks(3, 0))
    alone = [await door.ask(asks(3, 0)) for _ in range(ALONE)]
    print(f"{door.name:24} alone: first delta {_first(alone)} ms{_lost(alone)}")
    before, idle = used(), resident(pid) if pid else 0.0
    deltas = int(PACE * SECONDS)
    crowd = await asyncio.gather(
        *(_later(door, asks(deltas, PACE), place * APART) for place in range(STREAMS))
    )
    cost = (used() - before) / (STREAMS * deltas) * 1000
    relay = sorted(each for heard in crowd for each in heard.relay)
    print(
        f"{'':24} {STREAMS} x {PACE:.0f}/s: first {_first(crowd)} ms, relay p50 {_place(relay, 0.5)} p95 {_place(relay, 0.95)} "
        f"p99 {_place(relay, 0.99)} ms, CPU for 1,000 deltas {cost:.3f} s{_lost(crowd)}"
    )
    many = await asyncio.gather(*(_later(door, asks(100, PACE), place / MANY) for place in range(MANY)))
    grown = (resident(pid) - idle) / 1.048576 if pid else 0.0
    print(f"{'':24} {MANY} streams: {grown:.0f} MiB more than before{_lost(many)}")
    began, spent = time.monotonic(), used()
    done = sum(await asyncio.gather(*(_short(door, began + SHORT) for _ in range(AT_ONCE))))
    seconds = time.monotonic() - began
    each = (used() - spent) / done * 1000 if done else 0.0
    print(
        f"{'':24} short ones, {AT_ONCE} at once: {done / seconds:.0f} requests a second, {each:.1f} ms of CPU each"
    )


async def _later(door: Door, question: str, seconds: float) -> Heard:
    await asyncio.sleep(seconds)
    return await door.ask(question)


async def _short(door: Door, until: float) -> int:
    done = 0
    while time.monotonic() < until:
        done += not (await door.ask(asks(1, 0), stream=False)).lost
    return done


def _first(heard: list[Heard]) -> str:
    known = sorted(each.first for each in heard if each.first)
    return f"p50 {median(known):.1f} p95 {_place(known, 0.95)}" if known else "never"


def _place(values: list[float], part: float) -> str:
    return f"{values[min(len(values) - 1, int(len(values) * part))]:.1f}" if values else "-"


def _lost(heard: list[Heard]) -> str:
    lost = [each.lost for each in heard if each.lost]
    return f", LOST {len(lost)}: {lost[0]}" if lost else ""


if __name__ == "__main__":
    main()
