"""What a shared page of 50 messages costs: CPU of the server for each reader, and what comes over the wire to a browser that is new there.

Run it with `python -m bench.sharing`. It ends with code 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from statistics import median

from bench.browser import chromium, tab
from bench.house import House, Place, house, kilobytes
from bench.opening import in_words, served_in
from bench.provider import providing
from bench.weight import Scales

TURNS = 25
MOST_MS, MOST_KB = 60, 100
SETTLED_MS = 1000


@dataclass(frozen=True)
class Link(Place):
    """As somebody opens it who has no account."""

    token: str

    @property
    def path(self) -> str:
        return f"s/{self.token}/"


def link(served: House) -> Link:
    place = served.place(TURNS, says=kilobytes())
    return Link("", place.conversation, served.clerk("share", conversation=place.conversation))


def weighed(served: House, shared: Link) -> Scales:
    scales = Scales()
    with chromium() as browser, tab(browser, served, "") as page:
        scales.watch(page)
        page.goto(served.url + shared.path, wait_until="load")
        page.wait_for_timeout(SETTLED_MS)
    return scales


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=6, help="each to a branch of its own")
    parser.add_argument("--runs", type=int, default=30, help="how often each is opened")
    chosen = parser.parse_args()
    with providing() as provider, house(provider) as served:
        links = [link(served) for _ in range(chosen.links)]
        served_in(served, links[0], 1)
        first = [served_in(served, each, 1) for each in links[1:]]
        later = [served_in(served, each, chosen.runs) for each in links]
        scales = weighed(served, links[0])
    late = False
    for name, gets in (("nobody read it before", first), ("somebody did", later)):
        took = [time for times, _, _ in gets for time in times]
        used = [server + renderers for _, server, renderers in gets]
        late |= median(used) > MOST_MS
        print(f"{name:24} {in_words(took, 'ms'):26} CPU {in_words(used, 'ms')}")
    parts = ", ".join(f"{kind} {size / 1000:.1f}" for kind, size in sorted(scales.found.items()))
    print(f"{'first load':24} {scales.kb:.1f} kB   {parts}   {len(scales.files)} files")
    print(f"at most {MOST_MS} ms of CPU for each reader, and {MOST_KB} kB")
    sys.exit(late or scales.kb > MOST_KB)


if __name__ == "__main__":
    main()
