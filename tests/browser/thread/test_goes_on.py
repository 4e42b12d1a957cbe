"""What was stopped and goes on is one text: while it grows, after a reload, and in what one takes along."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.tab import Tab

CUT = "Two cities:\n\n| City | People |\n|---|---|\n| Ghent | 265,000 |\n| Lis"
REST = "bon | 545,000 |\n| Bergen | 291,000 |\n\nLisbon wants the best shoes."
# What stands before the mark in its block, and behind it.
AROUND = """() => {
  const seam = document.querySelector("[data-growing] .seam"), block = seam.closest("[data-growing]");
  const words = (end) => {
    const range = document.createRange();
    range.selectNodeContents(block);
    end ? range.setStartAfter(seam) : range.setEndBefore(seam);
    return range.toString().replace(/\\n/g, "");
  };
  return [words(false), words(true)];
}"""
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


GROWING = [
    ("Say it **twi", "ce or** more", "Say it twice", " or more"),
    ("One\n\n- Two\n- Thr", "ee [of a](https://b.org) kind", "Three", " of a kind"),
    ("So:\n\n```python\nfirst = 1\nsec", "ond = 2\nthird", "second = 2", "third"),
    ("| City | People |\n|---|---|\n| Lis", "bon | 5 |\n| Bergen", "5", "Bergen"),
    ("It is $x", "^2$ and $y$ too", "x2", " and y too"),
]


@pytest.mark.parametrize(
    ("cut", "rest", "before", "after"), GROWING, ids=["words", "list", "code", "table", "formula"]
)
def test_where_it_was_cut_is_seen_while_it_goes_on(tab, upstream, cut, rest, before, after):
    stopped(tab, upstream, cut, "a formula" if "$" in cut else cut[-2:])
    answer = upstream.next_answer()
    answer.write(rest)
    seam = tab.answer.locator("[data-growing] .seam")
    expect(seam).to_have_count(1)
    expect(tab.answer).to_contain_text(after.split()[-1])
    said = seam.locator("small").get_attribute("data-said")
    assert re.fullmatch(r"stopped at \d\d:\d\d, went on at \d\d:\d\d", said)
    parted = tab.page.evaluate(AROUND)
    assert [parted[0][-len(before) :], parted[1][: len(after)]] == [before, after]
    answer.finish()
    tab.expect_as_loaded()
    expect(seam).to_have_count(0)
    expect(tab.answer.locator(".seam > small")).to_have_attribute("data-said", said)


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
