"""Enter while it answers keeps the question for after: in every tab, through a reload, a Stop and a crash."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.served import Served
from tests.browser.steered import Call, Write

READ = Call("read_page", {"url": "https://example.org/"})


@pytest.fixture
def tab(enter):
    return enter().open()


def waiting(tab):
    return tab.page.get_by_role("region", name="Waiting question")


def body(question):
    return question.locator("[data-kind=user_message]")


def box(tab):
    return tab.page.locator("#later")


def ask(tab, upstream, words: str = "Because"):
    """A question, and the beginning of its answer."""
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.write(words)
    tab.expect_shown(words)
    return answer


def answered(upstream) -> None:
    """What is asked next."""
    answer = upstream.next_answer()
    answer.write("So.")
    answer.finish()


def keep(tab, words: str) -> None:
    tab.composer.fill(words)
    tab.composer.press("Enter")
    expect(tab.composer).to_have_value("")
    expect(waiting(tab)).to_contain_text(words)


def beside(enter, tab):
    other = enter(tab)
    other.page.goto(tab.page.url)
    other.page.wait_for_load_state()
    return other


def test_enter_keeps_it_and_it_is_asked_when_the_answer_is_complete(tab, upstream):
    answer = ask(tab, upstream)
    expect(tab.page.get_by_text("keeps your question until this answer is complete")).to_be_visible()
    keep(tab, "And then?")
    expect(waiting(tab)).to_contain_text("Next, when this is complete")
    expect(tab.composer).to_have_attribute("placeholder", "Add to the waiting question")
    expect(tab.composer).to_be_focused()
    expect(tab.page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    assert tab.grave() == []
    keep(tab, "And where?")
    expect(waiting(tab)).to_contain_text(re.compile("And then\\?\\s+And where\\?"))
    answer.finish()
    answered(upstream)
    expect(tab.questions).to_have_count(2)
    expect(tab.questions.last).to_contain_text(re.compile("And then\\?\\s*And where\\?"))
    expect(waiting(tab)).to_have_count(0)
    expect(tab.composer).to_have_attribute("placeholder", "Ask on, or change direction")
    tab.expect_as_loaded()


def test_it_is_there_in_a_second_tab_and_after_a_reload(enter, tab, upstream):
    answer = ask(tab, upstream)
    other = beside(enter, tab)
    keep(tab, "And then?")
    expect(waiting(other)).to_contain_text("And then?")
    other.reload()
    expect(waiting(other)).to_contain_text("And then?")
    keep(other, "And where?")
    expect(waiting(tab)).to_contain_text("And where?")
    tab.press("Remove the waiting question")
    expect(waiting(other)).to_have_count(0)
    expect(waiting(tab)).to_have_count(0)
    expect(tab.composer).to_be_focused()
    answer.finish()
    tab.expect_as_loaded()
    expect(tab.questions).to_have_count(1)


def test_it_is_edited_by_its_keys_and_not_sent_meanwhile(enter, tab, upstream):
    answer = ask(tab, upstream)
    keep(tab, "And tehn?")
    tab.press("Edit the waiting question")
    expect(box(tab)).to_be_focused()
    expect(tab.page.get_by_text("It is not sent while you edit it.")).to_be_visible()
    assert tab.grave() == []
    box(tab).fill("Something else")
    box(tab).press("Escape")
    expect(waiting(tab)).to_contain_text("And tehn?")
    expect(tab.page.get_by_role("button", name="Edit the waiting question")).to_be_focused()
    tab.press("Edit the waiting question")
    box(tab).fill("And then?")
    box(tab).press("Enter")
    expect(waiting(tab)).to_contain_text("And then?")
    expect(tab.composer).to_have_value("")
    tab.press("Edit the waiting question")
    box(tab).fill("And since when?")
    tab.reload()
    expect(box(tab)).to_have_value("And since when?")
    answer.finish()
    tab.expect_at_rest()
    expect(tab.questions).to_have_count(1)
    expect(box(tab)).to_have_value("And since when?")
    box(tab).press("Enter")
    answered(upstream)
    expect(tab.composer).to_have_value("")
    expect(tab.questions.last).to_contain_text("And since when?")
    expect(box(tab)).to_have_count(0)
    tab.expect_as_loaded()


def test_what_was_typed_is_not_lost_when_another_tab_leaves_the_edit(enter, tab, upstream):
    answer = ask(tab, upstream)
    keep(tab, "And then?")
    tab.press("Edit the waiting question")
    other = beside(enter, tab)
    expect(box(other)).to_have_value("And then?")
    box(tab).fill("And since when?")
    other.press("Cancel")
    expect(waiting(tab)).to_contain_text("And then?")
    expect(tab.composer).to_have_value("And since when?")
    answer.finish()
    answered(upstream)
    expect(tab.questions.last).to_contain_text("And then?")


def test_after_stop_it_comes_back_into_the_composer_and_is_reworded_there(tab, upstream):
    ask(tab, upstream)
    keep(tab, "And tehn?")
    tab.composer.press("Escape")
    tab.expect_status("stopped")
    expect(tab.composer).to_have_value("And tehn?")
    expect(tab.composer).to_be_focused()
    expect(waiting(tab)).to_have_text("Not sent, since the answer was stopped", use_inner_text=True)
    expect(tab.page.get_by_role("button", name="Send now")).to_be_hidden()
    expect(tab.questions).to_have_count(1)
    assert tab.grave() == []
    tab.reload()
    expect(tab.composer).to_have_value("And tehn?")
    tab.composer.fill("And then?")
    tab.reload()
    expect(tab.composer).to_have_value("And then?")
    upstream.always(Write("So."))
    tab.composer.press("Enter")
    expect(tab.questions).to_have_count(2)
    expect(body(tab.questions.last)).to_have_text("And then?")
    expect(waiting(tab)).to_have_count(0)
    expect(tab.composer).to_have_value("")
    tab.reload()
    expect(tab.composer).to_have_value("")
    tab.expect_as_loaded()


def test_after_stop_it_is_a_card_where_something_is_typed_and_both_are_sent(tab, upstream):
    ask(tab, upstream)
    keep(tab, "And then?")
    tab.composer.fill("And where?")
    tab.press("Stop")
    tab.expect_status("stopped")
    expect(waiting(tab)).to_contain_text("And then?")
    expect(tab.composer).to_have_value("And where?")
    tab.reload()
    expect(waiting(tab)).to_contain_text("And then?")
    expect(tab.composer).to_have_value("And where?")
    upstream.always(Write("So."))
    tab.composer.press("Enter")
    expect(body(tab.questions.last)).to_have_text(re.compile("^And then\\?\\s*And where\\?$"))
    expect(waiting(tab)).to_have_count(0)
    expect(tab.composer).to_have_value("")
    tab.expect_as_loaded()


def test_send_now_sends_it_alone_and_leaves_what_is_typed(tab, upstream):
    ask(tab, upstream)
    keep(tab, "And then?")
    tab.composer.fill("And wh")
    tab.press("Stop")
    upstream.always(Write("So."))
    tab.press("Send now")
    expect(body(tab.questions.last)).to_have_text("And then?")
    expect(waiting(tab)).to_have_count(0)
    expect(tab.composer).to_have_value("And wh")
    tab.expect_as_loaded()


def test_of_two_tabs_that_have_it_one_sends_it_and_the_other_keeps_only_what_it_changed(enter, tab, upstream):
    ask(tab, upstream)
    other, third = beside(enter, tab), beside(enter, tab)
    keep(tab, "And then?")
    tab.press("Stop")
    for one in (tab, other, third):
        expect(one.composer).to_have_value("And then?")
    third.composer.fill("And then where?")
    upstream.always(Write("So."))
    tab.composer.press("Enter")
    expect(tab.questions).to_have_count(2)
    expect(tab.composer).to_have_value("")
    expect(other.questions).to_have_count(2)
    expect(other.composer).to_have_value("")
    expect(third.composer).to_have_value("And then where?")
    for one in (other, third):
        expect(waiting(one)).to_have_count(0)
    third.expect_at_rest()
    third.reload()
    expect(third.composer).to_have_value("And then where?")
    third.expect_as_loaded()


def test_what_came_back_is_removed_and_emptied_it_is_not_sent(enter, tab, upstream):
    ask(tab, upstream)
    other = beside(enter, tab)
    keep(tab, "And then?")
    tab.press("Stop")
    expect(tab.composer).to_have_value("And then?")
    tab.composer.fill("")
    tab.composer.press("Enter")
    tab.composer.fill("And whatever?")
    tab.press("Remove the waiting question")
    for one in (tab, other):
        expect(waiting(one)).to_have_count(0)
        expect(one.composer).to_have_value("")
    expect(tab.composer).to_be_focused()
    tab.reload()
    expect(tab.composer).to_have_value("")
    expect(tab.questions).to_have_count(1)


def test_who_empties_the_box_sees_what_still_waits(tab, upstream):
    ask(tab, upstream)
    keep(tab, "And then?")
    tab.press("Stop")
    expect(tab.composer).to_have_value("And then?")
    expect(waiting(tab).get_by_text("And then?")).to_be_hidden()
    tab.composer.fill("")
    expect(waiting(tab).get_by_text("And then?")).to_be_visible()
    tab.composer.fill("Or")
    expect(waiting(tab).get_by_text("And then?")).to_be_hidden()


def test_when_the_answer_goes_on_it_is_a_card_again_with_its_new_words(enter, tab, upstream):
    ask(tab, upstream)
    other = beside(enter, tab)
    keep(tab, "And tehn?")
    tab.press("Stop")
    for one in (tab, other):
        expect(one.composer).to_have_value("And tehn?")
    tab.composer.fill("And then?")
    tab.press("Continue")
    answer = upstream.next_answer()
    answer.write(" of it.")
    for one in (tab, other):
        expect(one.page.locator("#next .words")).to_have_text("And then?")
        expect(one.composer).to_have_value("")
    answer.finish()
    answered(upstream)
    expect(body(tab.questions.last)).to_have_text("And then?")
    tab.expect_as_loaded()


def test_a_server_that_was_killed_gives_back_what_came_back(enter, own_house, upstream):
    tab = enter()
    tab.forgive("WebSocket", "ERR_", "htmx:")
    tab.open()
    ask(tab, upstream)
    keep(tab, "And tehn?")
    tab.press("Stop")
    expect(tab.composer).to_have_value("And tehn?")
    tab.composer.fill("And then?")
    own_house.kill()
    own_house.start()
    tab.reload()
    expect(tab.composer).to_have_value("And then?")
    upstream.always(Write("So."))
    tab.composer.press("Enter")
    expect(body(tab.questions.last)).to_have_text("And then?")
    tab.expect_as_loaded()
    expect(tab.questions).to_have_count(2)


def test_a_failed_answer_leaves_it_waiting_for_the_one_made_instead(tab, upstream):
    answer = ask(tab, upstream)
    keep(tab, "And then?")
    answer.fail()
    tab.expect_status("failed")
    expect(waiting(tab)).to_contain_text("Not sent, since the answer failed")
    expect(tab.composer).to_have_value("And then?")
    upstream.always(Write("So."))
    tab.press("Retry")
    expect(tab.questions).to_have_count(2)
    expect(tab.questions.last).to_contain_text("And then?")
    tab.expect_as_loaded()


def test_a_permission_question_is_waited_for(tab, upstream):
    upstream.plays(READ)
    tab.ask("Why?")
    tab.expect_status("waiting")
    keep(tab, "And then?")
    expect(waiting(tab)).to_contain_text("when you have decided")
    expect(tab.page.get_by_role("button", name="Send now")).to_have_count(0)
    upstream.always(Write("So."))
    tab.press("Deny")
    expect(tab.questions).to_have_count(2)
    expect(tab.questions.last).to_contain_text("And then?")
    tab.expect_as_loaded()


def test_a_permission_question_brings_it_back_until_it_is_kept_again_or_decided(tab, upstream):
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.write("Let me look.")
    tab.expect_shown("Let me look.")
    keep(tab, "And tehn?")
    answer.call("read_page", json.dumps(READ.arguments))
    answer.finish()
    tab.expect_status("waiting")
    expect(tab.composer).to_have_value("And tehn?")
    tab.composer.fill("And then?")
    tab.composer.press("Enter")
    expect(tab.composer).to_have_value("")
    expect(tab.page.locator("#next .words")).to_have_text("And then?")
    tab.reload()
    expect(tab.composer).to_have_value("And then?")
    upstream.always(Write("So."))
    tab.press("Deny")
    expect(tab.questions).to_have_count(2)
    expect(body(tab.questions.last)).to_have_text("And then?")
    expect(tab.composer).to_have_value("")
    tab.expect_as_loaded()


def test_whoever_has_no_enter_key_has_a_button(enter, upstream):
    tab = enter(viewport={"width": 390, "height": 800}, has_touch=True).open()
    tab.composer.fill("Why?")
    tab.press("Send")
    answer = upstream.next_answer()
    answer.write("Because")
    tab.expect_shown("Because")
    keeping = tab.page.get_by_role("button", name="Send next", exact=True)
    expect(keeping).to_be_hidden()
    tab.composer.fill("And then?")
    keeping.click()
    expect(waiting(tab)).to_contain_text("And then?")
    expect(keeping).to_be_hidden()
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    upstream.always(Write("So."))
    answer.finish()
    expect(tab.questions.last).to_contain_text("And then?")
    tab.expect_as_loaded()


def test_without_scripts_it_is_written_on_a_page_that_stays_as_it_is(enter, upstream):
    tab = enter(java_script_enabled=False).open()
    tab.composer.fill("Why?")
    tab.press("Send")
    answer = upstream.next_answer()
    answer.write("Because")
    tab.page.get_by_role("link", name="Write the next question meanwhile").click()
    expect(tab.page.get_by_text("Send keeps your question until this answer is complete.")).to_be_visible()
    tab.composer.fill("And then?")
    tab.press("Send next")
    expect(waiting(tab)).to_contain_text("And then?")
    tab.press("Edit the waiting question")
    box(tab).fill("And where?")
    tab.press("Save")
    expect(waiting(tab)).to_contain_text("And where?")
    upstream.always(Write("So."))
    answer.finish()
    expect(tab.questions).to_have_count(2)
    expect(tab.questions.last).to_contain_text("And where?")
    tab.expect_status("complete")


def test_a_server_that_was_killed_asks_it_once_when_it_is_back(enter, own_house, upstream):
    tab = enter()
    tab.forgive("WebSocket", "ERR_", "htmx:")
    tab.open()
    ask(tab, upstream)
    keep(tab, "And then?")
    own_house.kill()
    upstream.always(Write("So."))
    own_house.start()
    expect(tab.questions).to_have_count(2)
    expect(tab.questions.last).to_contain_text("And then?")
    tab.expect_as_loaded()
    own_house.kill()
    own_house.start()
    tab.reload()
    tab.expect_as_loaded()
    expect(tab.questions).to_have_count(2)
    assert sum("And then?" in str(asked.body["input"][-1]) for asked in upstream.requests) == 1


def test_of_two_servers_on_one_database_one_asks_it(enter, own_house, upstream, tmp_path, tmp_path_factory):
    """The one that the answer does not run at keeps the question, and both look for what waits."""
    database = f"sqlite:///{tmp_path / 'thoughtline.sqlite3'}"
    key = Path(tmp_path / "secret-key").read_text().strip()
    environment = upstream.environment | {"DEFAULT_MODEL": "openai:gpt-5"}
    folder = tmp_path_factory.mktemp("second")
    second = Served(folder, DATABASE_URL=database, SECRET_KEY=key, **environment)
    try:
        second.start()
        for _ in range(3):
            tab = enter().open()
            answer = ask(tab, upstream)
            other = enter(tab)
            other.page.goto(tab.page.url.replace(own_house.url, second.url))
            other.page.wait_for_load_state()
            other.composer.fill("And then?")
            other.composer.press("Enter")
            expect(waiting(other)).to_contain_text("And then?")
            answer.finish()
            answered(upstream)
            expect(tab.questions).to_have_count(2)
            tab.reload()
            tab.expect_as_loaded()
            expect(tab.questions).to_have_count(2)
        assert sum("And then?" in str(asked.body["input"][-1]) for asked in upstream.requests) == 3
    finally:
        second.stop()


def test_whoever_was_signed_out_meanwhile_keeps_the_words(enter, tab, upstream):
    answer = ask(tab, upstream)
    keep(tab, "And then?")
    tab.forgive("status of 40", "Response Status Error")
    tab.context.clear_cookies(name="sessionid")
    tab.composer.fill("And where?")
    tab.composer.press("Enter")
    expect(tab.page.locator("#refused")).to_contain_text("signed out")
    expect(tab.composer).to_have_value("And where?")
    answer.finish()
    # What was kept before is the server's to ask.
    answered(upstream)
