"""A real browser for measurements: pages of people who are signed in, and what DevTools tells of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

from bench.house import House
from tests.browser.chromium import launched

WAIT_MS = 120_000


@contextmanager
def chromium() -> Iterator[Browser]:
    """The one that CHROMIUM names, else Playwright's own."""
    with sync_playwright() as playwright:
        browser = launched(playwright, os.environ.get("CHROMIUM"))
        yield browser
        browser.close()


@contextmanager
def tab(browser: Browser, house: House, session: str = "") -> Iterator[Page]:
    """A tab that has seen nothing before, of somebody who is signed in where a session is given."""
    context = browser.new_context()
    if session:
        context.add_cookies([{"name": "sessionid", "value": session, "url": house.url}])
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    yield page
    context.close()


class Counters:
    """The page's own counters, as DevTools has them, from now on; times in seconds of CPU, whoever else uses it."""

    def __init__(self, page: Page) -> None:
        self._tools = page.context.new_cdp_session(page)
        self._tools.send("Performance.enable", {"timeDomain": "threadTicks"})

    def read(self) -> dict[str, float]:
        found = self._tools.send("Performance.getMetrics")["metrics"]
        return {each["name"]: each["value"] for each in found}
