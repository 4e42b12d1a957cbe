"""What a socket costs that is never read while a long answer is written, and what it takes from those who watch another answer.

Run it with `python -m bench.unread`. Each case has a server of its own. It ends with code 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median, quantiles
from urllib.parse import urlsplit

from bench.house import House, Place, house
from bench.load import PATIENCE, delays, watching
from bench.provider import Plan, Provider, providing

MOST_KB = 512
OTHER = Plan(name="other", text=500, pace=50, held=True)
HANDSHAKE = """GET /ws/{path}?leaf={leaf} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: sessionid={session}\r\n\
Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"""


@dataclass(frozen=True)
class Run:
    """How many kB the server has grown, and the milliseconds that the other answer's deltas took."""

    grown: float
    late: list[float]


@contextmanager
def never_read(url: str, place: Place, leaf: str) -> Iterator[None]:
    """A socket that is opened and then left alone."""
    host = urlsplit(url).netloc
    address, _, port = host.partition(":")
    with socket.create_connection((address, int(port))) as left_alone:
        asked = HANDSHAKE.format(
            path=place.path, leaf=leaf, host=host, session=place.session, key="A" * 22 + "=="
        )
        left_alone.sendall(asked.encode())
        assert b" 101 " in left_alone.recv(1024)
        yield


async def written(house: House, provider: Provider, plan: Plan, *, unread: int) -> Run:
    """The long answer is watched by one socket, and by so many that are never read."""
    long, other = house.place(), house.place()
    async with watching(house, [long, other]) as (watcher, beside):
        await asyncio.gather(watcher.ask(plan), beside.ask(OTHER))
        with ExitStack() as stack:
            for _ in range(unread):
                stack.enter_context(never_read(house.url, long, watcher.leaf))
            await asyncio.to_thread(provider.wait_for, 2)
            await asyncio.sleep(1)
            house.forget_most()
            before = house.memory()
            await asyncio.to_thread(provider.let_go)
            await asyncio.wait_for(asyncio.gather(watcher.ended, beside.ended), PATIENCE)
            grown = house.most_memory() - before
    return Run(grown * 1000, delays(beside, OTHER, provider))


def measured(provider: Provider, plan: Plan, unread: int) -> Run:
    with house(provider) as served:
        return asyncio.run(written(served, provider, plan, unread=unread))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=5)
    parser.add_argument("--unread", type=int, default=60, help="sockets that are never read")
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    half = int(chosen.megabytes * 1000 / 2)
    plan = Plan(name="long", thought=half, text=half, letters=1000, pace=2 * half / 8, held=True)
    cases: dict[int, list[Run]] = {0: [], chosen.unread: []}
    with providing() as provider:
        for _ in range(chosen.runs):
            for unread, runs in cases.items():
                runs.append(measured(provider, plan, unread))
    for unread, runs in cases.items():
        late = quantiles([ms for run in runs for ms in run.late], n=100)
        grown = ", ".join(f"{run.grown:.0f}" for run in runs)
        print(
            f"{unread:3} never read: grown by {grown} kB; another answer: {late[49]:.1f} / {late[94]:.1f} ms"
        )
    least, most = (median(run.grown for run in runs) for runs in cases.values())
    each = (most - least) / chosen.unread
    print(f"each: {each:.0f} kB (at most {MOST_KB})")
    sys.exit(each > MOST_KB)


if __name__ == "__main__":
    main()
