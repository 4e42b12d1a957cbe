"""No grave finding of axe on any state of the chat, by day and by night; and what is said to those who hear the page."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.looks import on_both
from tests.browser.steered import Call, Refuse, Silence, Think, Write
from tests.browser.words import RICH, THOUGHT

LOG = "\n".join(f"2026-11-19 16:00:{n:02} ERROR worker.{n} took={n}ms" for n in range(40))
# Each ends where something is open, and goes on in the next.
PIECES = (
    f"{RICH}\n> An open **quote",
    " of words**.\n\n```mermaid\ngraph TD\n  A --> B\n```\n\n| a | b |\n| --- | --- |\n| 1 | `ha",
    "lf` |\n\n- [x] one\n- [a link](https://example.org) and *an open",
    " one*\n\n$$\n\\sum_{n=1}^\\infty",
    " x^n\n$$\n\nAnd $x",
    "^2$.\n\n```python\nfor n in range(3):  # as it",
)


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


@on_both
def test_nothing_is_found_while_an_answer_grows(enter, upstream, look):
    tab = enter(**look, reduced_motion="reduce").open()
    # What axe looks into frames with.
    tab.forgive("postMessage")
    tab.composer.fill(f"What is wrong here?\n\n{LOG}\n\n> quoted\n\n```python\nx = 1\n```")
    tab.press("Send")
    answer = upstream.next_answer()
    answer.think(THOUGHT)
    tab.expect_shown(THOUGHT)
    assert tab.faults() == []
    for piece in PIECES:
        answer.write(piece)
        tab.next_frames(10)
        assert tab.faults() == []
    tab.questions.get_by_text("more lines").click()
    picture = tab.text.get_by_role("button", name="Picture")
    if picture.count():
        picture.press("Enter")
        expect(tab.text.locator("iframe")).to_be_visible()
    assert tab.faults() == []
    answer.write(" comes\n    print(n)\n```\n\nSo.")
    answer.finish()
    tab.expect_status("complete")
    assert tab.faults() == []


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
