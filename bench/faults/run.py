"""One run: people come, stretch follows stretch, and each is written down."""

from __future__ import annotations

import argparse
import asyncio
import time
from random import Random

from bench.faults.crowd import Crowd
from bench.faults.director import Director
from bench.faults.house import House
from bench.faults.journal import Journal
from bench.faults.kinds import lanes
from bench.faults.witness import RowWitness
from bench.faults.words import ACT, SERVER
from chatapp.mcp_servers.models import McpServer, McpTool
from chatapp.mcp_servers.store import judge_tool, save_server
from tests.browser.clerk import person


async def run(house: House, journal: Journal, chosen: argparse.Namespace) -> None:
    witness = RowWitness(house.runners, house.effects)
    await asyncio.to_thread(witness.take_its_place)
    await asyncio.to_thread(save_server, McpServer(name=SERVER, url=house.tools_url, private_network=True))
    await asyncio.to_thread(house.heal)
    await asyncio.to_thread(_allow_the_tool)
    sessions = [await asyncio.to_thread(person, f"reader-{n}") for n in range(chosen.people)]
    crowd = Crowd({name: web.url for name, web in house.webs.items()}, Random(chosen.seed))
    await crowd.come(sessions, first=0)
    director = Director(house, crowd, witness)
    try:
        await _play(director, witness, journal, chosen)
    finally:
        await crowd.go()


async def _play(
    director: Director, witness: RowWitness, journal: Journal, chosen: argparse.Namespace
) -> None:
    while journal.faults < chosen.faults and not (chosen.broken and journal.breaches):
        seed = f"{chosen.seed}/{journal.faults}"
        director.random = Random(seed)
        count = min(chosen.stretch, chosen.faults - journal.faults)
        await asyncio.to_thread(witness.know)
        began = time.monotonic()
        figures = await director.play(*lanes(seed, count, chosen.only))
        journal.add(figures)
        for breach in figures.breaches:
            print(f"BREACH {breach[:600]}", flush=True)
        print(
            f"{journal.faults} faults, {len(journal.breaches)} breaches; this stretch took {time.monotonic() - began:.0f} s; "
            f"{figures.sights.get('answers', 0)} answers",
            flush=True,
        )


# By then every process has looked at what staff said.
KNOWN_SECONDS = 6.0


def _allow_the_tool() -> None:
    """As staff would, as soon as it is listed: it may run without asking, and not twice."""
    while not (tool := McpTool.objects.filter(server__name=SERVER, name=ACT).first()):
        time.sleep(0.2)
    assert judge_tool(
        tool.pk, seen=tool.fingerprint, safe=True, idempotent=False, is_on=True, in_new_conversations=True
    )
    time.sleep(KNOWN_SECONDS)
