"""No grave finding of axe on any state of the chat, by day and by night; and what is said to those who hear the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.steered import Call, Refuse, Silence, Think, Write
from tests.browser.words import RICH, THOUGHT


@pytest.fixture
def tab(enter):
    return enter(reduced_motion="reduce").open()


def test_the_first_page(tab):
    assert tab.grave() == []


def test_an_answer_that_thinks_and_one_that_writes(tab, upstream):
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.think(THOUGHT)
    tab.expect_shown(THOUGHT)
    assert tab.grave() == []
    answer.write(RICH)
    expect(tab.text.locator("table")).to_be_visible()
    assert tab.grave() == []


def test_a_finished_answer_with_everything_open(tab, upstream):
    upstream.plays(Think(THOUGHT), Call("calculator", {"expression": "6*7"}))
    upstream.plays(Think(THOUGHT), Write(RICH))
    tab.ask("Why?")
    tab.expect_status("complete")
    assert tab.grave() == []
    tab.page.evaluate("() => document.querySelectorAll('article details').forEach((it) => (it.open = true))")
    assert tab.grave() == []


def test_answers_that_ended_otherwise_and_branches(tab, upstream):
    upstream.plays(Refuse(401, "Incorrect API key provided."))
    tab.ask("Why?")
    tab.expect_status("failed")
    upstream.plays(Think(THOUGHT), Write("Half"), Silence())
    tab.press("Ask again", within=tab.answer)
    tab.expect_shown("Half")
    tab.press("Stop")
    tab.expect_status("stopped")
    assert tab.grave() == []
    tab.press("Edit", within=tab.questions.first)
    expect(tab.page.get_by_role("textbox", name="Edited question")).to_be_visible()
    assert tab.grave() == []


def test_the_end_of_an_answer_is_said_and_its_words_are_not(enter, upstream):
    tab = enter().open()
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.think("Hm. ")
    answer.write("Because.")
    tab.expect_shown("Because.")
    news = tab.page.locator("#news")
    expect(news).not_to_contain_text("Because")
    answer.finish()
    expect(news).to_contain_text("Answer finished")
