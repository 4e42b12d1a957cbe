"""What it costs that many processes do what one can do: two that serve and two or more that work, beside one that does everything.

Run it with `python -m bench.many postgres://postgres@127.0.0.1/postgres`; it makes a database there that goes away, and starts a Redis
of its own. Half of the people listen at each process that serves. CPU is that of our own processes, without PostgreSQL's and Redis'.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from bench.capacity.points import MEASURED
from bench.crowd.ours import Ours, serving
from bench.crowd.scene import Scene, of_hundred
from bench.crowd.told import PLACES, Table
from bench.live import play
from bench.processes import bus, crowd, moments, points
from bench.processes.deployment import Many, serving_many
from bench.provider import Provider, providing
from tests.browser.served import ROOT

PARTS = ("cost", "bus", "moments", "crowd", "points")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", help="a PostgreSQL database on which databases may be made")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS[:3])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--webs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--people", type=int, default=100, help="who are answered at once, 50 deltas a second each"
    )
    parser.add_argument("--runs", type=int, default=20, help="claims, and stops")
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--crowd", type=int, default=1000, help="so many answers at once")
    parser.add_argument(
        "--paces", type=float, nargs="+", default=[2, 4, 6, 8], help="deltas a second of each of them"
    )
    parser.add_argument(
        "--points", type=Path, default=MEASURED, help="the file that the part of that name writes"
    )
    chosen = parser.parse_args()
    with providing() as provider, serving_many(chosen.server, provider, chosen.webs, chosen.workers) as many:
        table = Table([many.name])
        if "cost" in chosen.parts:
            table = _beside_one(many, provider, chosen)
        _more(many, chosen, table)
        table.show()


def _beside_one(many: Ours, provider: Provider, chosen: argparse.Namespace) -> Table:
    with serving("one", ROOT, provider) as one:
        table = Table([many.name, one.name])
        play([one, many], Scene(people=1, plain=True, seconds=1), 15, table)
        play([one, many], Scene(people=chosen.people, plain=True), chosen.rounds, table)
    return table


def _more(many: Ours, chosen: argparse.Namespace, table: Table) -> None:
    assert isinstance(many.served, Many)
    if "bus" in chosen.parts:
        run, late = bus.played(many, Scene(people=chosen.people, plain=True, reloaded=False))
        print(f"bus to socket: {len(run.refused) + len(run.lost)} refused or lost")
        for when, some in (("while all speak", late.speaking), ("ends included", late.all)):
            print(
                f"  {when}: {' / '.join(f'{of_hundred(some, place):.1f}' for place in PLACES)} ms of {len(some)} letters"
            )
            for place in PLACES:
                table.add(f"bus to socket, {when}, {place} of 100, ms", many.name, of_hundred(some, place))
    if "moments" in chosen.parts:
        asyncio.run(moments.measure(many.served, chosen.runs, chosen.kills, many.name, table))
    if "crowd" in chosen.parts:
        crowd.climb(many, chosen.crowd, chosen.paces, table)
    if "points" in chosen.parts:
        points.measure(many, chosen.points)


if __name__ == "__main__":
    main()
