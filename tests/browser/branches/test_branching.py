"""Branches: nothing is lost by asking again or otherwise, and one comes back to where one was."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.steered import Think, Write


def answered(tab, upstream, question: str, *steps) -> None:
    upstream.plays(*steps)
    tab.ask(question)
    tab.expect_status("complete")


def again(tab, upstream, *steps) -> None:
    """Another answer to the same question."""
    upstream.plays(*steps)
    before = tab.message_id()
    tab.press("Ask again", within=tab.answer)
    expect(tab.answer).not_to_have_attribute("data-message-id", before)
    tab.expect_status("complete")


def picker(message: Locator) -> Locator:
    return message.get_by_role("group", name="Branches")


def go(message: Locator, way: str) -> None:
    picker(message).get_by_role("button", name=f"{way} branch").click()


def stands_at(message: Locator, place: str) -> None:
    expect(picker(message).locator("output")).to_have_text(place)


def edit(tab, question: Locator, words: str) -> None:
    tab.press("Edit", within=question)
    box = tab.page.get_by_role("textbox", name="Edited question")
    expect(box).to_be_focused()
    box.fill(words)
    box.locator("xpath=ancestor::form").get_by_role("button", name="Ask", exact=True).click()


def test_three_answers_keep_their_own_times_wherever_one_goes(enter, upstream):
    tab = enter().open()
    answered(tab, upstream, "Why?", Think("Short. "), Write("One."))
    again(tab, upstream, Think("Long. ", seconds=1.5), Write("Two."))
    again(tab, upstream, Write("Three."))
    stands_at(tab.answer, "3 / 3")
    assert tab.answer.locator("details[data-kind=reasoning]").count() == 0
    go(tab.answer, "Previous")
    stands_at(tab.answer, "2 / 3")
    tab.expect_text("Two.")
    expect(tab.thought).to_have_text("Thought for 2 seconds")
    go(tab.answer, "Previous")
    stands_at(tab.answer, "1 / 3")
    tab.expect_text("One.")
    expect(tab.thought).to_have_text("Thought for 1 second")
    tab.reload()
    stands_at(tab.answer, "1 / 3")
    expect(tab.thought).to_have_text("Thought for 1 second")
    go(tab.answer, "Next")
    expect(tab.thought).to_have_text("Thought for 2 seconds")
    tab.expect_as_loaded()


def test_going_back_to_a_branch_comes_to_the_end_one_left(enter, upstream):
    tab = enter().open()
    answered(tab, upstream, "Why?", Write("One."))
    answered(tab, upstream, "And then?", Write("Deep one."))
    first = tab.questions.first
    upstream.plays(Write("Two."))
    edit(tab, first, "Why not?")
    tab.expect_text("Two.")
    tab.expect_status("complete")
    expect(tab.messages).to_have_count(2)
    stands_at(tab.questions.first, "2 / 2")
    go(tab.questions.first, "Previous")
    tab.expect_text("Deep one.")
    expect(tab.messages).to_have_count(4)
    tab.reload()
    tab.expect_text("Deep one.")
    go(tab.questions.first, "Next")
    tab.expect_text("Two.")
    tab.expect_as_loaded()


def test_an_edited_question_leaves_the_old_one_and_its_answer_as_they_were(enter, house, upstream):
    tab = enter().open()
    answered(tab, upstream, "Why?", Think("Hm. "), Write("One."))
    old = [tab.message_id(tab.questions.first), tab.message_id()]
    before = [house.clerk("message", pk=pk) for pk in old]
    upstream.plays(Write("Two."))
    edit(tab, tab.questions.first, "Why not?")
    tab.expect_text("Two.")
    expect(tab.questions.first).to_contain_text("Why not?")
    assert [house.clerk("message", pk=pk) for pk in old] == before
    sent = upstream.requests[-1].body["input"]
    assert [item["content"] for item in sent] == ["Why not?"]


def test_an_edit_that_is_given_up_changes_nothing(enter, upstream):
    tab = enter().open()
    answered(tab, upstream, "Why?", Write("One."))
    before = tab.normal(tab.questions.first)
    tab.press("Edit", within=tab.questions.first)
    tab.page.get_by_role("textbox", name="Edited question").fill("Something else")
    tab.page.locator("form.edit").get_by_text("Cancel").click()
    expect(tab.page.locator("form.edit")).to_have_count(0)
    assert tab.normal(tab.questions.first) == before


def test_one_answer_never_has_a_picker(enter, upstream):
    tab = enter().open()
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.write("Half")
    expect(picker(tab.answer)).to_have_count(0)
    answer.finish()
    tab.expect_status("complete")
    expect(picker(tab.page.locator("#messages"))).to_have_count(0)


def test_the_other_branches_are_free_while_one_is_answered(enter, upstream):
    tab = enter().open()
    answered(tab, upstream, "Why?", Write("One."))
    tab.press("Ask again", within=tab.answer)
    running = upstream.next_answer()
    running.write("Two, so far")
    stands_at(tab.answer, "2 / 2")
    go(tab.answer, "Previous")
    tab.expect_text("One.")
    answered(tab, upstream, "And then?", Write("Deep one."))
    go(tab.answers.first, "Next")
    tab.expect_status("running")
    running.write(" and on.")
    running.finish()
    tab.expect_text("Two, so far and on.")
    tab.expect_as_loaded()


def test_a_new_branch_in_one_tab_leaves_the_view_of_another_where_it_is(enter, upstream):
    one = enter().open()
    answered(one, upstream, "Why?", Write("One."))
    other = enter(one)
    other.page.goto(one.page.url)
    again(one, upstream, Write("Two."))
    stands_at(other.answer, "1 / 2")
    other.expect_text("One.")
    go(other.answer, "Next")
    other.expect_text("Two.")


@pytest.mark.parametrize("undo", ["toast", "none"])
def test_a_deleted_answer_is_gone_with_what_is_below_it_and_can_come_back(enter, upstream, undo):
    tab = enter().open()
    answered(tab, upstream, "Why?", Write("One."))
    answered(tab, upstream, "And then?", Write("Deep one."))
    before = tab.normal(tab.page.locator("#messages"))
    tab.press("More on this answer", within=tab.answers.first)
    tab.press("Delete", within=tab.answers.first)
    dialog = tab.page.get_by_role("dialog")
    expect(dialog).to_contain_text("3 messages")
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(tab.messages).to_have_count(1)
    if undo == "none":
        tab.reload()
        expect(tab.messages).to_have_count(1)
        return
    tab.page.locator("#toast").get_by_role("button", name="Undo").click()
    expect(tab.messages).to_have_count(4)
    assert tab.normal(tab.page.locator("#messages")) == before
    tab.expect_as_loaded()


def test_a_node_of_the_map_opens_its_branch(enter, upstream):
    tab = enter().open()
    answered(tab, upstream, "Why?", Think("Hm. "), Write("One."))
    again(tab, upstream, Write("Two."))
    tab.page.get_by_role("link", name="Map").first.click()
    rows = tab.page.locator(".map li")
    expect(rows).to_have_count(3)
    rows.nth(1).get_by_role("button").click()
    tab.expect_text("One.")
    stands_at(tab.answer, "1 / 2")


def test_the_keyboard_and_the_eye_stay_where_they_were_when_a_branch_is_switched(enter, upstream):
    tab = enter(viewport={"width": 1000, "height": 600}).open()
    answered(tab, upstream, "Why?", Write("Long.\n\n" * 30))
    again(tab, upstream, Write("Short."))
    where = "(article) => article.getBoundingClientRect().top"
    picker(tab.answer).get_by_role("button", name="Previous branch").focus()
    before = tab.answer.evaluate(where)
    tab.page.keyboard.press("Enter")
    stands_at(tab.answer, "1 / 2")
    assert abs(tab.answer.evaluate(where) - before) < 4
    assert tab.page.evaluate("document.activeElement.ariaLabel") == "Next branch"


def test_however_often_one_switches_one_socket_listens(enter, upstream):
    tab = enter().open()
    sockets: list = []
    tab.page.on("websocket", lambda socket: "/ws/c/" in socket.url and sockets.append(socket))
    answered(tab, upstream, "Why?", Write("One."))
    again(tab, upstream, Write("Two."))
    for way, words in [("Previous", "One."), ("Next", "Two.")] * 2:
        go(tab.answer, way)
        tab.expect_text(words)
    before = len(sockets)
    tab.ask("And then?")
    upstream.next_answer().write("Three.")
    tab.expect_text("Three.")
    assert before >= 5
    assert [socket.is_closed() for socket in sockets] == [True] * (len(sockets) - 1) + [False]
