"""More than the server takes: a text that is too long for its address, and more pages than one person may have listening."""

from __future__ import annotations

from contextlib import ExitStack

from playwright.sync_api import expect

from chatapp.pages.door.open_sockets import MOST_OF_ONE
from tests.support.wire import connected, handshake

TEXT = "x" * 99 + "\n"


def test_a_text_that_no_address_takes_stays_in_its_box_and_the_page_says_why(enter):
    tab = enter().open("settings/")
    tab.forgive("413")
    box = tab.page.locator("textarea[name=instructions]")
    box.evaluate("(box, text) => (box.value = text)", TEXT * 6_000)
    box.locator("xpath=ancestor::form").get_by_role("button", name="Save").click()
    expect(tab.page.locator("#conversations-told")).to_have_text(
        "That is too much at once: at most 512 kB can be sent here."
    )
    assert box.evaluate("(box) => box.value.length") == 600_000


def test_what_is_said_above_the_composer_is_not_written_over_what_is_behind_it(enter):
    tab = enter().open()
    tab.page.locator("#refused").evaluate("(notice) => (notice.textContent = 'That is too much at once.')")
    tab.page.locator("#line").evaluate("(line) => (line.hidden = false)")
    for notice in ("#refused", "#line"):
        behind = tab.page.locator(notice).evaluate("(one) => getComputedStyle(one).backgroundColor")
        assert behind not in ("transparent", "rgba(0, 0, 0, 0)"), notice


def test_a_page_that_had_to_pause_says_so_and_goes_on_when_somebody_comes_back_to_it(enter, place, upstream):
    tab = enter().open()
    paused = tab.page.locator("#paused")
    session = next(each["value"] for each in tab.context.cookies() if each["name"] == "sessionid")
    with ExitStack() as stack:
        for _ in range(MOST_OF_ONE):
            line = stack.enter_context(connected(place.url))
            line.sendall(handshake(place.url, "/ws/", session))
            line.recv(1024)
        expect(paused).to_be_visible()
        assert tab.grave() == []
    tab.page.evaluate("dispatchEvent(new Event('focus'))")
    expect(paused).to_be_hidden()
