"""How long a conversation of 10,000 messages takes to open, and one of 200: in the server, and until its last message is seen.

Run it with `python -m bench.opening`. It ends with code 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from playwright.sync_api import Browser

from bench.browser import chromium, tab
from bench.house import House, Place, house, kilobytes
from bench.provider import providing

SHORT, LONG = 200, 10_000
MOST_SECONDS, MOST_RATIO = 0.45, 1.25
# The moment of the frame in which the last message is within the window.
LOOK = """
const look = () => {
  const last = document.readyState === "loading" ? null : [...document.querySelectorAll("article")].at(-1);
  const place = last?.getBoundingClientRect();
  if (place && place.bottom > 0 && place.top < innerHeight) globalThis.seenAt = performance.now();
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


def seen(browser: Browser, served: House, place: Place, runs: int) -> list[float]:
    """Seconds from the address to the sight, in a tab that has the styles and scripts already."""
    found = []
    with tab(browser, served, place.session) as page:
        page.goto(served.url)
        page.add_init_script(LOOK)
        for _ in range(runs):
            page.goto("about:blank")
            page.goto(served.url + place.path)
            page.wait_for_function("() => globalThis.seenAt")
            found.append(page.evaluate("globalThis.seenAt") / 1000)
    return found


def served_in(served: House, place: Place, runs: int) -> tuple[list[float], float, float]:
    """Milliseconds of each GET; CPU milliseconds of one, of the server and of those who render for it."""
    asked = urllib.request.Request(
        served.url + place.path,
        headers={"Cookie": f"sessionid={place.session}", "Accept-Encoding": "gzip"},
    )
    before, took = served.use(), []
    for _ in range(runs):
        began = time.perf_counter()
        with urllib.request.urlopen(asked) as answer:
            answer.read()
        took.append((time.perf_counter() - began) * 1000)
    used = served.use() - before
    return took, used.server * 1000 / runs, used.renderers * 1000 / runs


def columns(rows: Sequence[Sequence[Any]], times: Callable[[Any], list[float]]) -> list[list[float]]:
    """All times of the short ones, and all of the long ones."""
    return [[time for each in column for time in times(each)] for column in zip(*rows, strict=True)]


def in_words(times: Sequence[float], unit: str) -> str:
    digits = 2 if unit == "s" else 0
    return f"{median(times):.{digits}f} {unit} ({min(times):.{digits}f} to {max(times):.{digits}f})"


def show(name: str, short: Sequence[float], long: Sequence[float], unit: str) -> float:
    ratio = median(long) / median(short)
    print(f"{name:34} {in_words(short, unit):26} {in_words(long, unit):26} {ratio:.2f}", flush=True)
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--places", type=int, default=5, help="conversations of each length")
    parser.add_argument("--runs", type=int, default=4, help="how often each is opened")
    chosen = parser.parse_args()
    with providing() as provider, house(provider) as served:
        pairs = [
            [served.place(messages // 2, says=kilobytes()) for messages in (SHORT, LONG)]
            for _ in range(chosen.places)
        ]
        print(f"{'messages':34} {SHORT:<26} {LONG:<26} ratio")
        first = [[served_in(served, place, 1) for place in pair] for pair in pairs]
        show("GET, first time", *columns(first, lambda get: get[0]), "ms")
        again = [[served_in(served, place, 10) for place in pair] for pair in pairs]
        show("GET, again", *columns(again, lambda get: get[0]), "ms")
        show("CPU of a GET, again", *columns(again, lambda get: [get[1]]), "ms")
        with chromium() as browser:
            times = [[seen(browser, served, place, chosen.runs) for place in pair] for pair in pairs]
        short, long = columns(times, lambda each: each)
        ratio = show("until the last message is seen", short, long, "s")
    print(f"at most {MOST_SECONDS} s, and {MOST_RATIO} times")
    sys.exit(median(long) > MOST_SECONDS or ratio > MOST_RATIO)


if __name__ == "__main__":
    main()
