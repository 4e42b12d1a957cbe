"""What the main thread of a page does for one long answer, and how much comes over its socket.

Run it with `python -m bench.painting`. It ends with code 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from statistics import median

from playwright.sync_api import Browser, Page

from bench.browser import Counters, chromium, tab
from bench.house import House, house
from bench.provider import Plan, Provider, providing

MOST_SECONDS, MOST_RATIO = 1.5, 3.0
LAST = "[...document.querySelectorAll('article[data-role=assistant]')].at(-1)"
KINDS = ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")


@dataclass(frozen=True)
class Run:
    """Seconds by kind, and how much came for how much HTML."""

    seconds: dict[str, float]
    frames: int
    octets: int
    html: int

    @property
    def ratio(self) -> float:
        return self.octets / self.html


def watched(page: Page, plan: Plan) -> Run:
    came: list[int] = []
    tools = page.context.new_cdp_session(page)
    tools.send("Network.enable")
    tools.on(
        "Network.webSocketFrameReceived",
        lambda said: came.append(len(said["response"]["payloadData"].encode())),
    )
    counters = Counters(page)
    page.wait_for_timeout(2000)
    before = counters.read()
    page.get_by_role("textbox", name="Message", exact=True).fill(plan.question)
    page.keyboard.press("Enter")
    done = f"() => {LAST}?.dataset.status === 'complete' && {LAST}.textContent.length > 5000"
    # Looking for it in every picture would be counted too.
    page.wait_for_function(done, polling=250)
    page.wait_for_timeout(500)
    after = counters.read()
    html = page.evaluate(f"new Blob([{LAST}.outerHTML]).size")
    return Run({kind: after[kind] - before[kind] for kind in KINDS}, len(came), sum(came), html)


def measured(browser: Browser, served: House, provider: Provider, plan: Plan) -> Run:
    place = served.place(3)
    with tab(browser, served, place.session) as page:
        page.goto(served.url + place.path)
        page.wait_for_timeout(1000)
        return watched(page, plan)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deltas", type=int, default=4000)
    parser.add_argument("--letters", type=int, default=5)
    parser.add_argument("--pace", type=float, nargs="+", default=[100, 400])
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    worst: list[tuple[float, float]] = []
    with providing() as provider, house(provider) as served, chromium() as browser:
        for pace in chosen.pace:
            runs = [
                measured(
                    browser,
                    served,
                    provider,
                    Plan(name="answer", text=chosen.deltas, letters=chosen.letters, pace=pace),
                )
                for _ in range(chosen.runs)
            ]
            parts = ", ".join(
                f"{kind.removesuffix('Duration').lower()} {median(run.seconds[kind] for run in runs):.2f}"
                for kind in KINDS
            )
            ratio = median(run.ratio for run in runs)
            print(
                f"{pace:.0f} deltas a second: {parts} s; "
                f"{runs[0].frames} frames, {runs[0].octets / 1000:.0f} kB for {runs[0].html / 1000:.0f} kB of HTML: {ratio:.2f} times",
                flush=True,
            )
            worst.append((median(run.seconds["TaskDuration"] for run in runs), ratio))
    print(f"at most {MOST_SECONDS} s of tasks, and {MOST_RATIO} times")
    sys.exit(any(seconds > MOST_SECONDS or ratio > MOST_RATIO for seconds, ratio in worst))


if __name__ == "__main__":
    main()
