"""Hostile text, wherever a page shows text: nothing of it runs, and no request leaves the page, also where the browser
does not help."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.steered import Think, Write
from tests.support.attacks import ATTACKS, HTMX, REQUESTS, SCRIPTS

TRAP = "window.ran = 0; for (const name of ['alert', 'confirm', 'prompt', 'print']) window[name] = () => { window.ran++ }"
OURS = ("/c/", "/static/", "/conversations/", "/ws/", "/m/")


class Guard:
    """Counts what runs and what goes out."""

    def __init__(self, context: BrowserContext, host: str) -> None:
        self.host, self.strange = host, list[str]()
        context.add_init_script(TRAP)
        context.on("request", lambda request: self._look(request.method, request.url))
        context.on("dialog", lambda dialog: (self.strange.append(dialog.message), dialog.dismiss()))

    def _look(self, method: str, url: str) -> None:
        parts = urlsplit(url)
        here = parts.netloc == self.host and parts.path.startswith(OURS)
        posts = method != "GET" and not parts.path.endswith("/ask/")
        if not here or posts or parts.query.endswith("hit"):
            self.strange.append(f"{method} {url}")

    def expect_calm(self, tab) -> None:
        tab.next_frames(3)
        assert tab.page.evaluate("window.ran") == 0
        assert self.strange == []
        assert tab.page.evaluate(NOTHING_FOREIGN) == []


# Whatever could act, in the places where texts stand.
NOTHING_FOREIGN = """() => {
  const places = '[data-kind], .notice, .titles, #title, .outline, summary';
  const acts = 'script, style, link, iframe, object, embed, img, video, audio, base, meta, template, [style], [srcset]';
  const LEADS = ['href', 'src', 'action', 'formaction', 'xlink:href', 'data', 'poster', 'background', 'cite'];
  const found = [...document.querySelectorAll(places)].flatMap((place) => [...place.querySelectorAll(acts)]);
  const leads = /^\\s*(javascript|data|vbscript):/i;
  const acting = ({ name, value }) => name.startsWith('on') || (LEADS.includes(name) && leads.test(value));
  const named = [...document.querySelectorAll('#messages *')].filter((one) => [...one.attributes].some(acting));
  return [...found, ...named].map((one) => one.outerHTML.slice(0, 200));
}"""


@pytest.fixture(params=[False, True], ids=["csp", "no csp"])
def guarded(request, enter, place) -> Iterator:
    tab = enter(bypass_csp=request.param)
    tab.forgive("Content Security Policy", "ERR_", "MIME", "Refused")
    yield tab, Guard(tab.context, urlsplit(place.url).netloc)


def test_nothing_that_is_stored_runs(guarded, place):
    tab, guard = guarded
    conversation = place.clerk("items_of", owner=tab.person, attacks=ATTACKS)
    tab.open(f"c/{conversation}/?newest=1000")
    expect(tab.messages).to_have_count(2 * -(-len(ATTACKS) // 16))
    tab.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    guard.expect_calm(tab)


def test_no_words_of_an_error_run(guarded, place):
    tab, guard = guarded
    conversation = place.clerk("failures", owner=tab.person, attacks=ATTACKS[::2])
    tab.open(f"c/{conversation}/?newest=1000")
    expect(tab.page.locator(".notice").first).to_be_attached()
    tab.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    guard.expect_calm(tab)


def test_no_title_runs(guarded, place):
    tab, guard = guarded
    place.clerk("titles", owner=tab.person, attacks=ATTACKS)
    shown = 0
    tab.open("conversations/")
    while True:
        shown = max(shown, tab.page.locator(".titles li").count())
        older = tab.page.get_by_role("link", name="Older")
        if not older.count():
            break
        tab.page.goto(tab.url.rstrip("/") + older.last.get_attribute("href"))
        guard.expect_calm(tab)
    assert shown
    guard.expect_calm(tab)


def test_nothing_runs_while_it_is_written_sign_by_sign(guarded, upstream):
    tab, guard = guarded
    some = "\n\n".join([*SCRIPTS[:30], *HTMX, *REQUESTS[:40]])
    upstream.plays(Think(some[:3000], at_once=1), Write(some, at_once=1))
    tab.open("conversations/")
    tab.page.goto(tab.url)
    guard.strange.clear()
    tab.ask("What do you say?")
    guard.strange.clear()
    tab.expect_status("complete")
    guard.expect_calm(tab)
    tab.expect_as_loaded()
