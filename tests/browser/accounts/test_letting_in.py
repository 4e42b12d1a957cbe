"""The owner of a server is let in by its code, lets in somebody else by a link, and is asked for the password again, all in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.served import Served, serving, with_tables
from tests.browser.tab import Tab

PASSWORD, ANOTHER = "a long enough password", "quite another password"
Come = Callable[..., Tab]


@pytest.fixture
def empty(tmp_path) -> Iterator[Served]:
    with serving(with_tables(tmp_path), {}) as served:
        yield served


@pytest.fixture
def come(browser, empty) -> Iterator[Come]:
    """Somebody's browser, in front of which there is a proxy."""
    tabs: list[Tab] = []

    def come(**look) -> Tab:
        headers = {"X-Forwarded-For": "192.0.2.1"}
        tabs.append(Tab(browser.new_context(extra_http_headers=headers, **look), empty.url))
        return tabs[-1]

    yield come
    for tab in tabs:
        tab.context.close()
    assert [words for tab in tabs for words in tab.wrong] == []


def type_and_enter(tab: Tab, *words: str) -> None:
    """Into the field that has the focus and those after it, by keyboard alone."""
    for word in words[:-1]:
        tab.page.keyboard.type(word)
        tab.page.keyboard.press("Tab")
    tab.page.keyboard.type(words[-1])
    tab.page.keyboard.press("Enter")


def test_from_the_code_to_somebody_who_was_let_in(come, empty):
    dana, bob = come(), come()
    dana.open()
    expect(dana.page.get_by_text("Nobody has an account here yet.")).to_be_visible()
    expect(dana.page.get_by_label("Code")).to_be_focused()
    assert dana.grave() == []
    # What axe tries on pages with styles that name others.
    dana.forgive("400", "Content Security Policy", "Couldn't load preload assets")
    type_and_enter(dana, "wrong", "dana", PASSWORD, PASSWORD)
    expect(dana.page.get_by_text("That is not the code.")).to_be_visible()
    assert dana.grave() == []
    dana.page.get_by_label("Code").focus()
    dana.page.keyboard.press("ControlOrMeta+a")
    dana.page.keyboard.type(empty.clerk("first_code").lower())
    dana.page.get_by_label("Password", exact=True).fill(PASSWORD)
    dana.page.get_by_label("Password confirmation").fill(PASSWORD)
    dana.page.keyboard.press("Enter")
    expect(dana.page.get_by_role("heading", name="Ready to think, dana.")).to_be_visible()

    dana.open("admin/auth/user/")
    dana.page.get_by_role("link", name="Add user").click()
    assert dana.grave() == []
    dana.page.get_by_label("Username").fill("d.ana")
    dana.press("Let in")
    expect(dana.page.get_by_text("looks like one that is taken")).to_be_visible()
    assert dana.grave() == []
    dana.page.get_by_label("Username").fill("bob")
    dana.press("Let in")
    link = dana.page.get_by_label("With this link bob chooses a password")
    expect(link).to_be_focused()
    assert dana.grave() == []

    bob.open(link.input_value().removeprefix(empty.url))
    expect(bob.page.get_by_text("Your username here is bob.")).to_be_visible()
    assert bob.grave() == []
    type_and_enter(bob, ANOTHER, ANOTHER)
    expect(bob.page.get_by_role("heading", name="Ready to think, bob.")).to_be_visible()
    bob.open("settings/")
    expect(bob.page.get_by_text("dana made a link for your password")).to_be_visible()
    assert bob.grave() == []
    bob.forgive("404")
    bob.open(link.input_value().removeprefix(empty.url))
    expect(bob.page.get_by_role("heading", name="This link does not work")).to_be_visible()
    assert bob.grave() == []

    dana.page.get_by_role("link", name="To the page of bob").click()
    dana.press("Make a link")
    dana.page.get_by_role("link", name="To the page of bob").click()
    assert dana.grave() == []
    dana.press("End the link")
    expect(dana.page.get_by_text("The link works no more.")).to_be_visible()


def test_what_was_typed_too_late_is_kept_and_done_after_the_password(come, empty):
    dana = come()
    dana.open("accounts/signup/")
    type_and_enter(dana, empty.clerk("first_code"), "dana", PASSWORD, PASSWORD)
    expect(dana.page.get_by_role("heading", name="Ready to think, dana.")).to_be_visible()
    dana.open("admin/chatapp/dailylimit/add/")
    dana.page.get_by_label("Turns").fill("77")
    empty.clerk("an_hour_passes")
    dana.forgive("403", "400")
    dana.press("Save")
    expect(dana.page.get_by_label("Password")).to_be_focused()
    expect(dana.page.get_by_text("What you just sent is kept")).to_be_visible()
    assert dana.grave() == []
    type_and_enter(dana, "wrong")
    expect(dana.page.get_by_text("That is not your password.")).to_be_visible()
    dana.page.get_by_label("Password").fill(PASSWORD)
    dana.page.keyboard.press("Enter")
    expect(dana.page.locator(".messagelist")).to_contain_text("was added successfully")
    empty.clerk("an_hour_passes")
    dana.open("insight/?days=7")
    expect(dana.page.get_by_role("heading", name="Your password again")).to_be_visible()
    assert dana.grave() == []
    type_and_enter(dana, PASSWORD)
    dana.page.wait_for_url("**/insight/?days=7")
