"""Thinking is seen: the clock runs while the model thinks, and what it showed is what stays."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steered import Call, Think, Write

MODELS = ["openai:gpt-5", "anthropic:claude-sonnet-4-6", "compatible:gpt-5"]


def stored_ms(house, tab) -> list[int]:
    return list(house.clerk("message", pk=tab.message_id())["metadata"]["reasoning_durations_ms"].values())


def test_the_clock_runs_while_it_thinks_and_stays_at_what_was_stored(enter, house, upstream):
    tab = enter().open()
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.think("Hm. ")
    tab.expect_thinking(1)
    shown = [tab.seconds()]
    tab.expect_thinking(2)
    shown.append(tab.seconds())
    answer.write("Because.")
    answer.finish()
    tab.expect_status("complete")
    (ms,) = stored_ms(house, tab)
    expect(tab.thought).to_have_text(f"Thought for {-(-ms // 1000)} seconds")
    assert shown == sorted(shown)
    assert tab.seconds() >= shown[-1]
    tab.expect_as_loaded()


def test_after_a_reload_and_in_a_second_tab_the_clock_goes_on_where_it_was(enter, upstream):
    tab = enter().open()
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.think("Hm. ")
    tab.expect_thinking(3)
    tab.reload()
    assert tab.seconds() >= 3
    second = enter(tab)
    second.page.goto(tab.page.url)
    assert second.seconds() >= 3
    answer.write("Because.")
    answer.finish()
    for one in (tab, second):
        one.expect_text("Because.")
        assert one.seconds() >= 3


@pytest.mark.parametrize("hours", [-25, 25])
def test_a_wrong_clock_of_the_browser_changes_nothing(enter, upstream, hours):
    tab = enter()
    tab.context.add_init_script(f"const now = Date.now; Date.now = () => now() + {hours} * 3600000;")
    tab.open()
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.think("Hm. ")
    tab.expect_thinking(1)
    tab.reload()
    assert 1 <= tab.seconds() < 20
    answer.write("Because.")
    answer.finish()
    tab.expect_status("complete")


@pytest.mark.parametrize("model", MODELS)
def test_each_thought_keeps_a_time_of_its_own_and_the_answer_tells_the_sum(enter, house, upstream, model):
    upstream.plays(Think("First. ", seconds=1.4), Call("clock"))
    upstream.plays(Think("Second. ", seconds=0.1), Write("Noon."))
    tab = enter(prefers={"default_model": model}).open()
    tab.ask("What time is it?")
    tab.expect_status("complete")
    tab.expect_text("Noon.")
    first, second = stored_ms(house, tab)
    assert first > 1000 > second
    summaries = tab.answer.locator("details[data-kind=reasoning] > summary")
    expect(summaries).to_have_text([f"Thought for {-(-first // 1000)} seconds", "Thought for 1 second"])
    expect(tab.answer.locator(".timeline > summary")).to_contain_text(
        re.compile(rf"Thought for {1 - (-first // 1000)} seconds in 2 steps")
    )
    tab.expect_as_loaded()


def test_a_thought_without_words_has_its_clock_and_its_time(enter, upstream):
    tab = enter().open()
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.think()
    tab.expect_thinking(1)
    answer.end_thought()
    answer.write("Because.")
    answer.finish()
    expect(tab.thought).to_have_text(re.compile(r"^Thought for \d+ seconds?$"))


def test_an_answer_without_a_thought_shows_none(enter, upstream):
    upstream.plays(Write("Because."))
    tab = enter().open()
    tab.ask("Why?")
    tab.expect_text("Because.")
    tab.expect_status("complete")
    assert tab.answer.locator("details[data-kind=reasoning]").count() == 0
    expect(tab.answer).not_to_contain_text("Thought")


def test_words_of_a_thought_are_read_while_it_is_thought(enter, upstream):
    tab = enter().open()
    tab.ask("Why?")
    answer = upstream.next_answer()
    body = tab.answer.locator("details[data-kind=reasoning] [data-body]")
    answer.think("One word")
    expect(body).to_contain_text("One word")
    answer.think(" and another")
    expect(body).to_contain_text("One word and another")
    assert body.is_visible()
    answer.write("Because.")
    expect(body).to_be_hidden()
    answer.finish()
    tab.thought.click()
    expect(body).to_be_visible()
