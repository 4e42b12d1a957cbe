"""The first visit to a fresh installation, as somebody sees it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.tab import Tab
from tests.conftest import PASSWORD

pytestmark = pytest.mark.whole_browser


@pytest.fixture
def visitor(server, browser, request):
    tab = Tab(browser.new_context(color_scheme=request.param), server)
    yield tab
    tab.context.close()
    assert tab.wrong == []


@pytest.mark.parametrize("visitor", ["light"], indirect=True)
def test_one_signs_up_asks_sees_it_think_and_finds_it_again(visitor):
    tab = visitor.open("accounts/signup/")
    tab.page.get_by_label("Username").fill("alice")
    for field in tab.page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    tab.press("Create account")
    expect(tab.page.get_by_role("heading", name="Ready to think, alice.")).to_be_visible()
    tab.ask("What is 12 * 13?")
    expect(tab.thought).to_have_text(re.compile(r"^Thinking for \d+ s$"))
    tab.expect_status("complete")
    expect(tab.answer).to_contain_text("156")
    expect(tab.thought).to_have_text(re.compile(r"^Thought for \d+ seconds?$"))
    tab.expect_as_loaded()
    tab.open()
    tab.page.locator("#list").get_by_role("link", name="What is 12 * 13?").click()
    expect(tab.answer).to_contain_text("156")
    tab.press("Sign out")
    tab.page.wait_for_url("**/accounts/login/")
    tab.page.get_by_label("Username").fill("alice")
    tab.page.get_by_label("Password").fill(PASSWORD)
    tab.press("Sign in")
    expect(tab.page.locator("#list").get_by_role("link", name="What is 12 * 13?")).to_be_visible()


@pytest.mark.parametrize("visitor", ["light"], indirect=True)
def test_an_example_is_asked_with_one_click(visitor):
    tab = visitor.open("accounts/signup/")
    tab.page.get_by_label("Username").fill("alice")
    for field in tab.page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    tab.press("Create account")
    example = tab.page.get_by_role("group", name="Examples").get_by_role("button").first
    words = example.locator("b").inner_text()
    example.click()
    expect(tab.questions.first).to_contain_text(words)
    expect(tab.answer.locator("[data-item-key]").first).to_be_attached()


@pytest.mark.parametrize("visitor", ["light", "dark"], indirect=True)
def test_it_is_dark_where_the_machine_is(visitor, request):
    page = visitor.open("accounts/signup/").page
    assert is_dark(page) == (request.node.callspec.params["visitor"] == "dark")


def is_dark(page) -> bool:
    """By how bright a pixel of the page's background is."""
    bright = """() => {
        const paint = document.createElement("canvas").getContext("2d");
        paint.fillStyle = getComputedStyle(document.documentElement).backgroundColor;
        paint.fillRect(0, 0, 1, 1);
        return paint.getImageData(0, 0, 1, 1).data[1];
    }"""
    return page.evaluate(bright) < 128
