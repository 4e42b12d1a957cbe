"""Notes are never lost: where the cursor is, which letters are keys, what a reload and a failure leave, what comes by itself, and words
that are marked."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.looks import on_both
from tests.browser.reviews.test_reviewing import bob as bob
from tests.browser.reviews.test_reviewing import mine, submit, taken
from tests.browser.steered import Think, Write
from tests.browser.tab import Tab
from tests.browser.words import THOUGHT

SAID = "Take the long way round.\n\nThen take the short way back."


@pytest.fixture
def alice(enter) -> Tab:
    return enter().open()


@pytest.fixture
def review(alice, bob, upstream) -> str:
    """Its address; bob looks at it."""
    upstream.plays(Think(THOUGHT), Write(SAID))
    alice.ask("What first?")
    alice.expect_status("complete")
    name = f"Is {alice.person} right?"
    submit(alice, name)
    bob.open("review/")
    mine(bob, name).get_by_role("button", name=re.compile("^Take")).click()
    bob.page.wait_for_url("**/review/*-*/")
    return bob.page.url


def beside(tab: Tab):
    return tab.page.locator(f"#n-m-{tab.message_id()}")


def select(tab: Tab, words: str) -> None:
    """As somebody does who draws the mouse over them."""
    tab.page.evaluate(
        """([body, words]) => {
            const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const begins = walker.currentNode.data.indexOf(words);
                if (begins < 0) continue;
                getSelection().setBaseAndExtent(walker.currentNode, begins, walker.currentNode, begins + words.length);
                return;
            }
            throw new Error(`nowhere: ${words}`);
        }""",
        [tab.text.element_handle(), words],
    )


def test_opening_a_note_puts_the_cursor_into_it_and_letters_are_letters(bob, review):
    bob.page.keyboard.press("k")
    expect(bob.answer).to_be_focused()
    bob.page.keyboard.press("n")
    box = beside(bob).get_by_label("Your note")
    expect(box).to_be_focused()
    bob.page.keyboard.type("njkhlmrctv?/,.p")
    expect(box).to_have_value("njkhlmrctv?/,.p")
    assert bob.page.url == review
    bob.page.keyboard.press("Escape")
    expect(box).not_to_be_visible()
    beside(bob).locator("summary").filter(has_text="Note").click()
    bob.page.keyboard.type(" and more")
    expect(box).to_have_value("njkhlmrctv?/,.p and more")


def test_the_focus_stays_after_saving(bob, review):
    beside(bob).locator("summary").filter(has_text="Note").click()
    bob.page.keyboard.type("The first.")
    bob.page.keyboard.press("Control+Enter")
    expect(beside(bob).get_by_text("The first.")).to_be_visible()
    box = beside(bob).get_by_label("Your note")
    expect(box).to_be_focused()
    expect(box).to_have_value("")
    bob.page.keyboard.type("no letter is a key")
    beside(bob).get_by_role("button", name="Add note").click()
    bob.page.keyboard.type("n")
    expect(beside(bob).get_by_text("no letter is a key")).to_be_visible()
    assert bob.page.url == review
    bob.reload()
    expect(beside(bob).locator(".said-so")).to_have_count(2)


def test_what_cannot_be_saved_stays_where_it_was_written(bob, review, proxy):
    bob.forgive("ERR_", "htmx:", "Failed to load", "WebSocket")
    summary = beside(bob).locator("summary").filter(has_text="Note")
    summary.click()
    box = beside(bob).get_by_label("Your note")
    box.fill("An hour of thought.")
    bob.context.set_offline(True)
    beside(bob).get_by_role("button", name="Add note").click()
    expect(beside(bob).get_by_role("alert")).to_contain_text("cannot be reached")
    expect(box).to_have_value("An hour of thought.")
    bob.context.set_offline(False)
    bob.reload()
    expect(box).to_have_value("An hour of thought.")
    beside(bob).get_by_role("button", name="Add note").click()
    expect(beside(bob).get_by_text("An hour of thought.")).to_be_visible()
    bob.reload()
    expect(beside(bob).locator("textarea[aria-label='Your note']")).to_have_value("")


def test_what_others_say_appears_by_itself_and_takes_nothing_away(alice, bob, review):
    beside(bob).locator("summary").filter(has_text="Note").click()
    bob.page.keyboard.type("Why round?")
    bob.page.keyboard.press("Control+Enter")
    note = alice.page.locator(".note").filter(has_text="Why round?")
    expect(note).to_contain_text("came just now")
    bob.page.keyboard.type("Half of the next")
    note.locator("summary").filter(has_text="Answer").click()
    alice.page.keyboard.type("Because it is nicer.")
    alice.page.keyboard.press("Control+Enter")
    his = bob.page.locator(".note").filter(has_text="Why round?")
    expect(his).to_contain_text("Because it is nicer.")
    expect(his.get_by_text("came just now")).to_have_count(1)
    box = beside(bob).get_by_label("Your note")
    expect(box).to_have_value("Half of the next")
    expect(box).to_be_focused()
    bob.page.get_by_text("Needs work").click()
    bob.page.get_by_label("In words").fill("Say why.")
    bob.press("Give verdict")
    expect(bob.page.get_by_text("needs work", exact=True)).to_be_visible()
    expect(alice.page.get_by_role("region", name="Verdict")).to_contain_text("Say why.")
    expect(box).to_have_value("Half of the next")


def test_a_note_on_words_keeps_their_place_and_shows_it(alice, bob, review):
    select(bob, "the short way")
    bob.page.get_by_role("toolbar", name="The words that are selected").get_by_role(
        "button", name="Note"
    ).click()
    box = bob.page.get_by_label("Your note on these words")
    expect(box).to_be_focused()
    expect(bob.text.locator("mark")).to_have_text("the short waya")
    bob.page.keyboard.type("Is it open?")
    bob.reload()
    expect(box).to_have_value("Is it open?")
    expect(bob.text.locator("mark[data-new]")).to_have_text("the short waya")
    box.focus()
    bob.page.keyboard.press("Control+Enter")
    expect(box).to_have_count(0)
    note = beside(bob).locator(".note")
    expect(note).to_contain_text("Is it open?")
    expect(note.locator("q")).to_have_text("the short way")
    expect(note).to_be_focused()
    expect(alice.text.locator("mark")).to_have_text("the short waya")
    for tab in (alice, bob):
        tab.reload()
        expect(tab.text.locator("mark")).to_have_text("the short waya")
        tab.text.locator("mark a").click()
        assert tab.page.url.endswith(note.get_attribute("id"))
    assert bob.page.evaluate("Object.keys(localStorage).filter((key) => key.includes('passage'))") == []


def test_a_note_that_is_discarded_leaves_no_mark(bob, review):
    before = bob.text.inner_html()
    select(bob, "long way")
    bob.page.keyboard.press("n")
    bob.page.keyboard.type("Hm")
    bob.press("Discard")
    expect(bob.page.locator("mark")).to_have_count(0)
    assert bob.text.inner_html() == before
    bob.reload()
    expect(bob.page.get_by_label("Your note on these words")).to_have_count(0)


def test_keys_lead_through_messages_notes_and_verdict(bob, review):
    """Without a mouse."""
    keys = bob.page.keyboard
    bob.page.locator("body").press("j")
    keys.press("j")
    expect(bob.answer).to_be_focused()
    keys.press("p")
    keys.press("p")
    keys.press("n")
    box = bob.page.get_by_label("Your note on these words")
    expect(box).to_be_focused()
    keys.type("Which one?")
    keys.press("Control+Enter")
    expect(box).to_have_count(0)
    words = beside(bob).locator(".note q")
    expect(words).to_have_text("Then take the short way back.")
    keys.press("k")
    keys.press("k")
    keys.press(".")
    expect(beside(bob).locator(".note")).to_be_focused()
    keys.press("n")
    keys.type("Said once more.")
    keys.press("Control+Enter")
    expect(beside(bob).locator(".note .said-so")).to_have_count(2)
    keys.press("Escape")
    keys.press("v")
    keys.press("Space")
    keys.press("Tab")
    keys.type("Fine.")
    keys.press("Control+Enter")
    expect(bob.page.get_by_text("approved", exact=True)).to_be_visible()


@on_both
def test_nothing_keeps_anybody_out_of_notes_on_words(enter, place, upstream, look):
    alice, bob = enter(**look).open(), enter(**look)
    place.clerk("reviews", name=bob.person)
    taken(alice, bob, upstream, SAID)
    bob.page.wait_for_url("**/review/*-*/")
    for words in ("the long way", "short"):
        select(bob, words)
        assert bob.grave() == []
        bob.page.get_by_role("toolbar").get_by_role("button", name="Note").click()
        bob.page.keyboard.type("Hm.")
        assert bob.grave() == []
        bob.press("Add note")
        expect(bob.page.get_by_label("Your note on these words")).to_have_count(0)
    expect(bob.text.locator("mark")).to_have_count(2)
    assert bob.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
