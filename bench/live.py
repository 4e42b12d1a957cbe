"""What people wait for while many ask at once, and what that costs: questions within a second, answers that begin at once.

Run it with `python -m bench.live`. The provider, the servers and the watchers are processes of their own, on the same machine. The
floor is measured in the same run, in turns: what the least of such servers does (`bench/floor.py`). With `--turns FOLDER` the server of
another checkout takes turns, too, as "before".
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench.crowd.flood import flood
from bench.crowd.holding import hold
from bench.crowd.ladder import RUNGS, climb
from bench.crowd.least import Least, serving_least
from bench.crowd.ours import Ours, serving
from bench.crowd.question import measure
from bench.crowd.scene import Run, Scene
from bench.crowd.told import Table, line
from bench.provider import providing
from tests.browser.served import ROOT

PARTS = ("question", "scenes", "ladder", "memory")


def scenes(chosen: argparse.Namespace) -> Iterator[tuple[Scene, int]]:
    """And how often each is played."""
    one = Scene(people=1, plain=True, seconds=1)
    for scene in (one, replace(one, first=True)):
        yield scene, chosen.alone
    for people in chosen.people:
        for pace in chosen.paces:
            scene = Scene(people=people, pace=pace, plain=True, seconds=chosen.seconds)
            yield scene, chosen.rounds
            if not chosen.brief:
                for other in (
                    replace(scene, plain=False),
                    replace(scene, first=True),
                    replace(scene, tabs=2),
                ):
                    yield other, chosen.rounds


def play(players: Sequence[Ours | Least], scene: Scene, times: int, table: Table) -> None:
    runs: dict[str, list[Run]] = {player.name: [] for player in players}
    for turn in range(times):
        # Nobody is always the one after whom the others come.
        first = turn % len(players)
        for player in [*players[first:], *players[:first]]:
            runs[player.name].append(player.play(scene))
    for name, played in runs.items():
        # What was played alone is few letters each time; what many played is told for each time.
        told = [sum(played, Run())] if scene.people == 1 else played
        for run in told:
            print(line(scene.name, name, run), flush=True)
            table.add_run(scene, name, run)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, nargs="+", default=[100, 200])
    parser.add_argument("--paces", type=float, nargs="+", default=[20, 50, 200])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--alone", type=int, default=15, help="answers one after the other")
    parser.add_argument("--asking", type=int, default=25, help="people who ask one after the other")
    parser.add_argument("--rounds", type=int, default=1, help="how often each scene is played, in turns")
    parser.add_argument("--brief", action="store_true", help="plain text, a next question and one tab alone")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--climbing", type=int, default=50, help="people on the ladder")
    parser.add_argument(
        "--rungs", type=int, nargs="+", default=RUNGS, help="deltas a second, of all together"
    )
    parser.add_argument("--turns", type=Path, help="another checkout, whose server takes turns")
    chosen = parser.parse_args()
    checkouts = {"ours": ROOT} | ({"before": chosen.turns.resolve()} if chosen.turns else {})
    table = Table([*checkouts, "floor"])
    print("Milliseconds: 50 / 95 / 99 of 100. CPU: all processes of the server, questions and ends included.")
    with providing() as provider:
        servers = [partial(serving, name, folder, provider) for name, folder in checkouts.items()]
        if {"question", "scenes", "ladder"} & set(chosen.parts):
            with ExitStack() as stack:
                ours = [stack.enter_context(server()) for server in servers]
                least = stack.enter_context(serving_least(provider))
                if "question" in chosen.parts:
                    measure(ours, least, chosen.asking, chosen.rounds, table)
                _measure([*ours, least], least, chosen, table)
        if "memory" in chosen.parts:
            for people in chosen.people:
                hold([*servers, partial(serving_least, provider)], people, chosen.seconds, table)
    table.show()


def _measure(players: list[Ours | Least], least: Least, chosen: argparse.Namespace, table: Table) -> None:
    if "scenes" in chosen.parts:
        written, waited = asyncio.run(least.writes(300))
        print(
            f"floor: a signed-in POST that writes two rows: {written:.1f} ms of CPU, {waited:.1f} ms until its answer"
        )
        for scene, times in scenes(chosen):
            play(players, scene, times, table)
    if "ladder" in chosen.parts:
        flood(players, chosen.climbing, climb(players, chosen.climbing, chosen.rungs, table), table)


if __name__ == "__main__":
    main()
