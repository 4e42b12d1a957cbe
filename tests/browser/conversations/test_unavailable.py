"""While the database is locked, what was typed stays and the page says why; when it is free again, Send works."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager

import pytest
from playwright.sync_api import expect

from tests.browser.served import DATABASE
from tests.browser.steered import Write

WORDS = "What I have been writing"


@pytest.fixture
def locked(own_house, tmp_path):
    """Another process writes, and does not end."""

    @contextmanager
    def locked():
        with closing(sqlite3.connect(tmp_path / DATABASE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
            other.rollback()

    return locked


def test_the_composer_keeps_its_text_and_says_why_until_it_can_be_sent(enter, upstream, locked):
    tab = enter().open()
    tab.forgive("503")
    refused = tab.page.locator("#refused")
    with locked():
        tab.composer.fill(WORDS)
        tab.press("Send")
        expect(refused).to_have_text(
            "The database is busy, and this had to wait too long. Nothing that you wrote is lost; try again in a moment."
        )
        expect(tab.composer).to_have_value(WORDS)
    upstream.plays(Write("Because."))
    tab.press("Send")
    tab.expect_text("Because.")
    expect(tab.composer).to_have_value("")
    with locked():
        tab.page.get_by_role("button", name="Edit", exact=True).first.click()
        box = tab.page.get_by_role("textbox", name="Edited question")
        box.fill("In other words")
        tab.press("Ask")
        expect(tab.page.locator("#edit-refused")).to_contain_text("The database is busy")
        expect(box).to_have_value("In other words")
    upstream.plays(Write("Therefore."))
    tab.press("Ask")
    tab.expect_text("Therefore.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_without_scripts_the_text_comes_back_in_a_field_and_can_be_sent_again(
    enter, locked, scheme, tmp_path
):
    tab = enter(java_script_enabled=False, color_scheme=scheme, viewport={"width": 390, "height": 800}).open()
    tab.forgive("503")
    with locked():
        tab.composer.fill(WORDS)
        tab.press("Send")
        again = tab.page.get_by_role("button", name="Send again")
        expect(tab.page.get_by_role("textbox", name="What you wrote")).to_have_value(WORDS)
        tab.page.screenshot(path=tmp_path / "unavailable.png")
    again.click()
    expect(tab.questions).to_contain_text(WORDS)
