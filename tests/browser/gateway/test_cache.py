"""The page of kept thoughts in a real browser: on a phone, by day and night, also without scripts; filtered, read and cleared."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.looks import PHONE, on_both

NUMBER = 6


@pytest.fixture
def cache(enter, place):
    def cache(**look):
        tab = enter(**look)
        place.clerk("promote", name=tab.person)
        place.clerk("keep_thoughts", name=tab.person, number=NUMBER)
        tab.open("insight/cache/")
        expect(tab.page.get_by_role("table", name="Newest entries")).to_be_visible()
        return tab

    return cache


def mine(tab):
    return tab.page.get_by_role("row").filter(has_text=re.compile(rf"{tab.person}(?!\d)"))


@on_both
def test_nothing_is_out_of_reach_and_nothing_is_wider_than_the_page(cache, look):
    tab = cache(reduced_motion="reduce", **look)
    for path in ("insight/cache/", "insight/cache/clear/", "insight/"):
        tab.open(path)
        assert tab.page.evaluate("document.scrollingElement.scrollWidth <= screen.width")
        assert tab.grave() == []


def test_it_is_led_to_from_the_figures_and_from_the_administration(cache):
    tab = cache()
    tab.open("insight/")
    tab.page.get_by_role("link", name="Reasoning cache").click()
    expect(tab.page).to_have_url(f"{tab.url}insight/cache/")
    tab.open("admin/")
    tab.page.get_by_role("link", name="Reasoning cache").click()
    expect(tab.page).to_have_url(f"{tab.url}insight/cache/")


@pytest.mark.parametrize("scripts", [True, False])
def test_entries_are_filtered_and_one_is_cleared(cache, scripts):
    tab = cache(java_script_enabled=scripts)
    tab.page.get_by_label("Provider", exact=True).select_option("anthropic")
    tab.page.get_by_role("button", name="Show").click()
    expect(mine(tab)).to_have_count(2)
    tab.page.get_by_role("link", name=re.compile("^Clear ")).filter(visible=True).first.click()
    place = tab.page.get_by_role("dialog") if scripts else tab.page.get_by_role("main")
    expect(place).to_contain_text(f"of {tab.person}")
    place.get_by_role("button", name="Clear", exact=True).click()
    expect(tab.page.get_by_role("status").filter(has_text="Cleared: 1 entry.")).to_be_visible()
    expect(mine(tab)).to_have_count(NUMBER - 1)


def test_all_of_a_provider_is_cleared_when_it_was_said_twice(cache):
    tab = cache(**PHONE)
    tab.page.get_by_label("What to clear").select_option("deepseek")
    tab.page.get_by_role("button", name="Clear…").click()
    expect(tab.page.get_by_text(re.compile("^Everything of .*: gone for good"))).to_be_visible()
    tab.page.get_by_role("link", name="Cancel").click()
    expect(mine(tab)).to_have_count(NUMBER)
    tab.page.get_by_label("What to clear").select_option("deepseek")
    tab.page.get_by_role("button", name="Clear…").click()
    tab.page.get_by_role("button", name="Clear", exact=True).click()
    expect(mine(tab)).to_have_count(NUMBER - 2)


def test_words_are_read_and_their_owner_sees_who_did(cache, enter, place):
    alice = enter()
    place.clerk("keep_thoughts", name=alice.person, number=1)
    tab = cache()
    row = tab.page.get_by_role("row").filter(has_text=alice.person)
    row.get_by_role("link", name=re.compile("^Read ")).click()
    expect(tab.page.get_by_text(f"The 0th thought of {alice.person}.")).to_be_visible()
    assert tab.grave() == []
    alice.open("settings/")
    expect(alice.page.get_by_text(f"{tab.person}, those of 1 response, on ")).to_be_visible()
    tab.open("admin/chatapp/keptlook/")
    expect(tab.page.get_by_role("row").filter(has_text=alice.person)).to_contain_text(tab.person)
