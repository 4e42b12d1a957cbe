"""Editing a question by the keys that the composer teaches; and what one reads of it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steered import Write

CODE = "def f():\n    return 1\n\t\ttwo  spaces"


@pytest.fixture
def tab(enter, upstream):
    upstream.plays(Write("Here."))
    tab = enter().open()
    tab.ask(CODE)
    tab.expect_status("complete")
    return tab


def editing(tab):
    tab.composer.press("ArrowUp")
    box = tab.page.get_by_role("textbox", name="Edited question")
    expect(box).to_be_focused()
    return box


def test_code_in_a_question_keeps_its_shape(tab):
    assert tab.questions.first.locator("[data-kind]").inner_text() == CODE


def test_enter_asks_the_edited_question(tab, upstream):
    upstream.plays(Write("There."))
    box = editing(tab)
    box.fill("And otherwise?")
    box.press("Enter")
    tab.expect_text(re.compile("There"))
    expect(tab.questions.first).to_contain_text("And otherwise?")
    expect(tab.questions.first).to_contain_text("2 / 2")


def test_escape_leaves_the_question_as_it_was(tab):
    box = editing(tab)
    box.fill("Something else")
    box.press("Escape")
    expect(tab.questions.first).to_contain_text("def f():")
    expect(tab.questions.first.get_by_role("button", name="Edit")).to_be_focused()


def test_one_can_type_at_once_on_the_first_page(enter):
    tab = enter().open()
    expect(tab.composer).to_be_focused()


def test_without_scripts_a_running_answer_grows_by_itself(enter, upstream):
    tab = enter(java_script_enabled=False).open()
    tab.composer.fill("Why?")
    tab.press("Send")
    answer = upstream.next_answer()
    answer.write("Because of the")
    expect(tab.answer).to_contain_text("Because of the")
    answer.write(" moon")
    answer.finish()
    tab.expect_status("complete")
    expect(tab.answer).to_contain_text("Because of the moon")


def test_without_scripts_a_second_answer_grows_by_itself_too(enter, upstream):
    """Its address names a message, and a browser that is sent there again only scrolls."""
    upstream.plays(Write("Because."))
    tab = enter(java_script_enabled=False).open()
    tab.composer.fill("Why?")
    tab.press("Send")
    tab.expect_text("Because.")
    tab.composer.fill("Since when?")
    tab.press("Send")
    answer = upstream.next_answer()
    for words in ("Since", " the moon", " has been there."):
        answer.write(words)
        expect(tab.answer).to_contain_text(words.strip())
    expect(tab.questions.last).to_be_in_viewport()
    answer.finish()
    tab.expect_text("Since the moon has been there.")
    tab.expect_status("complete")


def test_without_scripts_nothing_can_be_typed_into_a_page_that_loads_itself_anew(enter, upstream):
    """It would be lost."""
    tab = enter(java_script_enabled=False).open()
    tab.composer.fill("Why?")
    tab.press("Send")
    answer = upstream.next_answer()
    answer.write("Because")
    expect(tab.answer).to_contain_text("Because")
    expect(tab.composer).to_be_hidden()
    expect(tab.page.locator("#composer noscript > p")).to_be_visible()
    answer.finish()
    expect(tab.composer).to_be_visible()


def test_letters_of_a_growing_table_stand_in_their_cell(enter, upstream):
    tab = enter().open()
    tab.ask("A table?")
    answer = upstream.next_answer()
    answer.write("| a | b | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 4 ")
    expect(tab.text.locator("td").first).to_have_text("1")
    answer.write("x | 5 | 6")
    expect(tab.text.locator("td").nth(3)).to_have_text("4 x")
    expect(tab.text.locator("td").nth(5)).to_have_text("6")
    answer.finish()
    expect(tab.text.locator("td").nth(3)).to_have_text("4 x")
