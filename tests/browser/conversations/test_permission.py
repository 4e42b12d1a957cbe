"""Before a tool runs that asks, a person decides: in two tabs, by keys, after a restart, and never by accident."""

from __future__ import annotations

import time

from playwright.sync_api import Locator, expect

from tests.browser.looks import on_both
from tests.browser.steered import Call, Think, Write
from tests.browser.tab import Tab
from tests.support.patience import PATIENCE

# Nothing answers there, and nobody would be let through to it.
URL = "http://127.0.0.1:9/notes"
READ = Call("read_page", {"url": URL})
OTHER = Call("read_page", {"url": f"{URL}/other"})


def asks(tab: Tab) -> Locator:
    return tab.page.get_by_role("group", name="Permission", exact=True)


def ask(tab: Tab, upstream, *calls, count: int = 1) -> None:
    """A question that is answered with these calls, and then with words."""
    upstream.plays(Think("**I need the real notes.**"), *calls)
    upstream.plays(Write("So it is."))
    tab.composer.fill("What is new?")
    tab.press("Send")
    expect(asks(tab)).to_have_count(count)
    tab.expect_status("waiting")


def same_page(enter, tab: Tab) -> Tab:
    other = enter(tab)
    other.page.goto(tab.page.url)
    return other


def looks_as_loaded(tab: Tab) -> None:
    """Also where an answer waits. What the page knows of its own version comes last."""
    tab.page.wait_for_function(
        "() => document.getElementById('thread').dataset.version === [...document.querySelectorAll('article')].at(-1).dataset.version"
    )
    tab._expect_same(tab.freshly_loaded(), tab.normal(tab.page.locator("#thread")))


def lines(tab: Tab) -> Locator:
    return tab.answer.locator("[data-kind=permission_decision]")


def test_two_tabs_show_the_question_and_follow_what_one_of_them_decides(enter, upstream):
    one = enter().open()
    ask(one, upstream, READ, OTHER, count=2)
    other = same_page(enter, one)
    for tab in (one, other):
        expect(asks(tab)).to_have_count(2)
        expect(asks(tab).first).to_contain_text("read_page wants to read a web page")
        expect(asks(tab).first).to_contain_text(URL)
        expect(tab.page.locator("#list [data-status=waiting]")).to_have_text("asks you")
        looks_as_loaded(tab)
    asks(one).first.get_by_role("button", name="Deny").click()
    for tab in (one, other):
        expect(asks(tab)).to_have_count(1)
        expect(asks(tab)).to_contain_text("/notes/other")
        expect(lines(tab)).to_have_count(1)
        expect(lines(tab)).to_contain_text("Denied by you read_page")
        expect(tab.page.get_by_role("button", name="Deny all")).to_have_count(0)
        looks_as_loaded(tab)
    asks(other).get_by_role("button", name="Allow once").click()
    for tab in (one, other):
        tab.expect_text("So it is.")
        expect(asks(tab)).to_have_count(0)
        expect(lines(tab).last).to_contain_text("Allowed once by you read_page")
        tab.expect_as_loaded()


def test_all_are_decided_together(enter, upstream):
    tab = enter().open()
    ask(tab, upstream, READ, OTHER, count=2)
    tab.press("Deny all")
    tab.expect_text("So it is.")
    expect(lines(tab)).to_have_count(2)
    expect(tab.answer.locator("details.call > summary").first).to_contain_text("denied")
    tab.expect_as_loaded()


def test_what_is_decided_elsewhere_first_is_refused_in_words(enter, upstream):
    """The slower tab hears nothing meanwhile."""
    one = enter().open()
    ask(one, upstream, READ)
    slow = same_page(enter, one)
    slow.forgive("409")
    expect(asks(slow)).to_have_count(1)
    held = []
    slow.page.route("**/decide/", lambda route: held.append(route))
    asks(slow).get_by_role("button", name="Allow once").click()
    slow.page.wait_for_timeout(0)
    asks(one).get_by_role("button", name="Deny").click()
    one.expect_text("So it is.")
    slow.expect_text("So it is.")
    held[0].continue_()
    expect(slow.page.locator("#refused")).to_have_text("This answer does not wait for a decision any more.")
    expect(lines(slow)).to_have_count(1)
    expect(lines(slow)).to_contain_text("Denied by you")


def test_a_double_click_decides_about_one_call(enter, upstream):
    tab = enter().open()
    ask(tab, upstream, READ, OTHER, count=2)
    asks(tab).first.get_by_role("button", name="Allow once").dblclick()
    expect(asks(tab)).to_have_count(1)
    expect(lines(tab)).to_have_count(1)
    looks_as_loaded(tab)
    tab.press("Stop")
    tab.expect_status("stopped")
    tab.expect_as_loaded("stopped")
    expect(asks(tab)).to_have_count(0)


def test_it_waits_through_a_restart_of_the_server(enter, own_house, upstream):
    tab = enter().open()
    ask(tab, upstream, READ)
    own_house.kill()
    own_house.start()
    tab.forgive("WebSocket", "ERR_CONNECTION_REFUSED")
    tab.reload()
    expect(asks(tab)).to_contain_text(URL)
    asks(tab).get_by_role("button", name="Allow once").click()
    tab.expect_text("So it is.")
    tab.expect_as_loaded()


def test_two_tabs_go_on_after_a_restart_without_being_loaded_again(enter, own_house, upstream):
    one = enter().open()
    ask(one, upstream, READ, OTHER, count=2)
    other = same_page(enter, one)
    expect(asks(other)).to_have_count(2)
    own_house.kill()
    own_house.start()
    for tab in (one, other):
        tab.forgive("WebSocket", "ERR_CONNECTION_REFUSED")
    asks(one).first.get_by_role("button", name="Deny").click()
    for tab in (one, other):
        expect(asks(tab)).to_have_count(1)
    asks(other).get_by_role("button", name="Allow once").click()
    for tab in (one, other):
        tab.expect_text("So it is.")
        expect(lines(tab)).to_have_count(2)
        tab.expect_as_loaded()


def test_the_keyboard_reaches_every_answer_and_grants_nothing_by_a_single_key(enter, upstream):
    tab = enter().open()
    ask(tab, upstream, READ, OTHER, count=2)
    expect(tab.composer).to_be_focused()
    tab.page.evaluate("document.activeElement.blur()")
    for key in ("Enter", " ", "y", "a", "o", "1", "d", "p"):
        tab.page.keyboard.press(key)
    expect(asks(tab)).to_have_count(2)
    asks(tab).first.focus()
    for name in ("Arguments", "Allow once", "Allow for this conversation", "Deny"):
        tab.page.keyboard.press("Tab")
        expect(tab.page.locator(":focus")).to_have_accessible_name(name)
    tab.page.keyboard.press("Enter")
    expect(asks(tab)).to_have_count(1)
    # Where the next word would be given, not on the button that gives it.
    expect(asks(tab)).to_be_focused()
    tab.page.keyboard.press("Enter")
    expect(asks(tab)).to_have_count(1)
    tab.page.keyboard.press("Tab")
    tab.page.keyboard.press("Tab")
    tab.page.keyboard.press("Enter")
    expect(asks(tab)).to_have_count(0)
    expect(tab.answer.locator("details.call > summary").last).to_be_focused()
    tab.expect_text("So it is.")


def test_the_question_is_heard_and_the_tab_says_so(enter, upstream):
    tab = enter().open()
    ask(tab, upstream, READ)
    expect(tab.page.locator("#news")).to_have_text("Waits for you: read_page wants to read a web page")
    expect(tab.page).to_have_title("● asks you · What is new? · Thoughtline")
    tab.press("Deny", within=asks(tab))
    tab.expect_text("So it is.")
    expect(tab.page).to_have_title("What is new? · Thoughtline")


def test_it_can_be_stopped_while_it_waits_also_by_the_escape_key(enter, upstream):
    tab = enter().open()
    ask(tab, upstream, READ)
    tab.composer.press("Escape")
    tab.expect_status("stopped")
    expect(asks(tab)).to_have_count(0)
    tab.expect_as_loaded("stopped")


def test_without_scripts_it_is_decided_by_plain_forms(enter, upstream):
    tab = enter(java_script_enabled=False).open()
    upstream.plays(READ, OTHER)
    upstream.plays(Write("So it is."))
    tab.composer.fill("What is new?")
    tab.press("Send")
    reload_until(tab, lambda: asks(tab).count() == 2)
    asks(tab).first.get_by_role("button", name="Deny").click()
    expect(asks(tab)).to_have_count(1)
    asks(tab).get_by_role("button", name="Allow once").click()
    reload_until(tab, lambda: tab.answer.get_attribute("data-status") == "complete")
    expect(lines(tab)).to_have_count(2)


def reload_until(tab: Tab, look) -> None:
    until = time.monotonic() + PATIENCE
    while not look():
        assert time.monotonic() < until, "It never came."
        tab.reload()


def test_allowed_for_the_conversation_it_asks_no_more_until_that_is_taken_back(enter, upstream):
    tab = enter().open()
    ask(tab, upstream, READ)
    asks(tab).get_by_role("button", name="Allow for this conversation").click()
    tab.expect_as_loaded()
    upstream.plays(OTHER)
    upstream.plays(Write("Again."))
    tab.ask("And now?")
    tab.expect_text("Again.")
    tab.expect_as_loaded()
    tab.press("Tools, 3 on")
    tab.press("Take back, read_page")
    expect(tab.page.get_by_role("button", name="Take back, read_page")).to_have_count(0)
    tab.page.keyboard.press("Escape")
    ask(tab, upstream, READ)
    tab.press("Stop")
    tab.expect_status("stopped")


@on_both
def test_it_fits_is_whole_and_has_no_grave_fault(enter, upstream, look):
    tab = enter(**look, reduced_motion="reduce").open()
    hidden = "\u202egnp.exe\u200b"
    ask(tab, upstream, Call("read_page", {"url": URL + hidden + "x" * 4000}), OTHER, count=2)
    words = asks(tab).first.inner_text()
    assert "⟨U+202E⟩gnp.exe⟨U+200B⟩" in words and "x" * 4000 in words
    assert "scroll to read all of them" in words
    well = asks(tab).first.locator("pre")
    assert well.evaluate("(it) => it.scrollHeight > it.clientHeight && it.scrollWidth <= it.clientWidth")
    assert tab.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert tab.grave() == []
    tab.press("Stop")
    tab.expect_status("stopped")


def test_a_call_that_is_written_waits_and_ends_says_each_of_it(enter, upstream):
    tab = enter().open()
    upstream.plays(Call("clock", {"zone": "Europe/Oslo"}), READ)
    upstream.plays(Write("So it is."))
    tab.ask("What is new?")
    summaries = tab.answer.locator("details.call > summary")
    expect(summaries.first).to_contain_text("clock")
    expect(summaries.first.locator("time")).to_have_text("0.1 s")
    expect(summaries.last).to_contain_text("waits for you")
    asks(tab).get_by_role("button", name="Allow once").click()
    expect(summaries.last).to_contain_text("failed")
    tab.expect_as_loaded()
