"""A review in two browsers: submitted, taken, read, noted, answered, judged, forked, gone on with, and withdrawn while it is open."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.looks import on_both
from tests.browser.sharing.test_sharing import answered, goes_on_with_another_model
from tests.browser.steered import Think, Write
from tests.browser.tab import Tab
from tests.browser.thread.test_attacks import NOTHING_FOREIGN, TRAP
from tests.browser.words import RICH, THOUGHT
from tests.support.attacks import ATTACKS


@pytest.fixture
def bob(enter, place) -> Tab:
    tab = enter()
    place.clerk("reviews", name=tab.person)
    return tab


def submit(tab: Tab, question: str, scope: str = "This branch") -> None:
    """The last answer on the page."""
    tab.press("More on this answer", within=tab.answer)
    tab.press("Submit for review", within=tab.answer)
    dialog = tab.page.get_by_role("dialog", name="Submit for review")
    dialog.get_by_role("radio", name=re.compile(scope)).check()
    dialog.get_by_label("Your question to the reviewer").fill(question)
    dialog.get_by_role("button", name="Submit", exact=True).click()
    tab.page.wait_for_url("**/review/**")


def mine(tab: Tab, question: str):
    """The row of the queue; other tests fill it too."""
    return tab.page.get_by_role("row").filter(has_text=question)


def mark(tab: Tab, name: str):
    return tab.page.locator(".where").get_by_role("link", name=re.compile(name))


def test_a_review_from_the_question_to_the_verdict_and_on(enter, bob, upstream):
    alice = enter().open()
    name = f"Is {alice.person} right?"
    answered(alice, upstream, "What first?", Think(THOUGHT), Write("The first answer."))
    upstream.plays(Think(THOUGHT * 2), Write("The second answer."))
    alice.press("Ask again", within=alice.answer)
    expect(alice.text).to_have_text("The second answer.")
    alice.expect_status("complete")
    conversation = alice.page.url
    submit(alice, name, "The whole tree")
    expect(alice.page.get_by_text("waits for a reviewer")).to_be_visible()
    review = alice.page.url

    bob.open("review/")
    row = mine(bob, name)
    expect(row).to_contain_text("2 branches")
    row.get_by_role("button", name=re.compile("^Take")).click()
    bob.page.wait_for_url(review)
    expect(bob.page.get_by_text(name)).to_be_visible()
    expect(bob.text).to_have_text("The second answer.")
    bob.thought.click()
    expect(bob.page.get_by_text("First one side, then the other.").first).to_be_visible()
    bob.press("Previous branch", within=bob.answer)
    expect(bob.text).to_have_text("The first answer.")
    expect(bob.answer.get_by_role("group", name="Branches")).to_contain_text("1 / 2")
    bob.answer.locator("details.timeline > summary").click()
    expect(bob.answer.locator("table.waterfall")).to_be_visible()
    bob.answer.get_by_text("What was sent").click()

    beside = bob.page.locator(f"#n-m-{bob.message_id()}")
    beside.locator("summary").filter(has_text="Note").click()
    beside.get_by_label("Your note").fill("Where does this come from?")
    beside.get_by_role("button", name="Add note").click()
    expect(bob.text).to_have_text("The first answer.")
    expect(bob.page.get_by_text("Where does this come from?")).to_be_visible()

    # Told while she looks at another branch, without a reload.
    expect(mark(alice, "Your reviews")).to_contain_text("1 new")
    mark(alice, "Your reviews").click()
    alice.page.get_by_role("row").filter(has_text="new").get_by_role("link").click()
    expect(alice.text).to_have_text("The second answer.")
    alice.press("Previous branch", within=alice.answer)
    note = alice.page.locator(".note").filter(has_text="Where does this come from?")
    note.locator("summary").filter(has_text="Answer").click()
    note.get_by_label("Your answer").fill("From the manual.")
    note.get_by_role("button", name="Send answer").click()
    expect(alice.page.get_by_text("From the manual.")).to_be_visible()
    expect(mark(alice, "Your reviews")).not_to_contain_text("new")

    bob.reload()
    expect(bob.page.get_by_text("From the manual.")).to_be_visible()
    verdict = bob.page.get_by_role("region", name="Verdict")
    verdict.get_by_text("Needs work").click()
    verdict.get_by_label("In words").fill("Say where it comes from.")
    verdict.get_by_role("button", name="Give verdict").click()
    expect(bob.page.get_by_text("needs work", exact=True)).to_be_visible()

    expect(alice.page.get_by_text("needs work", exact=True)).to_be_visible()
    expect(mark(alice, "Your reviews")).not_to_contain_text("new")
    alice.page.goto(conversation)
    expect(alice.page.get_by_text("needs work")).to_be_visible()
    alice.page.get_by_role("link", name="Submitted for review").click()
    expect(alice.page.get_by_text("Say where it comes from.")).to_be_visible()

    bob.press("Fork", within=bob.answer)
    bob.page.wait_for_url("**/c/**")
    goes_on_with_another_model(bob, "Forked from")

    alice.page.goto(conversation)
    expect(alice.messages).to_have_count(2)
    alice.page.get_by_text("Forked once").click()
    expect(alice.page.get_by_text(f"by {bob.person}, who reviews it")).to_be_visible()


def taken(alice: Tab, bob: Tab, upstream, says: str) -> str:
    """What she submitted is on his page; by what it is called."""
    name = f"Is {alice.person} right?"
    answered(alice, upstream, "What first?", Write(says))
    submit(alice, name)
    bob.open("review/")
    mine(bob, name).get_by_role("button", name=re.compile("^Take")).click()
    return name


def test_what_is_withdrawn_goes_from_the_page_that_is_open(enter, bob, upstream):
    alice = enter().open()
    name = taken(alice, bob, upstream, "Only for a while.")
    expect(bob.page.get_by_text("Only for a while.")).to_be_visible()
    bob.forgive("404")
    alice.press("Withdraw")
    expect(alice.page.get_by_role("heading", name="What you submitted")).to_be_visible()
    expect(bob.page.get_by_text("Nothing here")).to_be_visible()
    assert "Only for a while." not in bob.page.content()
    bob.open("review/")
    expect(mine(bob, name)).to_have_count(0)


def test_whoever_is_signed_out_meanwhile_does_not_go_on_reading(enter, bob, upstream):
    alice = enter().open()
    name = f"Is {alice.person} right?"
    answered(alice, upstream, "What first?", Write("For reviewers alone."))
    submit(alice, name)
    bob.open("review/")
    mine(bob, name).get_by_role("button", name=re.compile("^Take")).click()
    expect(bob.page.get_by_text("For reviewers alone.")).to_be_visible()
    bob.context.clear_cookies(name="sessionid")
    # Nobody has a password in this house, so that the way in is the first account's.
    bob.page.wait_for_url("**/accounts/signup/?next=/review/**")
    expect(bob.page.get_by_text("For reviewers alone.")).to_have_count(0)


def test_a_note_that_is_being_written_survives_a_reload_until_it_is_sent(enter, bob, upstream):
    alice = enter().open()
    name = f"Is {alice.person} right?"
    answered(alice, upstream, "What first?", Write("The answer."))
    submit(alice, name)
    bob.open("review/")
    mine(bob, name).get_by_role("button", name=re.compile("^Take")).click()
    beside = bob.page.locator(f"#n-m-{bob.message_id()}")
    beside.locator("summary").filter(has_text="Note").click()
    beside.get_by_label("Your note").fill("Thought about for an hour.")
    bob.page.get_by_label("In words").fill("Nearly.")
    bob.reload()
    expect(beside.get_by_label("Your note")).to_be_visible()
    expect(beside.get_by_label("Your note")).to_have_value("Thought about for an hour.")
    expect(bob.page.get_by_label("In words")).to_have_value("Nearly.")
    beside.get_by_role("button", name="Add note").click()
    expect(beside.get_by_text("Thought about for an hour.")).to_be_visible()
    expect(beside.get_by_label("Your note")).to_have_value("")
    expect(bob.page.get_by_label("In words")).to_have_value("Nearly.")


def test_a_queue_without_anything_to_do_has_nothing_to_scroll(enter, bob, upstream):
    name = taken(enter().open(), bob, upstream, "The answer.")
    bob.page.get_by_text("Approve").click()
    bob.press("Give verdict")
    bob.open("review/?show=done")
    expect(mine(bob, name)).to_be_visible()
    queue = bob.page.get_by_role("group", name="Queue")
    assert queue.evaluate("(it) => it.scrollWidth <= it.clientWidth")


def test_all_of_it_works_without_scripts(enter, bob, upstream):
    alice = enter().open()
    name = f"Is {alice.person} right?"
    answered(alice, upstream, "What first?", Think(THOUGHT), Write("The answer."))

    def plain(tab: Tab) -> Tab:
        made = Tab(tab.context.browser.new_context(java_script_enabled=False), tab.url)
        made.context.add_cookies(tab.context.cookies())
        return made

    she, he = plain(alice), plain(bob)
    she.page.goto(f"{alice.url}m/{alice.message_id()}/submit/")
    she.page.get_by_label("Your question to the reviewer").fill(name)
    she.press("Submit")
    he.open("review/")
    mine(he, name).get_by_role("button", name=re.compile("^Take")).click()
    he.page.locator("summary").filter(has_text="Note").last.click()
    he.page.get_by_label("Your note").last.fill("Hm.")
    he.page.get_by_role("button", name="Add note").last.click()
    he.page.get_by_text("Approve").click()
    he.press("Give verdict")
    expect(he.page.get_by_text("approved", exact=True)).to_be_visible()
    she.reload()
    expect(she.page.get_by_text("approved", exact=True)).to_be_visible()
    expect(she.page.get_by_text("Hm.", exact=True)).to_be_visible()
    she.press("Withdraw")
    assert he.page.reload().status == 404
    for tab in (she, he):
        tab.context.close()


@on_both
def test_nothing_keeps_anybody_out(enter, place, upstream, look):
    alice, bob = enter(**look).open(), enter(**look)
    place.clerk("reviews", name=bob.person)
    name = f"Is {alice.person} right?"
    answered(alice, upstream, "Why?", Think(THOUGHT), Write(RICH))
    alice.press("More on this answer", within=alice.answer)
    alice.press("Submit for review", within=alice.answer)
    expect(alice.page.get_by_role("dialog", name="Submit for review")).to_be_visible()
    assert alice.grave() == []
    alice.page.get_by_role("dialog").get_by_role("button", name="Close").click()
    submit(alice, name)
    bob.open("review/")
    bob_row = mine(bob, name)
    assert bob.grave() == []
    bob_row.get_by_role("button", name=re.compile("^Take")).click()
    bob.page.wait_for_url("**/review/*-*/")
    summary = bob.page.locator("summary").filter(has_text="Note")
    summary.first.click()
    bob.page.get_by_label("Your note").first.fill("Hm.")
    bob.page.get_by_role("button", name="Add note").first.click()
    expect(bob.page.get_by_text("Hm.", exact=True)).to_be_visible()
    where = bob.page.url
    for tab, path in (
        (bob, where),
        (alice, where),
        (alice, alice.url + "reviews/"),
        (bob, bob.url + "review/"),
    ):
        tab.page.goto(path)
        tab.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        assert tab.grave() == []
        assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


@pytest.mark.parametrize("bypass", [False, True], ids=["csp", "no csp"])
def test_nothing_that_is_submitted_or_noted_runs(enter, place, bypass):
    alice, bob = enter(), enter(bypass_csp=bypass)
    place.clerk("reviews", name=bob.person)
    review = place.clerk("reviewed", owner=alice.person, reviewer=bob.person, attacks=ATTACKS)
    bob.forgive("Content Security Policy", "ERR_", "MIME", "Refused")
    bob.context.add_init_script(TRAP)
    for path in (f"review/{review}/", "review/"):
        bob.open(path)
        bob.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        bob.next_frames(3)
        assert bob.page.evaluate("window.ran") == 0
        places = NOTHING_FOREIGN.replace("#messages", "#main").replace(
            "'[data-kind],", "'.asked, .note, .queue, [data-kind],"
        )
        assert bob.page.evaluate(places) == []
