"""What a server holds in memory that has just started, while so many are answered, and when they have gone."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Callable
from contextlib import AbstractContextManager

from bench.crowd.least import Least
from bench.crowd.ours import Ours
from bench.crowd.scene import Scene
from bench.crowd.told import MOST_WORDS, Table, mebibytes
from bench.house import resident

AFTERWARDS_SECONDS = 30
Server = Callable[[], AbstractContextManager[Ours | Least]]


def hold(servers: list[Server], people: int, seconds: float, table: Table) -> None:
    """Each begins anew for it."""
    scene = Scene(people=people, plain=True, seconds=seconds, reloaded=False)
    for server in servers:
        with server() as player:
            _show(player, scene, table)


def _show(player: Ours | Least, scene: Scene, table: Table) -> None:
    if isinstance(player, Ours):
        _first_page(player)
    idle = resident(player.pid)
    run = player.play(scene)
    time.sleep(AFTERWARDS_SECONDS)
    after = resident(player.pid)
    found = {
        "idle, after one page": idle,
        f"most, {scene.people} x {scene.pace:.0f}/s from a cold start": run.memory,
        f"the same with what renders, {scene.people}": run.beside,
        f"{AFTERWARDS_SECONDS} s after they left, {scene.people}": after,
        f"the same with what renders then, {scene.people}": after + player.beside(),
    }
    words = ", ".join(f"{what} {mebibytes(mb):.0f}" for what, mb in found.items())
    print(f"memory, MiB: {player.name:8} {words}; {len(run.lost) + len(run.refused)} lost", flush=True)
    for sentence in [*run.refused, *run.lost][:MOST_WORDS]:
        print(f"  {sentence}")
    for what, mb in found.items():
        table.add(f"MiB, {what}", player.name, mebibytes(mb))


def _first_page(player: Ours) -> None:
    with urllib.request.urlopen(player.served.url) as answer:
        answer.read()
