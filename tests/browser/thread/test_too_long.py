"""A conversation that fills its model's window: a meter says so in time, an error too late, and both say how it goes on."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.steered import Held, Write, too_long

# Of gpt-5's window, as the product knows it.
WINDOW = 400_000
LEAVE_OUT = "Leave out the oldest turns"


@pytest.fixture
def tab(enter, upstream):
    """Three turns. The third request finds two of a third of the window each."""
    tab = enter().open()
    for number, percent in (("First", 1), ("Second", 33), ("Third", 66)):
        turn(tab, upstream, number, percent)
    return tab


def answers(upstream, words, percent=1):
    """And counts how much of the window was taken by what was sent."""
    upstream.plays(Held(WINDOW * percent // 100), Write(words))


def turn(tab, upstream, number, percent):
    answers(upstream, f"{number} answer.", percent)
    tab.ask(f"{number} question?")
    tab.expect_text(f"{number} answer.")
    tab.expect_at_rest()


def meter(tab):
    return tab.page.get_by_role("meter", name="How full the conversation is")


def leave_out(tab):
    return tab.page.get_by_role("checkbox", name=LEAVE_OUT)


def sent(upstream):
    """Which questions and answers the last request held."""
    words = json.dumps(upstream.requests[-1].body["input"])
    return re.findall(r"(\w+) (?:question\?|answer\.)", words)


def test_the_meter_comes_with_the_answer_that_fills_four_fifths(tab, upstream):
    expect(meter(tab)).to_have_count(0)
    turn(tab, upstream, "Fourth", 86)
    expect(meter(tab)).to_have_attribute("value", "86")
    expect(tab.page.locator("#meter")).to_contain_text("This conversation fills 86 % of gpt-5’s window.")
    tab.reload()
    expect(meter(tab)).to_have_attribute("value", "86")
    assert tab.grave() == []


def test_the_meter_is_told_to_other_tabs_too(tab, enter, upstream):
    other = enter(tab)
    other.page.goto(tab.page.url)
    turn(tab, upstream, "Fourth", 86)
    expect(meter(other)).to_have_attribute("value", "86")


def test_chosen_beside_the_meter_the_next_question_goes_without_the_oldest_turns(tab, upstream):
    turn(tab, upstream, "Fourth", 86)
    expect(leave_out(tab)).not_to_be_checked()
    leave_out(tab).check()
    turn(tab, upstream, "Fifth", 50)
    assert sent(upstream) == ["Third", "Third", "Fourth", "Fourth", "Fifth"]
    expect(meter(tab)).to_have_count(0)
    expect(tab.questions).to_have_count(5)
    # The choice travels with the branch, and is not made once more.
    turn(tab, upstream, "Sixth", 90)
    assert sent(upstream) == ["Third", "Third", "Fourth", "Fourth", "Fifth", "Fifth", "Sixth"]
    expect(leave_out(tab)).not_to_be_checked()
    turn(tab, upstream, "Seventh", 95)
    assert sent(upstream)[0] == "Third"


def test_while_it_answers_there_is_nothing_to_choose(tab, upstream):
    turn(tab, upstream, "Fourth", 90)
    leave_out(tab).check()
    tab.ask("Fifth question?")
    answer = upstream.next_answer()
    answer.write("Half")
    expect(meter(tab)).to_have_count(0)
    tab.reload()
    expect(meter(tab)).to_have_count(0)
    answer.finish()
    tab.expect_as_loaded()


def test_after_an_answer_that_was_too_long_it_goes_on_without_the_oldest_turns(tab, upstream):
    upstream.plays(too_long())
    tab.ask("Fourth question?")
    tab.expect_status("failed")
    tab.expect_as_loaded("failed")
    assert sent(upstream)[0] == "First"
    assert tab.grave() == []
    answers(upstream, "Fourth answer.", 50)
    tab.press(LEAVE_OUT, within=tab.answer)
    tab.expect_text("Fourth answer.")
    tab.expect_as_loaded()
    assert sent(upstream) == ["Second", "Second", "Third", "Third", "Fourth"]
    expect(tab.questions).to_have_count(4)
    turn(tab, upstream, "Fifth", 60)
    assert sent(upstream)[0] == "Second"


def test_what_was_left_out_is_told_beside_the_answer(tab, upstream):
    upstream.plays(too_long())
    tab.ask("Fourth question?")
    tab.expect_status("failed")
    answers(upstream, "Fourth answer.")
    tab.press(LEAVE_OUT, within=tab.answer)
    tab.expect_text("Fourth answer.")
    tab.expect_as_loaded()
    tab.answer.locator("details.timeline > summary").click()
    expect(tab.answer.locator("details.timeline")).to_contain_text("The oldest 2 messages were left out.")


def test_the_other_branch_has_all_of_its_turns_still(tab, upstream):
    upstream.plays(too_long())
    tab.ask("Fourth question?")
    tab.expect_status("failed")
    answers(upstream, "Fourth answer.")
    tab.press(LEAVE_OUT, within=tab.answer)
    tab.expect_text("Fourth answer.")
    tab.expect_as_loaded()
    answers(upstream, "Another answer.")
    tab.press("Ask again", within=tab.answers.nth(2))
    tab.expect_text("Another answer.")
    assert sent(upstream)[0] == "First"


def test_after_an_answer_that_was_too_long_a_larger_model_answers(tab, upstream):
    upstream.plays(too_long())
    tab.ask("Fourth question?")
    tab.expect_status("failed")
    answers(upstream, "Fourth answer.", 100)
    tab.answer.get_by_role("button", name=re.compile("Ask .*4.1")).click()
    tab.expect_text("Fourth answer.")
    tab.expect_as_loaded()
    assert upstream.requests[-1].model == "gpt-4.1"
    assert sent(upstream)[0] == "First"
    expect(meter(tab)).to_have_count(0)


def test_after_an_answer_that_was_too_long_another_model_can_be_chosen(tab, upstream):
    upstream.plays(too_long())
    tab.ask("Fourth question?")
    tab.expect_status("failed")
    answers(upstream, "Fourth answer.")
    tab.answer.get_by_role("link", name="Choose a larger model").click()
    dialog = tab.page.get_by_role("dialog", name="Ask again")
    dialog.get_by_label("Model").select_option("openai:gpt-4.1")
    dialog.get_by_role("button", name="Ask again").click()
    tab.expect_text("Fourth answer.")
    tab.expect_as_loaded()
    assert upstream.requests[-1].model == "gpt-4.1"


def test_a_single_question_that_is_too_long_is_not_offered_what_cannot_help(enter, upstream):
    upstream.plays(too_long())
    tab = enter().open()
    tab.ask("Only question?")
    tab.expect_status("failed")
    tab.expect_as_loaded("failed")
    expect(tab.answer.get_by_role("link", name="Choose a larger model")).to_be_visible()
    expect(tab.answer.get_by_role("button", name=LEAVE_OUT)).to_have_count(0)


def test_a_single_turn_that_fills_the_window_is_not_offered_it_either(enter, upstream):
    tab = enter().open()
    turn(tab, upstream, "Only", 90)
    expect(tab.page.locator("#meter")).to_contain_text("Choose a larger model.")
    expect(leave_out(tab)).to_have_count(0)


def test_without_scripts_the_oldest_turns_can_be_left_out_too(tab, enter, upstream):
    turn(tab, upstream, "Fourth", 90)
    state = tab.context.storage_state()
    plain = enter(java_script_enabled=False, storage_state=state)
    plain.context.add_cookies(state["cookies"])
    plain.page.goto(tab.page.url)
    answers(upstream, "Fifth answer.", 50)
    leave_out(plain).check()
    plain.composer.fill("Fifth question?")
    plain.press("Send")
    plain.expect_text("Fifth answer.")
    assert sent(upstream) == ["Third", "Third", "Fourth", "Fourth", "Fifth"]
