"""How much comes over the wire when a page is opened for the first time: the page, its styles and scripts, and the socket's first frames.

Run it with `python -m bench.weight`. It ends with code 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page

from bench.browser import chromium, tab
from bench.house import house, kilobytes
from bench.provider import providing

MOST_KB = 150
SETTLED_MS = 1500


@dataclass
class Scales:
    """Octets by kind, headers included."""

    found: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    files: list[tuple[float, str]] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        tools = page.context.new_cdp_session(page)
        kinds: dict[str, tuple[str, str]] = {}
        tools.send("Network.enable")
        tools.on(
            "Network.responseReceived",
            lambda said: kinds.update({said["requestId"]: (said["type"], said["response"]["url"])}),
        )
        tools.on("Network.loadingFinished", lambda said: self._finished(said, kinds))
        tools.on("Network.webSocketFrameReceived", self._heard)

    def _finished(self, said: dict[str, Any], kinds: dict[str, tuple[str, str]]) -> None:
        kind, url = kinds.get(said["requestId"], ("Other", ""))
        self.found[kind] += said["encodedDataLength"]
        self.files.append((said["encodedDataLength"], urlsplit(url).path))

    def _heard(self, said: dict[str, Any]) -> None:
        self.found["WebSocket"] += len(said["response"]["payloadData"].encode())

    @property
    def kb(self) -> float:
        return sum(self.found.values()) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--turns", type=int, default=100, help="questions of the conversation, each answered with 1 kB"
    )
    parser.add_argument("--conversations", type=int, default=30, help="in the list beside it")
    parser.add_argument("--files", action="store_true", help="each file by itself")
    chosen = parser.parse_args()
    worst = 0.0
    with providing() as provider, house(provider) as served, chromium() as browser:
        place = served.place(chosen.turns, beside=chosen.conversations, says=kilobytes())
        for name, path, session in (
            ("conversation", place.path, place.session),
            ("home", "", place.session),
            ("login", "accounts/login/", ""),
        ):
            scales = Scales()
            with tab(browser, served, session) as page:
                scales.watch(page)
                page.goto(served.url + path, wait_until="load")
                page.wait_for_timeout(SETTLED_MS)
            parts = ", ".join(f"{kind} {size / 1000:.1f}" for kind, size in sorted(scales.found.items()))
            print(f"{name:14} {scales.kb:6.1f} kB   {parts}   {len(scales.files)} files")
            if chosen.files:
                for size, file in sorted(scales.files, reverse=True):
                    print(f"    {size / 1000:6.1f} {file}")
            worst = max(worst, scales.kb)
    print(f"at most {MOST_KB} kB")
    sys.exit(worst > MOST_KB)


if __name__ == "__main__":
    main()
