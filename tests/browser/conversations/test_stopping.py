"""Stop always stops, from any tab and at any moment, and what was seen stays."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.steered import Silence, Think, Write
from tests.browser.words import RICH, THOUGHT


def stop(tab) -> None:
    tab.press("Stop")
    tab.expect_status("stopped")
    expect(tab.page.get_by_role("button", name="Send", exact=True)).to_be_visible()


def looks_stopped(tab) -> None:
    expect(tab.answer).to_contain_text("Stopped by you")
    tab.expect_as_loaded("stopped")


def test_in_a_thought(enter, upstream):
    tab = enter().open()
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.think(THOUGHT)
    tab.expect_shown(THOUGHT)
    tab.expect_thinking(1)
    stop(tab)
    answer.until_gone()
    expect(tab.thought).to_have_text(re.compile(r"^Thought for \d+ seconds?, stopped$"))
    tab.thought.click()
    expect(tab.answer.locator("details[data-kind=reasoning]")).to_contain_text("both are looked at in turn")
    looks_stopped(tab)


def test_in_the_text(enter, upstream):
    tab = enter().open()
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.think("Hm. ")
    answer.write("Because **half")
    tab.expect_shown("Because half")
    stop(tab)
    answer.until_gone()
    tab.expect_text(re.compile("^Because .*half$"))
    expect(tab.thought).to_have_text("Thought for 1 second")
    looks_stopped(tab)


def test_before_the_first_word(enter, upstream):
    tab = enter().open()
    tab.ask("Why?")
    answer = upstream.next_answer()
    stop(tab)
    answer.until_gone()
    assert tab.answer.locator("[data-item-key]").count() == 0
    looks_stopped(tab)


def test_from_another_tab_after_a_reload(enter, upstream):
    one = enter().open()
    one.ask("Why?")
    answer = upstream.next_answer()
    answer.write("Half")
    other = enter(one)
    other.page.goto(one.page.url)
    other.reload()
    stop(other)
    answer.until_gone()
    for tab in (one, other):
        tab.expect_status("stopped")
        tab.expect_text("Half")
        looks_stopped(tab)


def test_by_the_escape_key(enter, upstream):
    upstream.plays(Write("Half"), Silence())
    tab = enter().open()
    tab.ask("Why?")
    tab.expect_shown("Half")
    expect(tab.page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    tab.composer.press("Escape")
    tab.expect_status("stopped")


def test_closing_the_tab_stops_nothing(enter, house, upstream):
    tab = enter().open()
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.think(THOUGHT)
    url, message = tab.page.url, tab.message_id()
    tab.page.close()
    answer.write(RICH)
    answer.finish()
    later = enter(tab)
    later.page.goto(url)
    later.expect_as_loaded()
    assert later.message_id() == message


def test_what_was_stopped_goes_on_where_it_was(enter, upstream):
    tab = enter().open()
    tab.ask("Why?")
    first = upstream.next_answer()
    first.think("Hm. ")
    first.write("Because half")
    tab.expect_shown("half")
    stop(tab)
    tab.press("Continue", within=tab.answer)
    second = upstream.next_answer()
    tab.expect_status("running")
    second.write(" is not whole.")
    second.finish()
    tab.expect_as_loaded()
    expect(tab.answers).to_have_count(1)
    expect(tab.answer).to_contain_text("Because half")
    expect(tab.answer).to_contain_text("is not whole.")
    expect(tab.answer.get_by_role("button", name="Continue")).to_have_count(0)


def test_what_comes_while_the_branch_is_put_on_the_screen_is_not_lost(enter, upstream):
    """The page that was asked for is older than the words that came meanwhile, and takes its time to settle."""
    tab = enter().open()
    tab.ask("Why?")
    upstream.next_answer().write("Because half")
    tab.expect_shown("half")
    stop(tab)
    answers = []

    def slowly(route) -> None:
        page = route.fetch()
        answers.append(upstream.next_answer())
        answers[0].think("It is not whole. ")
        answers[0].end_thought()
        answers[0].write("And")
        expect(tab.answer).to_contain_text("Because half And")
        route.fulfill(response=page)

    tab.page.route("**/continue/", slowly)
    tab.page.evaluate(
        "() => { htmx.config.defaultSettleDelay = 1000; window.before = document.getElementById('thread'); }"
    )
    tab.press("Continue", within=tab.answer)
    tab.page.wait_for_function("() => !window.before.isConnected")
    answers[0].write(" more.")
    answers[0].finish()
    expect(tab.answer).to_contain_text("Because half And more.")
    expect(tab.thought).to_have_text("Thought for 1 second")
    tab.expect_as_loaded()


def test_a_stopped_answer_can_be_followed_by_a_question(enter, upstream):
    upstream.plays(Think("Hm. "), Write("Half"), Silence())
    tab = enter().open()
    tab.ask("Why?")
    tab.expect_shown("Half")
    stop(tab)
    upstream.plays(Write("Whole."))
    tab.ask("And then?")
    tab.expect_text("Whole.")
    tab.expect_as_loaded()
    expect(tab.answers.first.get_by_role("button", name="Continue")).to_have_count(0)
