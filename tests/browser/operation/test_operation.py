"""The page of operation in a real browser: on a phone, by day and night; it follows what happens, and leaves where one stands."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.looks import on_both

WHERE = "insight/operation/"


@pytest.fixture
def operation(enter, place):
    def operation(**look):
        tab = enter(**look)
        place.clerk("promote", name=tab.person)
        tab.open(WHERE)
        expect(tab.page.get_by_role("table", name="Who works")).to_be_visible()
        return tab

    return operation


def runs(tab, person: str):
    return tab.page.get_by_role("table", name="What runs longest").get_by_role("row").filter(has_text=person)


@on_both
def test_nothing_is_out_of_reach_and_nothing_is_wider_than_the_page(operation, enter, upstream, look):
    alice = enter().open()
    alice.ask("What?")
    answer = upstream.next_answer()
    answer.write("One")
    tab = operation(reduced_motion="reduce", **look)
    expect(runs(tab, alice.person)).to_contain_text("writes for")
    assert tab.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert tab.faults() == []
    answer.finish()


def test_it_follows_what_happens_and_keeps_the_focus_where_it_is(operation, enter, upstream):
    tab = operation()
    place = tab.page.get_by_role("group", name="Who serves")
    place.focus()
    alice = enter().open()
    alice.ask("What?")
    answer = upstream.next_answer()
    answer.write("One")
    expect(runs(tab, alice.person)).to_contain_text("in the chat", timeout=15_000)
    answer.finish()
    expect(runs(tab, alice.person)).to_have_count(0, timeout=15_000)
    expect(place).to_be_focused()


def test_without_scripts_it_is_all_there(operation):
    tab = operation(java_script_enabled=False)
    for name in ("What waits", "Who works", "Who serves"):
        expect(tab.page.get_by_role("table", name=name)).to_be_visible()


def test_a_server_that_cannot_be_reached_is_told_and_what_was_known_stays(operation):
    tab = operation()
    tab.context.set_offline(True)
    expect(tab.page.locator("#operation-refused")).to_contain_text("cannot be reached", timeout=15_000)
    expect(tab.page.get_by_role("table", name="Who works")).to_be_visible()
    tab.context.set_offline(False)
    expect(tab.page.locator("#operation-refused")).to_have_text("", timeout=15_000)
    tab.wrong.clear()
