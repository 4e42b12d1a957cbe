"""A branch handed on: shared, read in a private window, forked, gone on with, and taken back while it is open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.looks import on_both
from tests.browser.steered import Think, Write
from tests.browser.tab import Tab
from tests.browser.thread.test_attacks import NOTHING_FOREIGN, TRAP
from tests.browser.words import RICH, THOUGHT
from tests.support.attacks import ATTACKS

PASSWORD = "a long enough password"
# The page's own clock, so that nobody waits for it.
SOONER = "const set = setInterval; window.setInterval = (work, ms) => set(work, ms === 5000 ? 100 : ms)"


def answered(tab: Tab, upstream, question: str, *steps) -> None:
    upstream.plays(*steps)
    before = tab.questions.count()
    tab.page.wait_for_load_state()
    tab.composer.fill(question)
    tab.press("Send")
    expect(tab.questions).to_have_count(before + 1)
    tab.expect_status("complete")


def shared_by(tab: Tab, **choices: bool) -> str:
    """The link to the last answer on the page."""
    tab.press("Share", within=tab.answer)
    dialog = tab.page.get_by_role("dialog", name="Share this branch")
    for name, wanted in choices.items():
        switch = dialog.get_by_role("switch", name=re.compile(f"With {name}"))
        if switch.is_checked() is not wanted:
            switch.click()
    dialog.get_by_role("button", name="Create link").click()
    link: str = dialog.get_by_label("Link", exact=True).input_value()
    return link


def close(tab: Tab) -> None:
    tab.page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(tab.page.get_by_role("dialog")).to_have_count(0)


def goes_on_with_another_model(tab: Tab, source: str) -> None:
    """On the page of a fork that was just made."""
    expect(tab.composer).to_be_focused()
    expect(tab.page.get_by_text(source)).to_be_attached()
    expect(tab.messages).to_have_count(2)
    tab.page.get_by_label("Model", exact=True).select_option("demo:thinker")
    tab.ask("And what do you think?")
    expect(tab.answers).to_have_count(2)
    tab.expect_status("complete")
    expect(tab.answer).to_contain_text("Demo")


@pytest.fixture
def window(browser, place) -> Iterator:
    """A private one: nobody is signed in there."""
    tabs: list[Tab] = []

    def window(**look) -> Tab:
        tabs.append(Tab(browser.new_context(**look), place.url))
        return tabs[-1]

    yield window
    wrong = [words for tab in tabs for words in tab.wrong]
    for tab in tabs:
        tab.context.close()
    assert wrong == []


def path(link: str) -> str:
    return urlsplit(link).path


def test_shared_read_without_an_account_signed_in_forked_and_gone_on_with(enter, window, upstream):
    alice = enter().open()
    answered(alice, upstream, "What is shared?", Think(THOUGHT * 3), Write(RICH))
    link = shared_by(alice)
    close(alice)
    answered(alice, upstream, "What comes later?", Write("Something later."))
    before = alice.normal(alice.page.locator("#messages"))

    bob = window()
    bob.page.goto(link)
    expect(bob.page.get_by_role("heading", name="What is shared?", level=1)).to_be_visible()
    expect(bob.messages).to_have_count(2)
    expect(bob.page.get_by_role("textbox")).to_have_count(0)
    bob.thought.click()
    expect(bob.page.get_by_text("First one side, then the other.").first).to_be_visible()
    assert "later" not in bob.page.content()

    bob.page.get_by_role("link", name="Sign in to fork").click()
    # Nobody has a password in this house, so that the way in is the first account's.
    bob.page.get_by_label("Username").fill(f"bob-of-{alice.person}")
    for field in bob.page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    bob.press("Create account")
    expect(bob.page).to_have_url(link)

    bob.page.get_by_role("navigation", name="This branch").get_by_role("button", name="Fork").click()
    bob.page.wait_for_url("**/c/**")
    goes_on_with_another_model(bob, "Forked from “What is shared?” by")

    alice.reload()
    assert alice.normal(alice.page.locator("#messages")) == before
    assert "What do you think" not in alice.page.content()
    expect(alice.page.get_by_text("Forked once")).to_be_attached()
    expect(alice.page.locator(".titles li")).to_have_count(1)


def test_a_page_that_is_open_closes_when_its_link_is_taken_back(enter, window, upstream):
    alice = enter().open()
    answered(alice, upstream, "What is shared?", Write("This is shared."))
    link = shared_by(alice)
    bob = window()
    bob.forgive("404")
    bob.context.add_init_script(SOONER)
    bob.page.goto(link)
    expect(bob.page.get_by_text("This is shared.")).to_be_visible()

    alice.page.get_by_role("button", name=re.compile("^Revoke the link")).click()
    expect(alice.page.get_by_text("Revoked.")).to_be_focused()
    expect(alice.page.get_by_role("button", name="Copy link")).to_have_count(0)
    expect(bob.page.get_by_role("heading", name="This link opens nothing")).to_be_visible()
    assert "This is shared." not in bob.page.content()


def test_a_fork_stays_when_the_link_that_it_came_from_is_taken_back(enter, upstream):
    alice, bob = enter().open(), enter()
    answered(alice, upstream, "What is shared?", Think(THOUGHT), Write("This is shared."))
    link = shared_by(alice)
    bob.context.add_init_script(SOONER)
    bob.open(path(link))
    bob.press("Fork", within=bob.page.get_by_role("navigation", name="This branch"))
    bob.page.wait_for_url("**/c/**")
    reader = enter(bob)
    reader.forgive("404")
    reader.open(path(link))

    alice.page.get_by_role("button", name=re.compile("^Revoke the link")).click()
    expect(reader.page.get_by_role("heading", name="This link opens nothing")).to_be_visible()
    bob.reload()
    expect(bob.text).to_have_text("This is shared.")
    upstream.plays(Write("It goes on."))
    bob.page.get_by_label("Effort").select_option("high")
    bob.ask("And now?")
    bob.expect_status("complete")
    expect(bob.answer).to_contain_text("It goes on.")


def test_a_reader_forks_up_to_the_message_where_they_stand(enter, upstream):
    alice, bob = enter().open(), enter()
    answered(alice, upstream, "One?", Write("To one."))
    answered(alice, upstream, "Two?", Write("To two."))
    link = shared_by(alice)
    bob.open(path(link))
    expect(bob.messages).to_have_count(4)
    bob.press("Fork", within=bob.answers.first)
    bob.page.wait_for_url("**/c/**")
    expect(bob.messages).to_have_count(2)
    expect(bob.text).to_have_text("To one.")


def test_an_owner_forks_with_the_side_branches_and_stands_in_the_composer(enter, upstream):
    tab = enter().open()
    answered(tab, upstream, "One?", Write("To one."))
    upstream.plays(Write("To one, again."))
    tab.press("Ask again", within=tab.answer)
    expect(tab.text).to_have_text("To one, again.")
    tab.expect_status("complete")
    source = tab.conversation
    tab.press("Fork", within=tab.answer)
    dialog = tab.page.get_by_role("dialog", name="Fork from here")
    dialog.get_by_role("radio", name=re.compile("With its side branches")).check()
    dialog.get_by_role("button", name="Fork").dblclick()
    tab.page.wait_for_url(lambda url: source not in url)
    expect(tab.composer).to_be_focused()
    expect(tab.page.get_by_role("group", name="Branches")).to_contain_text("2 / 2")
    expect(tab.page.locator(".titles li")).to_have_count(2)
    answered(tab, upstream, "And now?", Write("Now this."))
    tab.page.get_by_role("link", name="One?", exact=True).first.click()
    tab.page.wait_for_url(f"**/c/{source}/**")
    expect(tab.page.locator("article").get_by_text("And now?")).to_have_count(0)


def test_a_link_without_thoughts_shows_their_times_alone(enter, window, upstream):
    alice = enter().open()
    answered(alice, upstream, "Why?", Think(THOUGHT), Write("Because."))
    link = shared_by(alice, thoughts=False)
    alice.page.get_by_role("button", name="Copy link").click()
    bob = window()
    bob.page.goto(link)
    expect(bob.thought).to_have_text(re.compile("^Thought for"))
    bob.thought.click()
    expect(bob.page.get_by_text("The words of this thought were not shared.")).to_be_visible()
    assert "Weighing it" not in bob.page.content()


def test_a_shared_page_needs_no_scripts(enter, window, upstream):
    alice = enter().open()
    answered(alice, upstream, "Why?", Think(THOUGHT), Write(RICH))
    link = shared_by(alice)
    bob = window(java_script_enabled=False)
    bob.page.goto(link)
    bob.thought.click()
    expect(bob.page.get_by_text("First one side, then the other.").first).to_be_visible()
    expect(bob.page.get_by_role("link", name="Sign in to fork")).to_be_visible()


def test_without_scripts_a_link_is_made_and_taken_back_and_a_fork_is_made(enter, upstream):
    alice = enter().open()
    answered(alice, upstream, "Why?", Write("Because."))
    plain = Tab(alice.context.browser.new_context(java_script_enabled=False), alice.url)
    plain.context.add_cookies(alice.context.cookies())
    plain.page.goto(alice.page.url)
    plain.press("Share", within=plain.answer)
    plain.press("Create link")
    link = plain.page.get_by_label("Link", exact=True).input_value()
    plain.page.get_by_role("button", name=re.compile("^Revoke the link")).click()
    assert plain.page.goto(link).status == 404
    plain.page.goto(alice.page.url)
    plain.press("Fork", within=plain.answer)
    plain.press("Fork")
    expect(plain.page.get_by_text("Forked from")).to_be_visible()
    plain.context.close()


@on_both
def test_nothing_keeps_anybody_out(enter, window, upstream, look):
    alice = enter(**look).open()
    answered(alice, upstream, "Why?", Think(THOUGHT), Write(RICH))
    alice.press("Fork", within=alice.answer)
    expect(alice.page.get_by_role("dialog", name="Fork from here")).to_be_visible()
    assert alice.grave() == []
    close(alice)
    link = shared_by(alice)
    assert alice.grave() == []
    bob = window(**look)
    bob.forgive("404")
    for tab, where in (
        (bob, path(link)),
        (bob, path(link)[:-2] + "/"),
        (alice, path(link)),
        (alice, "shares/"),
    ):
        tab.open(where)
        assert tab.grave() == []
        assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("bypass", [False, True], ids=["csp", "no csp"])
def test_nothing_that_is_shared_runs(enter, window, place, bypass):
    alice = enter()
    conversation = place.clerk("items_of", owner=alice.person, attacks=ATTACKS)
    alice.forgive("Content Security Policy", "ERR_", "MIME", "Refused")
    alice.open(f"c/{conversation}/")
    link = shared_by(alice)
    bob = window(bypass_csp=bypass)
    bob.forgive("Content Security Policy", "ERR_", "MIME", "Refused")
    bob.context.add_init_script(TRAP)
    asked: list[str] = []
    bob.page.on("request", lambda request: asked.append(request.url))
    bob.page.goto(link)
    bob.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    bob.next_frames(3)
    assert bob.page.evaluate("window.ran") == 0
    assert bob.page.evaluate(NOTHING_FOREIGN.replace("#messages", "#branch")) == []
    assert [url for url in asked if not urlsplit(url).path.startswith(("/s/", "/static/"))] == []
