"""A conversation of two thousand messages opens at its end, and what was before comes without a jump."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.steered import Write

MESSAGES = 2000


def open_long(tab, house) -> None:
    long = house.clerk("conversation", owner=tab.person, turns=MESSAGES // 2)
    tab.open(f"c/{long}/")


def test_it_opens_with_the_newest_and_the_earlier_come_as_one_scrolls(enter, house):
    tab = enter(viewport={"width": 1000, "height": 700})
    open_long(tab, house)
    expect(tab.answer).to_contain_text("Answer 1000")
    shown = tab.messages.count()
    assert 20 <= shown <= 100
    assert tab.page.evaluate("document.scrollingElement.scrollHeight - innerHeight - scrollY") < 5
    top = tab.messages.first
    top.scroll_into_view_if_needed()
    first = tab.message_id(top)
    tab.page.wait_for_function("(shown) => document.querySelectorAll('article').length > shown", arg=shown)
    there = tab.page.locator(f"#m-{first}")
    expect(there).to_be_in_viewport()
    assert tab.message_id(tab.messages.first) != first


def test_what_was_in_sight_stays_where_it_was_when_the_earlier_come(enter, house):
    tab = enter(viewport={"width": 1000, "height": 700})
    open_long(tab, house)
    shown = tab.messages.count()
    first = tab.page.locator(f"#m-{tab.message_id(tab.messages.first)}")
    first.evaluate("(article) => article.scrollIntoView()")
    tab.watch_place(first)
    tab.page.wait_for_function("(shown) => document.querySelectorAll('article').length > shown", arg=shown)
    tab.next_frames(20)
    assert tab.wandered() < 4


def test_asking_at_its_end_is_as_ever(enter, house, upstream):
    tab = enter()
    open_long(tab, house)
    shown = tab.messages.count()
    upstream.plays(Write("Because."))
    before = tab.questions.count()
    tab.composer.fill("And now?")
    tab.composer.press("Enter")
    expect(tab.questions).to_have_count(before + 1)
    tab.expect_text("Because.")
    tab.expect_status("complete")
    assert tab.messages.count() == shown + 2
    assert len(upstream.requests[-1].body["input"]) >= MESSAGES
