"""Administrators from the chat to the front page, through the list into a conversation and back: by mouse and by keyboard alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.looks import DESKTOP, on_both
from tests.browser.sharing.test_sharing import answered
from tests.browser.steered import Think, Write
from tests.browser.tab import Tab
from tests.browser.words import THOUGHT

ADMIN = "admin/chatapp/"
PAGES = [
    "admin/",
    "admin/tables/",
    "admin/tools/",
    "admin/providers/demo/",
    f"{ADMIN}conversation/",
    f"{ADMIN}conversation/?state=failed",
    f"{ADMIN}conversation/find/",
    f"{ADMIN}look/",
    f"{ADMIN}dailylimit/",
    f"{ADMIN}dailylimit/add/",
    f"{ADMIN}apikey/",
    f"{ADMIN}keyrule/",
    f"{ADMIN}keyrule/add/",
    f"{ADMIN}modelprovider/",
    f"{ADMIN}modelprovider/add/",
    f"{ADMIN}knownmodel/",
    f"{ADMIN}mcpserver/",
    f"{ADMIN}mcpserver/add/",
    "admin/auth/user/",
    "admin/auth/user/add/",
    "insight/",
    "insight/operation/",
    "insight/cache/",
]


@pytest.fixture
def alice(enter, upstream) -> Tab:
    tab = enter().open()
    answered(tab, upstream, "Why is the sky blue?", Think(THOUGHT), Write("Because of **scattering**."))
    return tab


def administrator(enter, place, **look) -> Tab:
    tab = enter(reduced_motion="reduce", **look)
    place.clerk("promote", name=tab.person)
    # What looks for findings styles what it looks at.
    tab.forgive("Applying inline style", "Couldn't load preload assets")
    return tab


def fits(tab) -> bool:
    return tab.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


@on_both
def test_from_the_chat_to_a_conversation_and_back_by_mouse(alice, enter, place, look):
    dana = administrator(enter, place, **look).open()
    page = dana.page
    if look is not DESKTOP:
        page.get_by_role("button", name="Conversations").click()
    page.get_by_role("link", name="Administration").click()
    expect(page.get_by_role("heading", name="Today", exact=True)).to_be_visible()
    assert fits(dana)
    page.get_by_role("link", name=re.compile("failed: the list")).click()
    expect(page).to_have_url(re.compile(r"failed=1"))
    page.get_by_role("link", name="Clear").click()
    page.get_by_role("searchbox", name="Words of a title, or a name").fill(alice.person)
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text(re.compile("^1 conversation"))).to_be_visible()
    assert fits(dana)
    page.get_by_role("link", name="Why is the sky blue?").click()
    expect(page.get_by_text(f"{alice.person} can see that you looked")).to_be_visible()
    expect(page.locator("article strong", has_text="scattering")).to_be_visible()
    expect(page.get_by_role("textbox", name="Message")).to_have_count(0)
    assert fits(dana)
    page.get_by_role("link", name="Map").click()
    expect(page.get_by_role("heading", name="Map")).to_be_visible()
    page.locator(".map button").first.click()
    expect(page).to_have_url(re.compile(r"/transcript/\?at="))
    page.get_by_role("link", name="The list", exact=True).click()
    expect(page.get_by_role("heading", name="Conversations", level=2)).to_be_visible()


def test_by_keyboard_alone(alice, enter, place):
    dana = administrator(enter, place, **DESKTOP)
    dana.open(f"{ADMIN}conversation/?q={alice.person}")
    page = dana.page
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="Why is the sky blue?")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"{alice.person} can see that you looked")).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("article").first).to_be_focused()
    page.keyboard.press("m")
    expect(page.get_by_role("heading", name="Map")).to_be_visible()
    page.keyboard.press("u")
    expect(page).to_have_url(re.compile("/transcript/$"))
    page.go_back()
    page.go_back()
    page.keyboard.press("u")
    expect(page).to_have_url(re.compile(rf"conversation/\?q={alice.person}$"))
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"{alice.person} can see that you looked")).to_be_visible()
    page.keyboard.press("]")
    expect(page.get_by_role("heading", name="Conversations", level=2)).to_be_visible()
    page.keyboard.press("f")
    expect(page.get_by_label("Person")).to_be_focused()


def test_any_two_branches_are_compared(alice, enter, place):
    dana = administrator(enter, place, **DESKTOP)
    dana.open(f"{ADMIN}conversation/?q={alice.person}")
    dana.page.get_by_role("link", name="Why is the sky blue?").click()
    dana.page.locator("article").last.get_by_role("link", name="Compare from here").click()
    expect(dana.page.get_by_text("Now choose the second branch")).to_be_visible()
    dana.page.locator(".map button").first.click()
    expect(dana.page.get_by_text("Both are one and the same branch")).to_be_visible()
    assert dana.grave() == []


@on_both
def test_somebody_elses_answer_is_stopped_and_its_owner_reads_who_did(enter, upstream, place, look):
    alice = enter().open()
    alice.ask("Count to a million.")
    answer = upstream.next_answer()
    answer.write("One, two")
    alice.expect_shown("One, two")
    dana = administrator(enter, place, **look)
    dana.open("admin/")
    line = dana.page.locator("#runs li").filter(has_text="Count to a million.")
    expect(line).to_contain_text(alice.person)
    assert dana.grave() == []
    line.get_by_role("button", name=re.compile("^Stop")).click()
    answer.until_gone()
    alice.expect_status("stopped")
    alice.reload()
    alice.page.get_by_text("An administrator looked at this once").click()
    expect(alice.page.get_by_text(f"{dana.person} stopped its answer, on")).to_be_visible()


def test_a_provider_is_tried_and_says_what_came_of_it(enter, place):
    dana = administrator(enter, place, **DESKTOP)
    dana.open("admin/providers/demo/")
    dana.page.get_by_role("button", name="Try it").click()
    tried = dana.page.locator("#tried article")
    expect(tried.locator("div[data-kind=assistant_message]")).to_be_visible(timeout=20_000)
    expect(tried.get_by_text(re.compile("^Thought for"))).not_to_have_count(0)
    assert dana.grave() == []


@on_both
@pytest.mark.parametrize("path", PAGES)
def test_no_page_has_a_grave_finding(enter, place, look, path):
    dana = administrator(enter, place, **look)
    dana.open(path)
    assert dana.grave() == []
    assert fits(dana)
