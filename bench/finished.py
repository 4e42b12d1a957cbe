"""Does an answer look finished while it is written? Forty answers, at several paces, looked at many times a second in a real Chromium.

Run it with `python -m bench.finished`. A look counts as raw where the answer shows a sign that the finished one does not show at that
place. It ends with code 1 when a target is missed. With `--film NAME` it saves pictures of one answer while it grows instead.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page

from bench.browser import chromium
from bench.growing.judged import Judgement, judged
from tests.browser.served import ROOT, Served, serving, with_tables
from tests.browser.steered import Upstream, Write, running

HERE = Path(__file__).parent / "growing"
MOST_RAW, MOST_RATIO = 0.02, 3.0
# A token of a model.
SIGNS = 4
# At each pace, how many looks a second, and how many answers at once: so many that this machine still draws them all in time.
PACES = {20: (10, 10), 120: (20, 4), 400: (40, 2)}
STATUS = "document.querySelectorAll('article[data-role=assistant]')[1]?.dataset.status"
HTML = "new Blob([[...document.querySelectorAll('article[data-role=assistant]')].at(-1).outerHTML]).size"
STRIP = "<!doctype html><body style='margin:0;display:grid;grid-template-columns:repeat({},auto);gap:6px;background:#f0f'>{}"


def answers(names: str) -> dict[str, str]:
    parts = re.split(r"^%%% (.*)\n", (HERE / "answers.md").read_text(), flags=re.MULTILINE)[1:]
    found = dict(zip(parts[::2], parts[1::2], strict=True))
    return {name: text for name, text in found.items() if names in name}


class Reader:
    """Somebody at a tab of their own, who has asked and watches the answer come."""

    def __init__(self, page: Page, upstream: Upstream, text: str, pace: int) -> None:
        self.page, self.octets, self.looks = page, 0, PACES.get(pace, (20, 1))[0]
        tools = page.context.new_cdp_session(page)
        tools.send("Network.enable")
        tools.on("Network.webSocketFrameReceived", self._count)
        upstream.plays(Write(text, pace=pace / SIGNS, at_once=SIGNS))
        asked = len(upstream.requests)
        page.evaluate((HERE / "looks.js").read_text(), 1000 / self.looks)
        page.get_by_role("textbox", name="Message", exact=True).fill("Tell me.")
        page.keyboard.press("Enter")
        while len(upstream.requests) == asked:
            page.wait_for_timeout(5)

    def _count(self, said: dict[str, dict[str, str]]) -> None:
        self.octets += len(said["response"]["payloadData"].encode())

    @property
    def has_everything(self) -> bool:
        return bool(self.page.evaluate(STATUS) == "complete")

    def judgement(self) -> Judgement:
        self.page.wait_for_timeout(300)
        final = self.page.evaluate("lastLook()")
        found = judged(self.page.evaluate("looks"), final)
        found.octets, found.html = self.octets, self.page.evaluate(HTML)
        return found


@contextmanager
def reading(
    browser: Browser,
    served: Served,
    upstream: Upstream,
    text: str,
    pace: int,
    *,
    width: int = 900,
    **how: Any,
) -> Iterator[Reader]:
    context = browser.new_context(viewport={"width": width, "height": 700}, **how)
    name, session = served.person(default_model="openai:gpt-5")
    conversation = served.clerk("conversation", owner=name, turns=1)
    context.add_cookies([{"name": "sessionid", "value": session, "url": served.url}])
    page = context.new_page()
    page.goto(f"{served.url}c/{conversation}/")
    yield Reader(page, upstream, text, pace)
    context.close()


def measured(
    browser: Browser, served: Served, upstream: Upstream, texts: dict[str, str], pace: int
) -> dict[str, Judgement]:
    names, at_once = list(texts), PACES.get(pace, (20, 1))[1]
    found: dict[str, Judgement] = {}
    for first in range(0, len(names), at_once):
        with ExitStack() as stack:
            group = names[first : first + at_once]
            readers = {
                name: stack.enter_context(reading(browser, served, upstream, texts[name], pace))
                for name in group
            }
            for name, reader in readers.items():
                while not reader.has_everything:
                    reader.page.wait_for_timeout(100)
                found[name] = reader.judgement()
    return found


def tell(pace: int, found: dict[str, Judgement], *, each: bool) -> bool:
    """Whether the targets are met."""
    whole = sum(found.values(), Judgement())
    if each:
        for name, one in found.items():
            if one.raw or one.moved or one.moved_last or one.back:
                print(f"  {name}: {line(one)}")
                for words in dict.fromkeys(one.examples[:3]):
                    print(f"      {words}")
    print(f"{pace} signs a second: {line(whole)}", flush=True)
    return whole.raw <= MOST_RAW * whole.looks and whole.octets <= MOST_RATIO * whole.html


def line(one: Judgement) -> str:
    kinds = ", ".join(f"{kind} {100 * count / one.looks:.1f}" for kind, count in one.kinds.most_common())
    return (
        f"raw in {100 * one.raw / max(1, one.looks):.1f} % of {one.looks} looks ({kinds or 'none'}); {one.back} shapes went back; "
        f"{shifts(one.moved)}, at the end {shifts(one.moved_last)}; {one.octets / max(1, one.html):.2f} times the HTML"
    )


def shifts(moved: list[float]) -> str:
    most = f" of at most {max(map(abs, moved)):.3f} px" if moved else ""
    return f"{len(moved)} shifts{most}"


def film(
    browser: Browser,
    served: Served,
    upstream: Upstream,
    text: str,
    pace: int,
    frames: int,
    picture: Path,
    **screen: Any,
) -> None:
    """Pictures at equal distances, beside each other in one."""
    with reading(browser, served, upstream, text, pace, **screen) as reader, TemporaryDirectory() as folder:
        step, began = len(text) / pace / frames, time.monotonic()
        for at in range(frames):
            reader.page.wait_for_timeout(max(0, 1000 * (began + (at + 0.7) * step - time.monotonic())))
            reader.page.screenshot(path=f"{folder}/{at:02}.png")
        width = min(560, reader.page.viewport_size["width"])
        images = "".join(f"<img src='{at:02}.png' width={width}>" for at in range(frames))
        strip = Path(folder) / "strip.html"
        strip.write_text(STRIP.format(3, images))
        beside = reader.page.context.new_page()
        beside.set_viewport_size({"width": 3 * width + 12, "height": 400})
        beside.goto(strip.as_uri())
        beside.screenshot(path=picture, full_page=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paces", type=int, nargs="+", default=list(PACES), help="signs a second")
    parser.add_argument("--answers", default="", help="those with this in their names")
    parser.add_argument("--checkout", type=Path, default=ROOT, help="another one, whose server is looked at")
    parser.add_argument("--each", action="store_true", help="tell of each answer")
    parser.add_argument("--film", metavar="NAME", help="pictures of the answer of this name")
    parser.add_argument("--frames", type=int, default=9)
    parser.add_argument("--phone", action="store_true", help="as wide as one, for pictures")
    parser.add_argument("--dark", action="store_true", help="by night, for pictures")
    parser.add_argument("--picture", type=Path, default=Path("film.png"))
    chosen = parser.parse_args()
    with ExitStack() as stack:
        upstream = stack.enter_context(running())
        folder = with_tables(Path(stack.enter_context(TemporaryDirectory())))
        environment = upstream.environment | {"DEFAULT_MODEL": "openai:gpt-5"}
        served = stack.enter_context(serving(folder, environment, checkout=chosen.checkout.resolve()))
        browser = stack.enter_context(chromium())
        if chosen.film:
            [text] = answers(chosen.film).values()
            screen = {
                "width": 390 if chosen.phone else 900,
                "color_scheme": "dark" if chosen.dark else "light",
            }
            film(browser, served, upstream, text, chosen.paces[0], chosen.frames, chosen.picture, **screen)
            return
        texts = answers(chosen.answers)
        met = [
            tell(pace, measured(browser, served, upstream, texts, pace), each=chosen.each)
            for pace in chosen.paces
        ]
    print(f"at most {100 * MOST_RAW:.0f} % raw, and {MOST_RATIO} times the HTML")
    sys.exit(not all(met))


if __name__ == "__main__":
    main()
