"""Whether one person's long writes are felt by another: sixteen forks of a long conversation at once, while somebody else asks.

Run it with `python -m bench.forks`. The server is a process of its own; with DATABASE_URL it uses that database, which must be empty.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from tests.browser.served import Served, serving

FORKS = 16
TURNS = 7_500
# Seconds: another person's write, and between two of their questions.
TARGET, PAUSE = 0.3, 0.25
TOKEN = "t" * 32
HTMX = {"HX-Request": "true", "X-CSRFToken": TOKEN}


@dataclass
class Seen:
    """Of the questions of the other person: how long each took, and how each was answered; and the same of the forks."""

    asked: list[float] = field(default_factory=list)
    answers: Counter[int] = field(default_factory=Counter)
    took: list[float] = field(default_factory=list)
    forks: Counter[int] = field(default_factory=Counter)


def visitor(served: Served, session: str) -> httpx.AsyncClient:
    cookies = {"sessionid": session, "csrftoken": TOKEN}
    return httpx.AsyncClient(base_url=served.url, cookies=cookies, timeout=120)


async def measured(served: Served, forks: int, turns: int) -> Seen:
    name, session = served.person("alice")
    conversation = served.clerk("conversation", owner=name, turns=turns)
    _, others = served.person("bob")
    seen, ended = Seen(), asyncio.Event()
    async with visitor(served, session) as alice, visitor(served, others) as bob:
        page = await alice.get(f"/c/{conversation}/")
        leaf = re.search(r'data-leaf="([^"]+)"', page.text)
        assert leaf
        await _ask(bob, Seen())
        asking = asyncio.create_task(_keep_asking(bob, seen, ended))
        await asyncio.gather(*(_fork(alice, leaf[1], seen) for _ in range(forks)))
        ended.set()
        await asking
    return seen


async def _fork(alice: httpx.AsyncClient, message: str, seen: Seen) -> None:
    began = time.monotonic()
    response = await alice.post(f"/m/{message}/fork/", data={"extent": "everything"}, headers=HTMX)
    seen.took.append(time.monotonic() - began)
    seen.forks[response.status_code] += 1


async def _keep_asking(bob: httpx.AsyncClient, seen: Seen, ended: asyncio.Event) -> None:
    while not ended.is_set():
        await _ask(bob, seen)
        await asyncio.sleep(PAUSE)


async def _ask(bob: httpx.AsyncClient, seen: Seen) -> None:
    began = time.monotonic()
    response = await bob.post("/ask/", data={"text": "Hello", "model": "demo:thinker"}, headers=HTMX)
    seen.asked.append(time.monotonic() - began)
    seen.answers[response.status_code] += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--forks", type=int, default=FORKS)
    parser.add_argument(
        "--turns", type=int, default=TURNS, help="questions in the conversation that is forked"
    )
    options = parser.parse_args()
    given = {name: os.environ[name] for name in ("DATABASE_URL",) if name in os.environ}
    with TemporaryDirectory() as folder, serving(Path(folder), given) as served:
        seen = asyncio.run(measured(served, options.forks, options.turns))
    print(f"forks, by how they were answered: {dict(seen.forks)}; the longest took {max(seen.took):.2f} s")
    print(f"{len(seen.asked)} questions of somebody else, by how they were answered: {dict(seen.answers)}")
    asked = sorted(seen.asked)
    print(f"they took {asked[len(asked) // 2]:.3f} s (median), {asked[-1]:.3f} s at most; target {TARGET} s")
    sys.exit(asked[-1] > TARGET or set(seen.answers) != {200})


if __name__ == "__main__":
    main()
