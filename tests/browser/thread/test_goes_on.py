"""What was stopped and goes on is one text: while it grows, after a reload, and in what one takes along."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.tab import Tab

CUT = "Two cities:\n\n| City | People |\n|---|---|\n| Ghent | 265,000 |\n| Lis"
REST = "bon | 545,000 |\n| Bergen | 291,000 |\n\nLisbon wants the best shoes."
CODE = "So:\n\n```python\nfirst = 1\nsec", "ond = 2\n```\n\nThat is all."


@pytest.fixture
def tab(enter) -> Tab:
    tab = enter()
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    return tab.open()


def stopped(tab: Tab, upstream, words: str, seen: str) -> None:
    tab.ask("Which?")
    upstream.next_answer().write(words)
    tab.expect_shown(seen)
    tab.press("Stop")
    tab.expect_status("stopped")
    tab.press("Continue", within=tab.answer)


def copied(tab: Tab, button) -> str:
    button.click()
    expect(tab.page.locator("#news")).to_have_text("Copied")
    return str(tab.page.evaluate("navigator.clipboard.readText()"))


def test_a_table_goes_on_as_itself_around_the_thought_that_came_between(tab, upstream):
    stopped(tab, upstream, CUT, "Lis")
    answer = upstream.next_answer()
    answer.think("And on. ")
    expect(tab.thought).to_contain_text("Thinking for")
    answer.end_thought()
    tables, rows = tab.answer.locator(".prose table"), tab.answer.locator(".prose tbody tr")
    for words in (REST[:30], REST[30:]):
        answer.write(words)
        expect(tables).to_have_count(1)
    expect(tab.answer).to_contain_text("best shoes")
    answer.finish()
    tab.expect_as_loaded()
    expect(tables).to_have_count(1)
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("Lisbon")
    expect(rows.nth(2).locator(".seam")).to_be_visible()
    table, thought, last = (
        place.bounding_box()["y"]
        for place in (tables, tab.thought, tab.answer.get_by_text("Lisbon wants the best shoes."))
    )
    assert table < thought < last
    assert copied(tab, tab.answer.get_by_role("button", name="Copy", exact=True)) == CUT + REST
    assert tab.grave() == []


def test_a_fence_goes_on_as_itself_and_its_mark_is_not_copied(tab, upstream):
    stopped(tab, upstream, CODE[0], "sec")
    answer = upstream.next_answer()
    answer.write(CODE[1])
    answer.finish()
    tab.expect_as_loaded()
    wells = tab.answer.locator(".code")
    expect(wells).to_have_count(1)
    expect(wells.locator(".seam")).to_be_visible()
    assert wells.locator("pre").text_content() == "first = 1\nsecond = 2\n"
