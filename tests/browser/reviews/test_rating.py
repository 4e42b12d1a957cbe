"""Labels in browsers: written by an administrator, asked for, filled in by two who do not see each other, and read by all three. And a
suggested answer, from the fork to the branch."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.looks import on_both
from tests.browser.reviews.test_reviewing import bob as bob
from tests.browser.reviews.test_reviewing import mine, submit, taken
from tests.browser.sharing.test_sharing import answered
from tests.browser.steered import Think, Write
from tests.browser.tab import Tab
from tests.browser.words import THOUGHT


@pytest.fixture
def labels(place) -> str:
    """The name of a set with a label of each kind."""
    return place.clerk("labels", name="First look")


def asks_for(tab: Tab, name: str, labels: str) -> None:
    tab.press("More on this answer", within=tab.answer)
    tab.press("Submit for review", within=tab.answer)
    dialog = tab.page.get_by_role("dialog", name="Submit for review")
    dialog.get_by_label("Your question to the reviewer").fill(name)
    dialog.get_by_label("Have it rated").select_option(f"{labels}: 4 labels, 2 reviewers")
    dialog.get_by_role("button", name="Submit", exact=True).click()
    tab.page.wait_for_url("**/review/**")


def take(tab: Tab, name: str) -> None:
    tab.open("review/")
    mine(tab, name).get_by_role("button", name=re.compile("^Take")).click()
    tab.page.wait_for_url("**/review/*-*/")


def fill(tab: Tab, clear: str) -> None:
    page = tab.page
    page.get_by_role("group", name="Is it right?").get_by_text("Yes").click()
    page.get_by_role("group", name="How clear is it?").get_by_text(clear, exact=True).click()
    page.get_by_role("group", name="This thought").get_by_text("leads on").click()
    expect(page.locator("#brief")).to_contain_text("3 of 3 filled in")


@pytest.fixture
def erin(enter, place) -> Tab:
    tab = enter()
    place.clerk("reviews", name=tab.person)
    return tab


def test_two_rate_the_same_without_knowing_of_each_other(enter, bob, erin, labels, upstream):
    alice = enter().open()
    name = f"Is {alice.person} right?"
    answered(alice, upstream, "What first?", Think(THOUGHT), Write("The answer."))
    asks_for(alice, name, labels)
    expect(alice.page.locator("#brief")).to_contain_text("0 of 2 handed in")
    for tab in (bob, erin):
        take(tab, name)
    label = bob.answer.locator(".items .mark")
    expect(label).to_contain_text("misleads")
    fill(bob, "4")
    bob.page.get_by_label("In words").fill("canary-of-bob")
    bob.reload()
    expect(bob.page.get_by_role("radio", name="4", exact=True)).to_be_checked()
    expect(bob.page.get_by_label("In words")).to_have_value("canary-of-bob")
    bob.press("Hand in")
    expect(bob.page.get_by_role("region", name="Handed in")).to_contain_text("1 of 2 have")
    for tab in (alice, erin):
        tab.reload()
        assert "canary-of-bob" not in tab.page.content()
    fill(erin, "2")
    erin.press("Hand in")
    for tab in (alice, bob, erin):
        expect(tab.page.locator("#brief")).to_contain_text("Rated.")
        expect(tab.page.get_by_text("canary-of-bob")).to_be_visible()
    expect(bob.page.get_by_role("heading", name=re.compile("How well reviewers agree"))).to_be_visible()
    expect(bob.page.get_by_role("row", name=re.compile("How clear is it"))).to_contain_text("ordinal")


def test_labels_are_filled_in_by_keys_alone(enter, bob, erin, labels, upstream):
    alice = enter().open()
    name = f"Is {alice.person} right?"
    answered(alice, upstream, "What first?", Think(THOUGHT), Write("The answer."))
    asks_for(alice, name, labels)
    take(bob, name)
    keys, focused = bob.page.keyboard, bob.page.locator(":focus")
    bob.page.locator("body").press("j")
    keys.press("j")
    expect(bob.answer).to_be_focused()
    for _ in range(40):
        keys.press("Tab")
        if focused.get_attribute("type") == "radio":
            keys.press("Space")
        if focused.inner_text() == "Hand in":
            break
    expect(bob.page.locator("#brief")).to_contain_text("3 of 3 filled in")
    bob.page.get_by_role("button", name="Hand in").focus()
    keys.press("Enter")
    expect(bob.page.get_by_role("region", name="Handed in")).to_be_visible()


def test_a_better_answer_goes_from_the_fork_to_a_branch(enter, bob, upstream):
    alice = enter().open()
    name = taken(alice, bob, upstream, "Her answer.")
    review = bob.page.url
    conversation = alice.page.get_by_role("link", name="In the conversation").first.get_attribute("href")
    bob.page.locator("article[data-role=user]").get_by_role("button", name="Fork").click()
    bob.page.wait_for_url("**/c/**")
    upstream.plays(Think(THOUGHT), Write("A better answer."))
    bob.press("Ask again", within=bob.page.locator("article").last)
    expect(bob.text).to_have_text("A better answer.")
    bob.expect_status("complete")
    bob.page.goto(review)
    bob.page.get_by_text("Forked once").click()
    bob.page.get_by_role("link", name="Suggest an answer from your fork").click()
    bob.page.get_by_label("Why it is better").fill("It says why.")
    assert bob.grave() == []
    bob.press("Suggest it")
    expect(bob.page.get_by_text("offered")).to_be_visible()

    alice.page.get_by_role("link", name="Look at it").click()
    for words in ("It says why.", "Her answer.", "A better answer."):
        expect(alice.page.get_by_text(words).first).to_be_visible()
    assert alice.grave() == []
    alice.press("Take it as a branch")
    expect(alice.text).to_have_text("A better answer.")
    expect(alice.answer).to_contain_text(f"suggested by {bob.person}")
    assert alice.page.url.startswith(alice.url.rstrip("/") + conversation.split("?")[0]), name


@on_both
def test_nothing_keeps_anybody_out_of_labels(enter, place, labels, upstream, look):
    alice, bob, dana = (enter(**look) for _ in range(3))
    place.clerk("reviews", name=bob.person)
    place.clerk("promote", name=dana.person)
    alice.open()
    name = f"Is {alice.person} right?"
    answered(alice, upstream, "Why?", Think(THOUGHT), Write("So."))
    asks_for(alice, name, labels)
    take(bob, name)
    where = bob.page.url
    for tab, path in (
        (bob, where),
        (alice, where),
        (bob, where + "map/"),
        (bob, where + "suggest/"),
        (dana, dana.url + "review/"),
        (dana, dana.url + "review/labels/"),
    ):
        tab.page.goto(path)
        assert tab.grave() == [], path
        assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_an_administrator_writes_labels_and_assigns_what_waits(enter, place, bob, upstream):
    alice, dana = enter().open(), enter()
    place.clerk("promote", name=dana.person)
    dana.open("review/labels/")
    set_name = f"Look of {dana.person}"
    dana.page.get_by_label("Name").fill(set_name)
    first = dana.page.get_by_role("group", name="Label 1", exact=True)
    first.get_by_label("Question").fill("Is it safe?")
    first.get_by_label("Scale").select_option("One of several")
    first.get_by_label("Choices").fill("yes\nno\nmaybe")
    dana.press("Keep these labels")
    expect(dana.page.get_by_role("region", name=set_name)).to_contain_text("one of 3")
    name = f"Is {alice.person} right?"
    answered(alice, upstream, "What first?", Write("The answer."))
    submit(alice, name)
    dana.open("review/")
    row = dana.page.get_by_role("row").filter(has_text=alice.person)
    row.get_by_role("checkbox").check()
    dana.page.get_by_label("Assign what is chosen to").select_option(bob.person)
    dana.page.locator("#some").get_by_role("button", name="Assign").click()
    expect(dana.page.get_by_text("1 assigned.")).to_be_visible()
    bob.open("review/")
    expect(mine(bob, name)).to_contain_text("assigned to you")
