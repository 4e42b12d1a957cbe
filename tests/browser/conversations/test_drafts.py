"""What somebody is writing is not lost: by a reload, a failed send, or a sign-in. A question in other words neither."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.steered import Write

WORDS = "A long question,\nthought about for an hour"


def test_it_survives_a_reload_and_belongs_to_its_conversation(enter, upstream):
    upstream.always(Write("Because."))
    tab = enter().open()
    tab.composer.fill("for a new one")
    tab.reload()
    expect(tab.composer).to_have_value("for a new one")
    tab.ask("Why?")
    expect(tab.composer).to_have_value("")
    tab.composer.fill(WORDS)
    tab.reload()
    expect(tab.composer).to_have_value(WORDS)
    tab.open()
    expect(tab.composer).to_have_value("")
    tab.page.go_back()
    expect(tab.composer).to_have_value(WORDS)


def test_it_survives_a_send_that_failed_and_can_be_sent_then(enter, proxy, upstream):
    upstream.always(Write("Because."))
    tab = enter(to=proxy)
    tab.forgive("WebSocket", "ERR_", "htmx:")
    tab.open()
    tab.ask("Why?")
    tab.expect_status("complete")
    with proxy.away():
        tab.composer.fill(WORDS)
        tab.composer.press("Enter")
        expect(tab.page.get_by_role("alert").first).to_contain_text("The server cannot be reached.")
        expect(tab.composer).to_have_value(WORDS)
    tab.composer.press("Enter")
    expect(tab.questions).to_have_count(2)
    expect(tab.composer).to_have_value("")
    tab.expect_as_loaded()
    assert len(upstream.requests) == 2


def test_it_is_gone_from_this_browser_after_signing_out(enter, upstream):
    tab = enter().open()
    tab.composer.fill(WORDS)
    tab.page.get_by_role("button", name="Sign out").click()
    tab.page.wait_for_url("**/accounts/login/")
    assert tab.page.evaluate("JSON.stringify(localStorage)").find("thought about") == -1


def editing(tab, question=None):
    """Of the first question, or another one."""
    question = question or tab.questions.first
    tab.page.wait_for_load_state()
    tab.press("Edit", within=question)
    box = question.get_by_role("textbox", name="Edited question")
    expect(box).to_be_focused()
    return box


def kept(tab):
    return tab.page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('draft:'))")


@pytest.fixture
def asked(enter, upstream):
    upstream.always(Write("Because."))
    tab = enter().open()
    tab.ask("Why?")
    tab.expect_status("complete")
    return tab


def test_what_was_typed_in_an_edit_is_there_when_it_is_opened_again(asked):
    editing(asked).fill(WORDS)
    asked.reload()
    expect(asked.composer).to_have_value("")
    box = editing(asked)
    expect(box).to_have_value(WORDS)
    assert box.evaluate("(box) => box.selectionStart") == len(WORDS)
    box.press("Enter")
    expect(asked.questions.first).to_contain_text("2 / 2")
    expect(asked.questions.first).to_contain_text("thought about for an hour")
    assert kept(asked) == []
    asked.press("Previous branch", within=asked.questions.first)
    expect(asked.questions.first).to_contain_text("Why?")
    expect(editing(asked)).to_have_value("Why?")


def test_each_question_has_its_own_draft_and_so_has_the_composer(asked):
    asked.ask("And then?")
    asked.expect_as_loaded()
    asked.composer.fill("for the composer")
    editing(asked).fill("for the first")
    asked.reload()
    expect(asked.composer).to_have_value("for the composer")
    expect(editing(asked, asked.questions.last)).to_have_value("And then?")
    expect(editing(asked)).to_have_value("for the first")


@pytest.mark.parametrize("way", ["Escape", "Cancel"])
def test_an_edit_that_was_left_is_forgotten(asked, way):
    editing(asked).fill(WORDS)
    asked.reload()
    box = editing(asked)
    expect(box).to_have_value(WORDS)
    if way == "Escape":
        box.press("Escape")
    else:
        asked.page.get_by_role("link", name="Cancel").click()
    expect(box).to_have_count(0)
    assert kept(asked) == []
    expect(editing(asked)).to_have_value("Why?")


def test_an_edit_with_the_words_it_began_with_is_no_draft(asked):
    box = editing(asked)
    box.fill(WORDS)
    assert len(kept(asked)) == 1
    box.fill("Why?")
    assert kept(asked) == []


def test_an_edit_that_could_not_be_sent_is_kept(enter, proxy, upstream):
    upstream.always(Write("Because."))
    tab = enter(to=proxy)
    tab.forgive("WebSocket", "ERR_", "htmx:")
    tab.open()
    tab.ask("Why?")
    tab.expect_status("complete")
    box = editing(tab)
    with proxy.away():
        box.fill(WORDS)
        box.press("Enter")
        expect(tab.page.locator("#edit-refused")).to_contain_text("The server cannot be reached.")
    tab.reload()
    expect(editing(tab)).to_have_value(WORDS)


def test_a_refused_edit_says_why_and_keeps_what_was_typed(asked):
    asked.forgive("status of 400", "Status Error Code 400")
    box = editing(asked)
    box.fill("  ")
    box.press("Enter")
    refused = asked.page.locator("#edit-refused")
    expect(refused).to_have_text("Write a question first.")
    expect(asked.page.get_by_role("textbox", name="Edited question")).to_have_count(1)
    box.fill("Why not?")
    box.press("Enter")
    expect(asked.questions.first).to_contain_text("2 / 2")
    assert kept(asked) == []


def test_an_edit_is_gone_from_this_browser_after_signing_out(asked):
    editing(asked).fill(WORDS)
    asked.page.get_by_role("button", name="Sign out").click()
    asked.page.wait_for_url("**/accounts/login/")
    assert kept(asked) == []
