"""An administrator looks at somebody's conversation, and the owner sees that he did."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.looks import on_both
from tests.browser.sharing.test_sharing import answered
from tests.browser.steered import Think, Write
from tests.browser.tab import Tab
from tests.browser.words import RICH, THOUGHT

LOOKED = re.compile("An administrator looked at this")


@pytest.fixture
def alice(enter, upstream) -> Tab:
    tab = enter().open()
    answered(
        tab, upstream, "Why is the moon larger near the horizon?", Think(THOUGHT), Write("It only looks so.")
    )
    return tab


@pytest.fixture
def dana(enter, place) -> Tab:
    tab = enter()
    place.clerk("promote", name=tab.person)
    return tab


def test_an_administrator_looks_and_the_owner_sees_that_he_did(alice, dana):
    alice.reload()
    expect(alice.page.get_by_text(LOOKED)).to_have_count(0)
    before = alice.normal(alice.page.locator("#messages"))

    dana.open(f"admin/chatapp/conversation/?q={alice.person}")
    dana.page.get_by_role("link", name="Why is the moon larger near the horizon?").click()
    expect(dana.page.get_by_text(f"{alice.person} can see that you looked")).to_be_visible()
    expect(dana.page.get_by_text("It only looks so.")).to_be_visible()
    expect(dana.page.get_by_text(re.compile("^Thought for"))).not_to_have_count(0)

    alice.reload()
    alice.page.get_by_text("An administrator looked at this once").click()
    expect(alice.page.get_by_text(f"{dana.person} opened the transcript, on")).to_be_visible()
    assert alice.normal(alice.page.locator("#messages")) == before
    assert alice.grave() == []

    dana.open("admin/chatapp/look/")
    expect(dana.page.get_by_role("row").filter(has_text=dana.person).first).to_contain_text(
        "opened the transcript"
    )
    alice.reload()
    expect(alice.page.get_by_text("An administrator looked at this once")).to_be_attached()


def test_what_a_search_in_texts_shows_is_a_look_too(alice, dana):
    dana.open("admin/chatapp/conversation/find/")
    dana.page.get_by_role("searchbox", name=re.compile("^Words in questions")).fill("moon larger")
    dana.page.get_by_role("search").get_by_role("button", name="Search").click()
    expect(dana.page.get_by_text(f"in a conversation of {alice.person}")).not_to_have_count(0)
    alice.reload()
    alice.page.get_by_text(LOOKED).click()
    expect(alice.page.get_by_text(f"{dana.person} found it by its words, on")).to_be_visible()


@on_both
def test_a_transcript_is_read_like_a_thread_and_has_no_grave_finding(enter, place, upstream, look):
    alice, dana = enter().open(), enter(**look)
    place.clerk("promote", name=dana.person)
    answered(alice, upstream, "What of all this?", Think(THOUGHT), Write(RICH))
    # What looks for findings styles what it looks at.
    dana.forgive("Applying inline style", "Couldn't load preload assets")
    dana.open(f"admin/chatapp/conversation/?q={alice.person}")
    dana.page.get_by_role("link", name="What of all this?").click()
    thought = dana.page.locator("details.thought")
    said = thought.get_by_text("so both are looked at").first
    expect(said).to_be_hidden()
    thought.first.locator("summary").click()
    expect(said).to_be_visible()
    dana.page.locator("details.timeline > summary").click()
    expect(dana.page.get_by_text("What was sent")).to_be_visible()
    assert dana.page.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0
    assert dana.grave() == []
