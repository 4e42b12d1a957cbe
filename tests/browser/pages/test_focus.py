"""The focus is never lost, and what is typed into a field is nothing but text."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.looks import PHONE
from tests.browser.reviews.test_reviewing import mine, submit
from tests.browser.sharing.test_sharing import answered
from tests.browser.steered import Think, Write
from tests.browser.tab import Tab

SOMEWHERE = "() => document.activeElement !== document.body"
LETTERS = "?/injkhlmrctT"
# A browser whose person allowed notices, and who looks elsewhere.
ELSEWHERE = """() => {
    window.notices = [];
    window.Notification = class {
        static get permission() { return localStorage.getItem("allowed") ?? "default"; }
        static async requestPermission() {
            localStorage.setItem("allowed", "granted");
            return "granted";
        }
        constructor(words, { body }) { window.notices.push([words, body]); }
        close() {}
    };
}"""
HIDDEN = "() => Object.defineProperty(document, 'hidden', { value: true, configurable: true })"


def is_somewhere(tab: Tab) -> None:
    tab.page.wait_for_function(SOMEWHERE)
    tab.next_frames()
    assert tab.page.evaluate(SOMEWHERE)


@pytest.mark.parametrize("how", ["the socket is quicker", "the reply is quicker"])
def test_after_continue(enter, upstream, how):
    tab = enter().open()
    tab.ask("Why?")
    upstream.next_answer().write("Half")
    tab.expect_shown("Half")
    tab.press("Stop")
    tab.expect_status("stopped")
    answers: list[Any] = []

    def slowly(route) -> None:
        page = route.fetch()
        answers.append(upstream.next_answer())
        answers[0].think("It is not whole. ")
        expect(tab.thought).to_contain_text("Thinking for")
        is_somewhere(tab)
        route.fulfill(response=page)

    if how == "the socket is quicker":
        tab.page.route("**/continue/", slowly)
    button = tab.answer.get_by_role("button", name="Continue")
    button.focus()
    button.press("Enter")
    while how == "the socket is quicker" and not answers:
        tab.next_frames()
    expect(tab.answer.get_by_role("button", name="Continue")).to_have_count(0)
    is_somewhere(tab)
    answer = answers[0] if answers else upstream.next_answer()
    tab.expect_status("running")
    is_somewhere(tab)
    answer.write(" and more.")
    answer.finish()
    tab.expect_status("complete")
    is_somewhere(tab)


def test_after_a_note_and_a_verdict(enter, place, upstream):
    alice, bob = enter().open(), enter()
    place.clerk("reviews", name=bob.person)
    name = f"Is {alice.person} right?"
    answered(alice, upstream, "What first?", Think("Hm. "), Write("The first answer."))
    submit(alice, name)
    bob.open("review/")
    mine(bob, name).get_by_role("button", name=re.compile("^Take")).click()
    beside = bob.page.locator(".notes").last
    beside.locator("summary").filter(has_text="Note").click()
    beside.get_by_label("Your note").fill("Where from?")
    beside.get_by_role("button", name="Add note").click()
    expect(bob.page.get_by_text("Where from?")).to_be_visible()
    expect(beside.get_by_label("Your note")).to_be_focused()
    verdict = bob.page.get_by_role("region", name="Verdict")
    verdict.get_by_text("Approve").first.click()
    verdict.get_by_role("button", name="Give verdict").click()
    expect(bob.page.get_by_text("approved", exact=True).first).to_be_visible()
    is_somewhere(bob)


def test_after_something_was_not_deleted_it_is_where_the_menu_was(enter, upstream):
    tab = enter().open()
    answered(tab, upstream, "Why?", Write("Because."))
    more = tab.answer.get_by_role("button", name="More on this answer")
    expect(tab.answer.get_by_role("button", name="Delete", exact=True)).to_be_hidden()
    more.click()
    tab.press("Delete", within=tab.answer)
    expect(tab.page.get_by_role("dialog")).to_be_visible()
    tab.page.keyboard.press("Escape")
    expect(more).to_be_focused()


def types_letters(tab: Tab, field: Locator) -> None:
    address, before = tab.page.url, tab.messages.count()
    field.fill("")
    field.press_sequentially(LETTERS)
    expect(field).to_have_value(LETTERS)
    expect(tab.page.get_by_role("dialog", name="Keys")).to_have_count(0)
    assert (tab.page.url, tab.messages.count()) == (address, before)
    field.fill("")


def test_no_letter_in_a_field_is_a_key_of_the_page(enter, upstream):
    tab = enter().open()
    answered(tab, upstream, "Why?", Write("Because."))
    page = tab.page
    types_letters(tab, tab.composer)
    types_letters(tab, page.locator(".list [type=search]"))
    tab.press("Edit", within=tab.questions.first)
    types_letters(tab, page.get_by_role("textbox", name="Edited question"))
    page.keyboard.press("Escape")
    for opens, field in (("Instructions", "textarea"), ("Rename", "input:not([type=hidden])")):
        tab.page.locator("[popovertarget=more]").click()
        page.locator("#more").get_by_role("link", name=opens).click()
        dialog = page.locator("dialog[open]")
        types_letters(tab, dialog.locator(field).first)
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)


def test_that_it_thinks_is_said_once(enter, upstream):
    tab = enter().open()
    tab.page.evaluate(
        """() => {
            window.said = [];
            const news = document.getElementById("news");
            new MutationObserver(() => window.said.push(news.textContent)).observe(news, { childList: true });
        }"""
    )
    tab.page.evaluate("window.same = true")
    tab.ask("Why?")
    answer = upstream.next_answer()
    for words in ("Hm. ", "And then. "):
        answer.think(words)
        answer.end_thought()
    answer.write("Because.")
    answer.finish()
    tab.expect_status("complete")
    expect(tab.page.locator("#news")).to_contain_text("Answer finished")
    if tab.page.evaluate("window.same"):
        assert tab.page.evaluate("window.said.filter((words) => words === 'Thinking').length") == 1


def test_the_ring_where_one_writes_is_calm(enter):
    tab = enter().open()
    tab.composer.focus()
    form = tab.page.locator("#composer")
    style = "(form) => [getComputedStyle(form).outlineStyle, getComputedStyle(form).boxShadow.includes('0px 0px 0px 1px')]"
    assert form.evaluate(style) == ["none", True]


def test_a_phone_shows_the_whole_name_of_the_model(enter):
    tab = enter(**PHONE).open()
    model = tab.page.get_by_role("combobox", name="Model")
    assert model.evaluate("(it) => it.scrollWidth <= it.clientWidth")
    width = model.evaluate("(it) => it.getBoundingClientRect().width")
    assert width > 200


def test_a_long_thought_that_ended_is_told_to_whoever_looks_elsewhere_and_wanted_it(enter, upstream):
    tab = enter()
    tab.context.add_init_script(f"({ELSEWHERE})()")
    tab.open("settings/")
    tab.page.get_by_role("switch", name=re.compile("long thought has ended")).check()
    tab.open()
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.think("A short one. ")
    expect(tab.thought).to_contain_text("Thinking")
    tab.page.evaluate(
        "() => { const now = performance.now.bind(performance); performance.now = () => now() + (window.later ?? 0); }"
    )
    tab.page.evaluate(HIDDEN)
    answer.end_thought()
    answer.think("A long one. ")
    expect(tab.answer.locator("details.thought")).to_have_count(2)
    tab.page.evaluate("window.later = 11_000")
    answer.end_thought()
    answer.write("Because.")
    tab.page.wait_for_function("() => window.notices.length > 0")
    assert tab.page.evaluate("window.notices.map(([words]) => words)") == ["Thought for 1 second"]
    answer.finish()
    tab.expect_status("complete")


def test_nobody_is_told_who_did_not_ask_for_it(enter):
    tab = enter()
    tab.context.add_init_script(f"({ELSEWHERE})()")
    tab.open("settings/")
    expect(tab.page.get_by_role("switch", name=re.compile("long thought has ended"))).not_to_be_checked()
