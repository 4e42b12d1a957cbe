"""The map as one sees it: who answered and for how long also on a phone, and every message where it was."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.steered import Think, Write

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}
SPOTS = "(rows) => rows.map((row) => row.querySelector('circle, rect').getBoundingClientRect().x)"


def map_with_two_answers(tab, upstream) -> Locator:
    """Its rows."""
    upstream.plays(Think("Hm. "), Write("Because."))
    tab.ask("Why?")
    tab.expect_status("complete")
    upstream.plays(Think("Hm. "), Write("For no reason at all."))
    tab.press("Ask again", within=tab.answer)
    tab.expect_text("For no reason at all.")
    tab.expect_status("complete")
    tab.open(f"c/{tab.conversation}/map/")
    return tab.page.locator(".map li")


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_every_answer_shows_its_model_and_its_seconds(enter, upstream, size: Mapping[str, int]):
    tab = enter(viewport=size).open()
    answers = map_with_two_answers(tab, upstream).and_(tab.page.locator("[data-role=assistant]"))
    expect(answers).to_have_count(2)
    for answer in answers.all():
        expect(answer.get_by_text("gpt-5", exact=True)).to_be_in_viewport(ratio=1)
        expect(answer.get_by_text("1 s", exact=True)).to_be_in_viewport(ratio=1)
        # Nothing is cut away below: the row has room for all that it shows.
        button = answer.get_by_role("button")
        assert button.evaluate(
            "(it) => it.scrollHeight <= it.clientHeight && it.scrollWidth <= it.clientWidth"
        )
    assert tab.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert tab.grave() == []


def test_a_message_stays_where_it_was_when_its_branch_opens(enter, upstream):
    tab = enter().open()
    rows = map_with_two_answers(tab, upstream)
    lit = rows.and_(tab.page.locator("[data-active]"))
    expect(lit.last).to_contain_text("For no reason at all.")
    before = rows.evaluate_all(SPOTS)
    rows.nth(1).get_by_role("button").click()
    tab.expect_text("Because.")
    tab.open(f"c/{tab.conversation}/map/")
    expect(lit.last).to_contain_text("Because.")
    assert rows.evaluate_all(SPOTS) == before and len(set(before)) > 1
