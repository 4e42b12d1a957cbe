"""How many letters a second are held: rung by rung, until they come late or not at all."""

from __future__ import annotations

from collections.abc import Sequence

from bench.crowd.least import Least
from bench.crowd.ours import Ours
from bench.crowd.scene import Scene, of_hundred
from bench.crowd.told import Table, line

RUNGS = (1_000, 2_000, 3_500, 5_000, 7_500, 10_000)
SECONDS = 4.0
LATE_MS = 100.0
# Every rung begins with as many questions, which weigh most on the lowest: who misses one goes on, who misses two in a row does not.
MISSES = 2
# The provider of the bench is a single process, too.
KEPT_PACE = 0.85


def climb(players: Sequence[Ours | Least], people: int, rungs: Sequence[int], table: Table) -> dict[str, int]:
    """The highest rung that each held."""
    held = dict.fromkeys((player.name for player in players), 0)
    missed = dict.fromkeys(held, 0)
    for rung in rungs:
        for player in players:
            if missed[player.name] == MISSES:
                continue
            if _holds(player, rung_of(rung, people), rung):
                held[player.name], missed[player.name] = rung, 0
            else:
                missed[player.name] += 1
    for name, most in held.items():
        table.add(f"{people} people: deltas a second, relay of 95 of 100 within {LATE_MS:.0f} ms", name, most)
    return held


def rung_of(rung: int, people: int, seconds: float = SECONDS) -> Scene:
    return Scene(people=people, pace=rung / people, plain=True, seconds=seconds, reloaded=False)


def _holds(player: Ours | Least, scene: Scene, rung: int) -> bool:
    run = player.play(scene)
    print(line(f"rung {rung}", player.name, run), f" {run.sent:.0f} sent a second", flush=True)
    if run.sent < KEPT_PACE * rung:
        print("  The provider gave no more, or was not asked for more.")
    return run.whole and of_hundred(run.relay, 95) <= LATE_MS
