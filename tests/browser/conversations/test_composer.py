"""The composer in a real browser: what is typed is never lost, and every key does what the page says."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steered import Write

WORDS = "What I have been writing"
PHONE = {"viewport": {"width": 390, "height": 700}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def answered(enter, upstream):
    """A tab on a conversation with one answer."""

    def enter_one(**more):
        upstream.plays(Write("Because."))
        tab = enter(**more).open()
        tab.ask("Why?")
        tab.expect_status("complete")
        return tab

    return enter_one


def test_who_was_signed_out_meanwhile_is_told_and_finds_the_text_after_signing_in(enter, house):
    tab = enter().open()
    kept = tab.context.cookies()
    tab.composer.fill(WORDS)
    tab.context.clear_cookies(name="sessionid")
    tab.press("Send")
    expect(tab.page.get_by_role("alert")).to_contain_text("You were signed out")
    expect(tab.composer).to_have_value(WORDS)
    tab.context.add_cookies(kept)
    tab.reload()
    expect(tab.composer).to_have_value(WORDS)
    tab.forgive("Response Status Error Code 200", "WebSocket")


def test_a_refusal_stands_beside_the_composer_and_can_be_sent_again(enter, upstream):
    tab = enter().open()
    tab.page.evaluate("document.querySelector('#composer [name=key]').value = 'broken'")
    tab.composer.fill(WORDS)
    tab.press("Send")
    expect(tab.page.get_by_role("alert")).to_have_text(re.compile("too old"))
    expect(tab.composer).to_have_value(WORDS)
    upstream.plays(Write("Because."))
    tab.press("Send")
    tab.expect_text("Because.")
    tab.forgive("400")


def test_signing_out_takes_the_drafts_of_that_person_along(enter):
    tab = enter().open()
    tab.composer.fill(WORDS)
    tab.page.evaluate("localStorage.setItem('draft:0/new', 'of somebody else')")
    tab.press("Sign out")
    tab.page.wait_for_url("**/accounts/login/")
    assert tab.page.evaluate("Object.values(localStorage)") == ["of somebody else"]


def test_enter_sends_and_shift_enter_breaks(enter, upstream):
    upstream.plays(Write("Because."))
    tab = enter().open()
    tab.composer.press_sequentially("One")
    tab.composer.press("Shift+Enter")
    tab.composer.press_sequentially("Two")
    expect(tab.composer).to_have_value("One\nTwo")
    tab.composer.press("Enter")
    tab.expect_text("Because.")
    assert upstream.requests[-1].body["input"][-1]["content"] == "One\nTwo"


def test_where_enter_breaks_control_enter_sends(enter, upstream):
    upstream.plays(Write("Because."))
    tab = enter(prefers={"enter_sends": False}).open()
    tab.composer.press_sequentially("One")
    tab.composer.press("Enter")
    tab.composer.press_sequentially("Two")
    expect(tab.composer).to_have_value("One\nTwo")
    tab.composer.press("Control+Enter")
    tab.expect_text("Because.")


def test_on_a_phone_enter_breaks(enter):
    tab = enter(**PHONE).open()
    tab.composer.press_sequentially("One")
    tab.composer.press("Enter")
    tab.composer.press_sequentially("Two")
    expect(tab.composer).to_have_value("One\nTwo")


@pytest.mark.parametrize("sign", ["isComposing: true", "keyCode: 229"])
def test_enter_of_an_input_method_sends_nothing(enter, upstream, sign):
    tab = enter().open()
    tab.composer.fill("日本")
    tab.composer.evaluate(
        f"box => box.dispatchEvent(new KeyboardEvent('keydown', {{key: 'Enter', bubbles: true, {sign}}}))"
    )
    expect(tab.page).to_have_url(tab.url)
    assert upstream.requests == []


def test_an_empty_question_is_not_sent(enter, upstream):
    tab = enter().open()
    tab.composer.fill("  ")
    tab.composer.press("Enter")
    tab.press("Send")
    expect(tab.page).to_have_url(tab.url)
    assert upstream.requests == []


def test_it_grows_with_its_text_up_to_a_part_of_the_window(enter):
    tab = enter().open()
    heights = []
    for lines in (1, 5, 100):
        tab.composer.fill("line\n" * lines)
        heights.append(tab.composer.bounding_box()["height"])
    assert heights[0] < heights[1] < heights[2] <= 0.41 * tab.page.viewport_size["height"]


def test_while_it_answers_stop_stands_in_place_of_send_and_escape_presses_it(answered, upstream):
    tab = answered()
    tab.ask("And?")
    answer = upstream.next_answer()
    answer.write("One")
    tab.expect_text("One")
    expect(tab.page.get_by_role("button", name="Send", exact=True)).to_have_count(0)
    tab.composer.fill(WORDS)
    tab.composer.press("Escape")
    tab.expect_status("stopped")
    expect(tab.page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    expect(tab.composer).to_have_value(WORDS)
    expect(tab.composer).to_be_focused()
    assert tab.questions.count() == 2


def test_a_double_click_on_send_asks_once_and_stops_nothing(answered, upstream):
    tab = answered()
    tab.composer.fill("And?")
    tab.page.get_by_role("button", name="Send", exact=True).dblclick()
    answer = upstream.next_answer()
    answer.write("Once.")
    answer.finish()
    tab.expect_text("Once.")
    tab.expect_status("complete")
    assert tab.questions.count() == 2


def test_two_clicks_before_the_server_has_answered_ask_once(enter, upstream, proxy):
    tab = enter(to=proxy).open()
    tab.composer.fill("Why?")
    with proxy.held_back():
        for _ in range(2):
            tab.press("Send")
    upstream.next_answer().finish()
    tab.expect_status("failed")
    tab.open("conversations/")
    assert len(upstream.requests) == 1


def test_arrow_up_in_an_empty_composer_edits_the_last_question(answered):
    tab = answered()
    tab.composer.fill("x")
    tab.composer.press("ArrowUp")
    expect(tab.composer).to_be_focused()
    tab.composer.fill("")
    tab.composer.press("ArrowUp")
    expect(tab.questions.last.get_by_role("textbox")).to_have_value("Why?")


def test_effort_follows_the_model_and_off_is_sent(enter, upstream):
    upstream.plays(Write("Because."))
    tab = enter().open()
    model, effort = tab.page.get_by_label("Model"), tab.page.get_by_label("Effort")
    model.select_option("openai:gpt-4.1")
    expect(effort).to_be_hidden()
    model.select_option("anthropic:claude-sonnet-4-6")
    expect(effort).to_be_visible()
    effort.select_option(label="Off")
    tab.ask("Why?")
    tab.expect_text("Because.")
    asked = upstream.requests[-1]
    assert asked.model == "claude-sonnet-4-6" and asked.body.get("thinking", {}).get("type") != "enabled"
    tab.reload()
    expect(model).to_have_value("anthropic:claude-sonnet-4-6")
    expect(effort).to_have_value("off")


def test_an_example_is_asked_with_the_chosen_model(enter, upstream):
    upstream.plays(Write("672"))
    tab = enter().open()
    tab.page.get_by_label("Model").select_option("openai:gpt-5-mini")
    example = tab.page.get_by_role("group", name="Examples").get_by_role("button").first
    words = example.locator("b").inner_text()
    example.click()
    tab.expect_text("672")
    expect(tab.questions).to_have_text(re.compile(re.escape(words)))
    assert upstream.requests[-1].model == "gpt-5-mini"


def test_without_scripts_one_asks_all_the_same(enter, upstream):
    upstream.plays(Write("Because."))
    tab = enter(java_script_enabled=False).open()
    tab.composer.fill("Why?")
    tab.press("Send")
    tab.page.wait_for_url("**/c/**")
    expect(tab.questions).to_have_text(re.compile(re.escape("Why?")))
    tab.press("All models")
    expect(tab.page.get_by_role("heading", name="All models").last).to_be_visible()


def test_instructions_are_changed_in_a_dialog_and_sent(answered, upstream):
    tab = answered()
    tab.press("More")
    tab.page.get_by_role("link", name="Instructions").click()
    dialog = tab.page.get_by_role("dialog", name="Instructions")
    dialog.get_by_role("textbox", name="Instructions").fill("Be brief.")
    tab.press("Save", within=dialog)
    expect(dialog.get_by_role("status")).to_have_text("Saved.")
    tab.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    upstream.plays(Write("Yes."))
    tab.ask("And?")
    tab.expect_text("Yes.")
    assert "Be brief." in str(upstream.requests[-1].body["instructions"])
