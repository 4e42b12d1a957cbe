"""The page of figures in a browser: reachable for everybody, by day and by night, on a phone, and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.looks import on_both


@pytest.fixture
def figures(enter, place):
    def figures(days: int = 20, **look):
        tab = enter(**look)
        place.clerk("promote", name=tab.person)
        place.clerk("counted", name=tab.person, days=days)
        tab.page.goto(f"{tab.url}insight/")
        expect(tab.page.get_by_role("heading", name="How long it thought")).to_be_visible()
        return tab

    return figures


@on_both
def test_nothing_on_it_is_out_of_reach_and_nothing_is_wider_than_the_page(figures, look):
    tab = figures(reduced_motion="reduce", **look)
    assert tab.grave() == []
    tab.page.evaluate("() => document.querySelectorAll('main details').forEach((it) => (it.open = true))")
    assert tab.grave() == []
    assert tab.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def test_an_empty_page_is_within_reach_too(figures):
    assert figures(days=0).grave() == []


@pytest.mark.parametrize("scripts", [True, False])
def test_days_and_model_are_chosen_and_a_file_is_taken_away(figures, scripts):
    tab = figures(days=120, java_script_enabled=scripts)
    page = tab.page
    page.get_by_text("90 days").click()
    page.get_by_role("combobox", name="Model").select_option("openai:gpt-5")
    page.get_by_role("button", name="Show").click()
    expect(page).to_have_url(f"{tab.url}insight/?days=90&model=openai%3Agpt-5")
    table = page.get_by_role("group", name="By model")
    expect(table.get_by_role("row")).to_have_count(2)
    expect(page.get_by_role("img", name="Thinking time of gpt-5")).to_be_visible()
    with page.expect_download() as taken:
        page.get_by_role("link", name="CSV, by model").click()
    assert taken.value.suggested_filename.startswith("thoughtline-models-")


def test_the_tables_behind_the_pictures_open_by_keyboard(figures):
    page = figures().page
    first = page.locator("figure details").first
    first.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(first.get_by_role("row").nth(1)).to_be_visible()
