"""Settings and keys in a real browser."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.looks import on_both
from tests.browser.steered import Write


def theme(tab) -> str:
    return tab.page.locator("html").evaluate("html => getComputedStyle(html).colorScheme")


def test_a_theme_is_seen_at_once_and_after_a_reload(enter):
    tab = enter().open("settings/")
    tab.page.get_by_text("Dark", exact=True).click()
    assert theme(tab) == "dark"
    expect(tab.page.locator("#appearance-told")).to_have_text("Saved.")
    tab.reload()
    assert theme(tab) == "dark"
    tab.page.get_by_text("As the system has it").click()
    assert theme(tab) == "light dark"


def test_a_switch_is_saved_when_it_is_switched_and_keeps_the_focus(enter):
    tab = enter().open("settings/")
    switch = tab.page.get_by_role("switch", name="Enter sends")
    switch.focus()
    switch.press("Space")
    expect(tab.page.locator("#appearance-told")).to_have_text("Saved.")
    expect(switch).to_be_focused()
    tab.open()
    expect(tab.page.get_by_text("Ctrl Enter sends")).to_be_visible()


def test_without_scripts_settings_are_saved_all_the_same(enter):
    tab = enter(java_script_enabled=False).open("settings/")
    tab.page.get_by_text("Dark", exact=True).click()
    tab.press("Save")
    expect(tab.page.locator("#appearance-told")).to_have_text("Saved.")
    assert theme(tab) == "dark"


def test_a_question_mark_shows_the_keys_but_not_while_one_types(enter):
    tab = enter().open()
    keys = tab.page.get_by_role("dialog", name="Keys")
    tab.composer.press_sequentially("Why?")
    expect(tab.composer).to_have_value("Why?")
    expect(keys).to_be_hidden()
    tab.composer.blur()
    tab.page.keyboard.press("?")
    expect(keys).to_be_visible()
    tab.page.keyboard.press("Escape")
    expect(keys).to_be_hidden()


def test_letters_can_be_switched_off(enter):
    tab = enter().open("settings/")
    tab.page.get_by_role("switch", name="One letter for each action").click()
    tab.open()
    tab.composer.blur()
    tab.page.keyboard.press("?")
    tab.page.keyboard.press("i")
    expect(tab.page.get_by_role("dialog", name="Keys")).to_be_hidden()
    expect(tab.composer).not_to_be_focused()
    tab.open("settings/")
    expect(tab.page.get_by_role("switch", name="One letter for each action")).not_to_be_checked()


def test_letters_move_and_act(enter, upstream):
    upstream.plays(Write("Because."))
    tab = enter().open()
    tab.ask("Why?")
    tab.expect_status("complete")
    tab.composer.blur()
    tab.page.keyboard.press("j")
    expect(tab.questions).to_be_focused()
    tab.page.keyboard.press("j")
    expect(tab.answers).to_be_focused()
    tab.page.keyboard.press("k")
    expect(tab.questions).to_be_focused()
    tab.page.keyboard.press("i")
    expect(tab.composer).to_be_focused()
    tab.composer.blur()
    upstream.plays(Write("Again."))
    tab.page.keyboard.press("r")
    tab.expect_text("Again.")
    tab.expect_status("complete")
    tab.page.keyboard.press("h")
    tab.expect_text("Because.")
    expect(tab.page.get_by_role("button", name="Next branch")).to_be_focused()
    tab.page.keyboard.press("l")
    tab.expect_text("Again.")
    expect(tab.page.get_by_role("button", name="Previous branch")).to_be_focused()
    tab.page.keyboard.press("/")
    expect(tab.page.get_by_role("searchbox")).to_be_focused()
    tab.page.get_by_role("searchbox").blur()
    tab.page.keyboard.press("m")
    tab.page.wait_for_url("**/map/")
    tab.page.keyboard.press("n")
    expect(tab.page).to_have_url(tab.url)


@on_both
def test_nothing_keeps_anybody_out(enter, look):
    tab = enter(**look)
    for path in ("", "settings/", "settings/delete/", "models/"):
        tab.open(path)
        assert tab.grave() == []
        assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab.open("settings/")
    tab.press("Show the keys")
    expect(tab.page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert tab.grave() == []
    tab.open()
    tab.press("All models")
    expect(tab.page.get_by_role("dialog", name="All models")).to_be_visible()
    assert tab.grave() == []
