"""Looking for words in a real browser: they are found as they are typed, and a match opens its branch at its message."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.looks import DESKTOP, PHONE
from tests.browser.steered import Think, Write


def with_two_answers(tab, upstream) -> None:
    """The first, which thought of barrels, lies aside; the page shows the second."""
    upstream.plays(Think("Barrels of rain, first of all. "), Write("Because of the barrels."))
    tab.ask("Why?")
    tab.expect_status("complete")
    upstream.plays(Think("Hm. "), Write("For no reason at all."))
    tab.press("Ask again", within=tab.answer)
    tab.expect_text("For no reason at all.")
    tab.expect_status("complete")


def looks_for(tab, words: str):
    """The matches."""
    tab.page.get_by_role("searchbox", name="Search everything of yours").fill(words)
    return tab.page.locator(".hits a")


def test_a_match_in_a_thought_opens_its_side_branch_and_leaves_one_where_one_was(enter, upstream):
    tab = enter().open()
    with_two_answers(tab, upstream)
    conversation = f"c/{tab.conversation}/"
    tab.open("search/")
    hits = looks_for(tab, "RAIN barrels")
    expect(hits).to_have_count(1)
    expect(hits).to_have_attribute("data-kind", "thought")
    expect(hits).to_contain_text(re.compile(r"Thought for .*side branch 1 of 2"))
    assert hits.locator("mark").all_inner_texts() == ["Barrels", "rain"]
    hits.click()
    tab.expect_text("Because of the barrels.")
    expect(tab.page.get_by_text("Barrels of rain, first of all.")).to_be_in_viewport()
    # Looking moved nothing.
    tab.open(conversation)
    tab.expect_text("For no reason at all.")
    # Going on there does.
    tab.page.go_back()
    tab.expect_text("Because of the barrels.")
    upstream.plays(Write("It rains."))
    tab.ask("And then?")
    tab.expect_status("complete")
    tab.open(conversation)
    expect(tab.answers.first).to_contain_text("Because of the barrels.")
    assert tab.wrong == []


@pytest.mark.parametrize("look", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_what_is_found_fits_the_page_and_is_read_by_everybody(enter, upstream, look):
    tab = enter(viewport=look["viewport"]).open()
    with_two_answers(tab, upstream)
    tab.open("search/")
    assert tab.faults() == []
    hits = looks_for(tab, "barrels")
    expect(hits).to_have_count(2)
    expect(tab.page.get_by_role("status").first).to_have_text("2 matches in 1 conversation, newest first.")
    assert tab.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert tab.grave() == []
    tab.page.get_by_role("checkbox", name="Thoughts").uncheck()
    expect(hits).to_have_count(1)
    # The address says what is looked for.
    tab.reload()
    expect(hits).to_have_count(1)
    looks_for(tab, "no such words")
    expect(tab.page.get_by_text("Nothing of yours has these words.")).to_be_visible()
    assert tab.grave() == []


def test_more_comes_as_one_scrolls(enter, place):
    tab = enter(**PHONE)
    for n in range(25):
        place.clerk("conversation", owner=tab.person, turns=2, title=f"Barrel {n}")
    tab.open("search/?q=barrel")
    found = tab.page.locator(".found")
    expect(found).to_have_count(10)
    for count in (20, 25):
        found.last.scroll_into_view_if_needed()
        tab.page.mouse.wheel(0, 4000)
        expect(found).to_have_count(count)
    titles = found.locator("h2 a").all_inner_texts()
    assert sorted(titles) == sorted({f"Barrel {n}" for n in range(25)})


def test_the_field_of_the_list_leads_there(enter, upstream):
    tab = enter().open()
    with_two_answers(tab, upstream)
    field = tab.page.get_by_role("searchbox", name="Search conversations")
    field.fill("barrels")
    expect(tab.page.get_by_text("No title here has these words.")).to_be_visible()
    field.press("Enter")
    expect(tab.page.locator(".hits a")).to_have_count(2)
    expect(tab.page.get_by_role("searchbox", name="Search everything of yours")).to_have_value("barrels")


def test_the_keyboard_alone_is_enough(enter, upstream):
    """From the list's field to the message, and back to what was found."""
    tab = enter().open()
    with_two_answers(tab, upstream)
    tab.page.get_by_role("searchbox", name="Search conversations").focus()
    tab.page.keyboard.type("barrels rain")
    tab.page.keyboard.press("Enter")
    hit = tab.page.locator(".hits a")
    expect(hit).to_have_count(1)
    for _ in range(20):
        if hit.evaluate("(one) => one === document.activeElement"):
            break
        tab.page.keyboard.press("Tab")
    expect(hit).to_be_focused()
    tab.page.keyboard.press("Enter")
    tab.expect_text("Because of the barrels.")
    expect(tab.page.get_by_text("Barrels of rain, first of all.")).to_be_in_viewport()
    tab.page.go_back()
    expect(hit).to_have_count(1)
    assert tab.wrong == []


def test_on_a_phone_a_match_is_opened_with_a_finger(enter, upstream):
    tab = enter(**PHONE).open()
    upstream.plays(Think("Barrels of rain. "), Write("**Because** of `the_barrels`."))
    tab.composer.fill("Why?")
    tab.press("Send")
    tab.expect_status("complete")
    tab.open("search/")
    hits = looks_for(tab, "the_barrels because")
    expect(hits).to_have_count(1)
    # As it is read.
    expect(hits.locator(".words")).to_have_text("Because of the_barrels.")
    assert hits.locator("mark").all_inner_texts() == ["Because", "the_barrels"]
    hits.tap()
    expect(tab.page.get_by_text("Because of the_barrels.")).to_be_in_viewport()
    assert tab.wrong == []
