"""Everything by keyboard, without a pointer; and on a screen as wide as a phone's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.browser.looks import PHONE
from tests.browser.steered import Think, Write
from tests.browser.words import RICH

pytestmark = pytest.mark.whole_browser

# As soon as the browser is free after the next branch has come. Notes what the branches say that come: one may be gone before a test looks.
PRESSED_AT_ONCE = """(key) => {
    window.came = [];
    document.addEventListener("htmx:afterSettle", ({ detail }) => {
        const said = detail.elt.id === "thread" && [...detail.elt.querySelectorAll("[data-kind=assistant_message]")].at(-1);
        if (said) window.came.push(said.textContent.trim());
    });
    document.addEventListener("htmx:afterSwap", () => setTimeout(() =>
        document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))), { once: true });
}"""


def focused(tab) -> str:
    """What a screen reader would say of where one is."""
    return str(
        tab.page.evaluate(
            """() => {
                const it = document.activeElement;
                return it.ariaLabel || it.labels?.[0]?.textContent || it.textContent.trim();
            }"""
        )
    )


def tab_to(tab, name: str) -> None:
    """Goes on with the Tab key until the element of that name has the focus."""
    for _ in range(120):
        tab.page.keyboard.press("Tab")
        if focused(tab) == name:
            return
    raise AssertionError(f"The Tab key never came to {name!r}.")


def picker(tab, name: str) -> Locator:
    return tab.answer.get_by_role("button", name=name)


def test_a_whole_turn_with_its_branches_needs_no_pointer(enter, upstream):
    upstream.plays(Think("Hm. "), Write("One."))
    tab = enter().open()
    tab.page.keyboard.press("i")
    assert focused(tab) == "Message"
    tab.page.keyboard.type("Why?")
    tab.page.keyboard.press("Shift+Enter")
    tab.page.keyboard.type("Really?")
    tab.page.keyboard.press("Enter")
    tab.expect_text("One.")
    tab.expect_status("complete")
    expect(tab.questions.first).to_contain_text("Really?")
    tab.page.locator("body").click(position={"x": 2, "y": 2})
    tab.page.keyboard.press("r")
    second = upstream.next_answer()
    second.write("Two.")
    tab.expect_text("Two.")
    tab.page.keyboard.press("h")
    tab.expect_text("One.")
    expect(tab.composer).to_have_value("")
    tab.page.keyboard.press("l")
    tab.expect_text("Two.")
    second.finish()
    tab.expect_status("complete")
    tab.page.keyboard.press("h")
    tab.expect_text("One.")
    tab.page.keyboard.press("l")
    tab.expect_text("Two.")
    tab.page.keyboard.press("h")
    tab.expect_text("One.")
    tab.page.keyboard.press("t")
    expect(tab.answer.locator("details[data-kind=reasoning] [data-body]")).to_be_visible()
    tab.page.keyboard.press("?")
    expect(tab.page.get_by_role("dialog", name="Keys")).to_be_visible()
    tab.page.keyboard.press("Escape")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)


def test_the_picker_keeps_the_focus_while_an_answer_runs(enter, upstream):
    upstream.plays(Write("One."))
    tab = enter().open()
    tab.ask("Why?")
    tab.expect_status("complete")
    tab.page.locator("body").click(position={"x": 2, "y": 2})
    tab.page.keyboard.press("r")
    upstream.next_answer().write("Two.")
    tab.expect_text("Two.")
    tab.page.keyboard.press("h")
    tab.expect_text("One.")
    expect(picker(tab, "Next branch")).to_be_focused()
    tab.page.keyboard.press("r")
    third = upstream.next_answer()
    third.write("Three.")
    tab.expect_text("Three.")
    expect(picker(tab, "Previous branch")).to_be_focused()
    third.write(" And on.")
    tab.expect_text("Three. And on.")
    expect(picker(tab, "Previous branch")).to_be_focused()
    third.finish()
    tab.expect_status("complete")
    expect(picker(tab, "Previous branch")).to_be_focused()
    tab.page.keyboard.press("h")
    tab.expect_text("Two.")
    expect(picker(tab, "Previous branch")).to_be_focused()
    expect(tab.composer).to_have_value("")


def test_a_key_that_comes_right_after_another_branch_did_is_no_leap_to_a_new_page(enter, upstream):
    upstream.plays(Write("One."))
    tab = enter().open()
    tab.ask("Why?")
    tab.expect_status("complete")
    tab.page.locator("body").click(position={"x": 2, "y": 2})
    tab.page.evaluate("window.same = true")
    tab.page.keyboard.press("r")
    upstream.next_answer().write("Two.")
    tab.expect_text("Two.")
    tab.page.evaluate(PRESSED_AT_ONCE, "l")
    tab.page.keyboard.press("h")
    tab.page.wait_for_function("() => window.came.join() === 'One.,Two.'")
    tab.expect_text("Two.")
    expect(picker(tab, "Previous branch")).to_be_focused()
    assert tab.page.evaluate("window.same")


def answers(tab, upstream, *words: str) -> None:
    """To one question, and nobody stands anywhere."""
    upstream.plays(Write(words[0]))
    tab.ask("Why?")
    tab.expect_status("complete")
    for more in words[1:]:
        upstream.plays(Write(more))
        tab.press("Ask again", within=tab.answer)
        tab.expect_text(more)
        tab.expect_status("complete")
    tab.page.locator("body").click(position={"x": 2, "y": 2})


def on_the_way(tab, path: str, then: Callable[[], None]) -> None:
    """Does this while the next request for it is on its way."""

    def held(route: Route) -> None:
        then()
        route.continue_()

    tab.page.route(path, held, times=1)


@pytest.mark.parametrize(("keys", "shown"), [("hh", "One."), ("hlh", "Two.")])
def test_keys_that_come_while_another_branch_is_on_its_way_go_on_from_there(enter, upstream, keys, shown):
    tab = enter().open()
    answers(tab, upstream, "One.", "Two.", "Three.")
    first, *rest = keys
    on_the_way(tab, "**/go/", lambda: [tab.page.keyboard.press(key) for key in rest])
    tab.page.keyboard.press(first)
    tab.expect_text(shown)
    expect(picker(tab, "Next branch")).to_be_focused()
    expect(tab.composer).to_have_value("")


def test_a_key_that_comes_while_a_new_answer_is_on_its_way_goes_back_from_there(enter, upstream):
    tab = enter().open()
    answers(tab, upstream, "One.", "Two.")
    upstream.plays(Write("Three."))
    on_the_way(tab, "**/again/", lambda: tab.page.keyboard.press("h"))
    with tab.page.expect_request("**/go/"):
        tab.page.keyboard.press("r")
    tab.expect_text("Two.")
    expect(tab.answer.locator("output")).to_have_text("2 / 3")


def test_keys_that_come_while_a_branch_is_asked_for_in_vain_are_not_kept(enter, upstream):
    tab = enter().open()
    tab.forgive("Failed to load resource", "htmx:")
    answers(tab, upstream, "One.", "Two.", "Three.")

    def cut(route: Route) -> None:
        tab.page.keyboard.press("h")
        route.abort()

    tab.page.route("**/go/", cut, times=1)
    tab.page.keyboard.press("h")
    expect(tab.page.locator("#refused")).to_contain_text("cannot be reached")
    tab.page.keyboard.press("h")
    tab.expect_text("Two.")
    expect(tab.answer.locator("output")).to_have_text("2 / 3")


def test_the_focus_stays_at_the_picker_when_the_branch_it_led_to_is_deleted(enter, upstream):
    tab = enter().open()
    answers(tab, upstream, "One.", "Two.", "Three.")
    tab.page.keyboard.press("h")
    tab.expect_text("Two.")
    picker(tab, "Next branch").focus()
    delete_answer(enter(tab), tab.conversation, "Three.")
    expect(tab.answer.locator("output")).to_have_text("2 / 2")
    expect(picker(tab, "Previous branch")).to_be_focused()


def test_the_focus_stays_at_a_running_answer_when_its_picker_goes(enter, upstream):
    tab = enter().open()
    answers(tab, upstream, "One.")
    tab.page.keyboard.press("r")
    second = upstream.next_answer()
    second.write("Two.")
    tab.expect_text("Two.")
    picker(tab, "Previous branch").focus()
    delete_answer(enter(tab), tab.conversation, "One.", back=True)
    expect(tab.answer.get_by_role("group", name="Branches")).to_have_count(0)
    expect(tab.answer).to_be_focused()
    second.finish()
    tab.expect_status("complete")
    expect(tab.answer).to_be_focused()


def delete_answer(tab, conversation: str, words: str, *, back: bool = False) -> None:
    """In another tab; `back`: it is the branch before the one that opens."""
    tab.open(f"c/{conversation}/")
    tab.press("Previous branch" if back else "Next branch", within=tab.answer)
    tab.expect_text(words)
    tab.press("More on this answer", within=tab.answer)
    tab.press("Delete", within=tab.answer)
    tab.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(tab.page.locator("#toast")).to_contain_text("Undo")


def test_the_focus_stays_in_code_that_grows(enter, upstream):
    tab = enter().open()
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.write("So:\n\n```\none\n")
    tab.expect_shown("one")
    answer.write("two\n")
    code = tab.text.locator("pre").last
    code.focus()
    answer.write("three\n")
    expect(code).to_contain_text("three")
    answer.write("```\n\nThat is all.\n\nOr not.")
    tab.expect_shown("Or not.")
    expect(tab.text.locator("[data-growing] pre")).to_have_count(0)
    expect(code).to_be_focused()


def test_whoever_stands_on_an_answer_stands_on_the_one_that_comes_in_its_place(enter, upstream):
    tab = enter().open()
    answers(tab, upstream, "One.")
    tab.page.keyboard.press("j")
    tab.page.keyboard.press("j")
    expect(tab.answer).to_be_focused()
    tab.page.keyboard.press("r")
    second = upstream.next_answer()
    second.write("Two.")
    tab.expect_text("Two.")
    expect(tab.answer).to_be_focused()
    tab.page.keyboard.press("h")
    tab.expect_text("One.")
    expect(tab.composer).to_have_value("")


def test_the_picker_keeps_the_focus_when_the_answer_ends_while_one_goes(enter, upstream):
    upstream.plays(Write("One."))
    tab = enter().open()
    tab.ask("Why?")
    tab.expect_status("complete")
    tab.press("Ask again", within=tab.answer)
    second = upstream.next_answer()
    second.write("Two.")
    tab.expect_text("Two.")

    def end_first(route):
        second.finish()
        tab.expect_status("complete")
        route.continue_()

    tab.page.route("**/go/", end_first)
    tab.page.locator("body").click(position={"x": 2, "y": 2})
    tab.page.keyboard.press("h")
    tab.expect_text("One.")
    expect(picker(tab, "Next branch")).to_be_focused()


@pytest.mark.parametrize(
    "name", ["Edit", "Copy", "Ask again", "More on this question", "More on this answer"]
)
def test_what_can_be_done_with_a_message_is_reached_by_the_tab_key(enter, upstream, name):
    upstream.plays(Think("Hm. "), Write("One."))
    tab = enter().open()
    tab.ask("Why?")
    tab.expect_status("complete")
    tab.page.locator("#main").evaluate("(main) => { main.tabIndex = -1; main.focus(); }")
    tab_to(tab, name)
    tab.page.wait_for_function("() => document.activeElement.checkVisibility({ opacityProperty: true })")


def test_one_can_write_on_at_once_after_the_first_question(enter, upstream):
    tab = enter().open()
    tab.ask("Why?")
    upstream.next_answer().write("Half")
    tab.expect_shown("Half")
    expect(tab.composer).to_be_focused()


def test_the_focus_stays_in_the_composer_while_an_answer_comes(enter, upstream):
    upstream.plays(Write("One."))
    tab = enter().open()
    tab.ask("Why?")
    tab.expect_status("complete")
    tab.ask("And then?")
    answer = upstream.next_answer()
    answer.write("Half")
    tab.expect_shown("Half")
    tab.page.keyboard.type("next")
    answer.finish()
    tab.expect_status("complete")
    expect(tab.composer).to_be_focused()
    expect(tab.composer).to_have_value("next")


def test_a_phone_never_scrolls_sideways(enter, upstream):
    tab = enter(**PHONE).open()
    wide = "() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
    assert tab.page.evaluate(wide) == 0
    upstream.plays(Think("x" * 300), Write(RICH + "\n\n" + "y" * 300 + "\n\n`" + "z" * 300 + "`"))
    tab.composer.fill("w" * 300)
    tab.press("Send")
    tab.expect_status("complete")
    tab.thought.click()
    tab.answer.locator(".timeline > summary").click()
    assert tab.page.evaluate(wide) == 0
    for path in ("settings/", "conversations/", f"c/{tab.conversation}/map/"):
        tab.open(path)
        assert tab.page.evaluate(wide) == 0, path


def test_the_list_of_conversations_is_a_drawer_on_a_phone(enter, upstream):
    upstream.plays(Write("One."))
    tab = enter(**PHONE).open()
    tab.composer.fill("Which one is it?")
    tab.press("Send")
    tab.expect_status("complete")
    row = tab.page.locator("#list").get_by_role("link", name="Which one is it?")
    expect(row).to_be_hidden()
    tab.page.get_by_role("button", name="Conversations").tap()
    expect(row).to_be_visible()
    tab.page.keyboard.press("Escape")
    expect(row).to_be_hidden()
