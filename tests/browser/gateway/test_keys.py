"""A key of a program: made, copied, waited for and revoked, in a real browser; by keyboard, on a phone, and without scripts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.looks import on_both

SECRET = re.compile(r"tl_[\w-]{43}")
# The page's own clock, so that nobody waits for it.
SOONER = "const set = setTimeout; window.setTimeout = (work, ms) => set(work, ms === 3000 ? 100 : ms)"


def form(tab):
    return tab.page.locator("form#new")


def make(tab, name: str) -> str:
    form(tab).get_by_label("Name", exact=True).fill(name)
    tab.press("Make the key")
    expect(tab.page.get_by_role("heading", name="Your new key")).to_be_visible()
    secret: str = tab.page.get_by_label("Key", exact=True).input_value()
    assert SECRET.fullmatch(secret)
    return secret


def clipboard(tab) -> str:
    return str(tab.page.evaluate("navigator.clipboard.readText()"))


@pytest.mark.whole_browser
def test_a_key_is_made_copied_and_revoked(enter):
    tab = enter().open("settings/")
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.page.get_by_role("link", name="Keys", exact=True).click()
    tab.press("Copy")
    assert clipboard(tab) == f"{tab.url}v1"

    secret = make(tab, "Codex on the laptop")
    expect(tab.page.get_by_label("Key", exact=True)).to_be_focused()
    tab.press("Copy key")
    expect(tab.page.get_by_role("button", name="Copied")).to_be_visible()
    assert clipboard(tab) == secret
    expect(tab.page.get_by_text(f"Authorization: Bearer {secret}")).to_be_visible()
    tab.page.get_by_text("Claude Code", exact=True).click()
    well = tab.page.get_by_role("region", name="Claude Code")
    well.get_by_role("button", name="Copy code").click()
    assert f"export ANTHROPIC_AUTH_TOKEN={secret}\n" in clipboard(tab)
    expect(tab.page.get_by_text("Authorization: Bearer")).to_be_hidden()

    tab.page.get_by_role("link", name="All keys").click()
    assert secret not in tab.page.content()
    row = tab.page.get_by_role("row", name=re.compile("Codex on the laptop"))
    expect(row).to_contain_text(secret[:7])
    revoke = row.get_by_role("link", name="Revoke Codex on the laptop")
    revoke.click()
    dialog = tab.page.get_by_role("dialog", name="Revoke “Codex on the laptop”?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(revoke).to_be_focused()
    revoke.press("Enter")
    dialog.get_by_role("button", name="Revoke").click()
    expect(tab.page.get_by_text("From now on that key opens nothing")).to_be_visible()
    tab.page.get_by_text("1 key that you revoked").click()
    expect(tab.page.get_by_role("table", name="Revoked keys")).to_contain_text("Codex on the laptop")


def test_a_page_that_waits_tells_that_the_first_request_came(enter, place):
    tab = enter()
    tab.context.add_init_script(SOONER)
    tab.open("settings/keys/")
    secret = make(tab, "Zed")
    waits = tab.page.locator(".waits")
    expect(waits).to_have_text("Waiting for its first request. It shows here as soon as it arrives.")
    place.clerk("use_key", secret=secret)
    expect(waits).to_contain_text("by Zed. It works.")


def test_one_empty_row_for_a_name_follows_those_that_are_filled(enter):
    tab = enter().open("settings/keys/")
    names = tab.page.get_by_role("textbox", name=re.compile("^Name that the program sends"))
    expect(names.filter(visible=True)).to_have_count(1)
    names.nth(0).fill("claude-sonnet-4-5")
    expect(names.filter(visible=True)).to_have_count(2)
    names.nth(1).fill("gpt-4o")
    expect(names.filter(visible=True)).to_have_count(3)


def test_what_is_wrong_is_told_where_it_stands_and_nothing_is_lost(enter):
    tab = enter().open("settings/keys/")
    tab.forgive("400")
    form(tab).get_by_label("Name", exact=True).fill("Editor")
    tab.page.get_by_label("Tokens", exact=True).fill("many")
    tab.press("Make the key")
    expect(tab.page.get_by_role("alert").filter(has_text="No key was made yet")).to_be_focused()
    expect(tab.page.get_by_label("Tokens", exact=True)).to_have_accessible_description(
        "Enter a whole number."
    )
    expect(form(tab).get_by_label("Name", exact=True)).to_have_value("Editor")
    assert tab.grave() == []


def test_without_scripts_a_key_is_made_read_and_revoked(enter):
    tab = enter(java_script_enabled=False).open("settings/keys/")
    secret = make(tab, "Script")
    expect(tab.page.get_by_role("button", name="Copy key")).to_be_hidden()
    tab.page.get_by_text("Python", exact=True).click()
    expect(tab.page.get_by_text(f'api_key="{secret}"')).to_be_visible()
    expect(tab.page.locator(".waits")).to_be_hidden()
    tab.page.get_by_role("link", name="All keys").click()
    tab.page.get_by_role("link", name="Revoke Script").click()
    tab.press("Revoke")
    expect(tab.page.get_by_text("From now on that key opens nothing")).to_be_visible()


@on_both
def test_nothing_is_wrong_with_these_pages_and_nothing_is_wider_than_the_screen(enter, look):
    tab = enter(**look).open("settings/keys/")
    fits = "() => document.documentElement.scrollWidth <= innerWidth"
    for _ in range(2):
        assert tab.grave() == [] and tab.page.evaluate(fits)
        make(tab, "A name that is rather long, of a program on a machine that is far away")
        assert tab.grave() == [] and tab.page.evaluate(fits)
        tab.page.get_by_role("link", name="All keys").click()
