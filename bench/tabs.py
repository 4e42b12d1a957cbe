"""What each further tab costs that watches the same answer.

Run it with `python -m bench.tabs`.
"""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import dataclass
from statistics import median

from bench.house import House, Place, Use, house
from bench.load import PATIENCE, delays, watching
from bench.provider import Plan, Provider, providing


@dataclass(frozen=True)
class Run:
    """CPU seconds for 1,000 deltas, milliseconds of the relay, and octets to each tab."""

    use: Use
    relay: float
    octets: float
    memory: float


async def watched(house: House, provider: Provider, place: Place, plan: Plan, tabs: int) -> Run:
    async with watching(house, [place] * tabs) as watchers:
        await watchers[0].ask(plan)
        await asyncio.to_thread(provider.wait_for, 1)
        await asyncio.sleep(1)
        before, memory = house.use(), house.memory()
        await asyncio.to_thread(provider.let_go)
        await asyncio.wait_for(asyncio.gather(*(watcher.ended for watcher in watchers)), PATIENCE)
        used, thousands = house.use() - before, (plan.thought + plan.text) / 1000
        late = [ms for watcher in watchers for ms in delays(watcher, plan, provider)]
    return Run(
        Use(used.server / thousands, used.renderers / thousands),
        median(late),
        sum(watcher.octets for watcher in watchers) / tabs,
        house.memory() - memory,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tabs", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--deltas", type=int, default=1000)
    parser.add_argument("--pace", type=float, default=100)
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    found: dict[int, list[Run]] = {tabs: [] for tabs in chosen.tabs}
    with providing() as provider, house(provider) as served:
        for run in range(chosen.runs):
            for tabs, runs in found.items():
                plan = Plan(name=f"{tabs}-{run}", text=chosen.deltas, pace=chosen.pace, held=True)
                runs.append(asyncio.run(watched(served, provider, served.place(), plan, tabs)))
    print("CPU for 1,000 deltas")
    for tabs, runs in found.items():
        server, renderers = median(run.use.server for run in runs), median(run.use.renderers for run in runs)
        relay, octets = median(run.relay for run in runs), median(run.octets for run in runs) / 1000
        print(
            f"{tabs:3} tabs: server {server:.3f} s, renderers {renderers:.3f} s, relay {relay:.1f} ms, {octets:.0f} kB each"
        )
    (few, least), *_, (many, most) = found.items()
    if many > few:
        each = (median(run.use.server for run in most) - median(run.use.server for run in least)) / (
            many - few
        )
        print(f"a further tab: {each:.3f} s")


if __name__ == "__main__":
    main()
