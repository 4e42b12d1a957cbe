"""Answers that end otherwise: a sentence one can act on, the provider's own words, and the next step beside it."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.steered import Cut, Refuse, Silence, Think, Write, too_long


def notice(tab):
    return tab.answer.locator(".notice")


def test_a_refusal_says_what_to_do_and_what_the_provider_said_and_retry_asks_again(enter, upstream):
    upstream.plays(Refuse(401, "Incorrect API key provided."))
    tab = enter().open()
    tab.ask("Why?")
    tab.expect_status("failed")
    expect(notice(tab)).to_contain_text("OpenAI did not accept the API key.")
    words = notice(tab).get_by_text("Incorrect API key provided.")
    expect(words).to_be_hidden()
    notice(tab).get_by_text("What the provider said").click()
    expect(words).to_be_visible()
    tab.expect_as_loaded("failed")
    upstream.plays(Write("Because."))
    tab.press("Retry", within=tab.answer)
    tab.expect_text("Because.")
    tab.expect_as_loaded()
    expect(tab.answers).to_have_count(1)
    expect(tab.answer.get_by_role("group", name="Branches")).to_have_count(0)


def test_what_came_before_a_broken_connection_stays_and_retry_answers_beside_it(enter, upstream):
    upstream.plays(Think("Hm. "), Write("Half"), Cut())
    tab = enter().open()
    tab.ask("Why?")
    tab.expect_status("failed")
    expect(notice(tab)).to_contain_text("The connection to OpenAI broke.")
    tab.expect_text("Half")
    tab.expect_as_loaded("failed")
    upstream.plays(Write("Whole."))
    tab.press("Retry", within=tab.answer)
    tab.expect_text("Whole.")
    expect(tab.answer.get_by_role("group", name="Branches")).to_contain_text("2 / 2")
    tab.expect_as_loaded()


def test_a_busy_provider_is_waited_for_in_sight(enter, upstream):
    upstream.plays(Refuse(429, headers={"retry-after": "1"}))
    tab = enter().open()
    tab.ask("Why?")
    expect(tab.answer).to_contain_text("OpenAI is busy, trying again in 1 s")
    answer = upstream.next_answer()
    answer.write("Because.")
    expect(notice(tab)).to_have_count(0)
    answer.finish()
    tab.expect_text("Because.")
    tab.expect_as_loaded()


def test_a_conversation_that_is_too_long_says_so(enter, upstream):
    upstream.plays(Write("One."))
    tab = enter().open()
    tab.ask("First?")
    tab.expect_status("complete")
    upstream.plays(too_long())
    tab.ask("Second?")
    tab.expect_status("failed")
    expect(notice(tab)).to_contain_text("too long for the model")
    tab.expect_as_loaded("failed")


def test_an_answer_that_was_as_long_as_it_may_be_can_be_continued(enter, upstream):
    tab = enter().open()
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.write("Half of it")
    answer.finish(cut=True)
    tab.expect_status("stopped")
    expect(tab.answer).to_contain_text("limit")
    tab.expect_as_loaded("stopped")
    upstream.plays(Write(" and the rest."))
    tab.press("Continue", within=tab.answer)
    expect(tab.answer).to_contain_text("and the rest.")
    tab.expect_as_loaded()


def test_a_turn_whose_servers_died_too_often_is_interrupted_and_can_be_continued(enter, own_house, upstream):
    upstream.always(Think("Hm. "), Write("Half"), Silence())
    tab = enter().open()
    tab.forgive("WebSocket", "ERR_")
    tab.ask("Why?")
    for attempt in (1, 2, 3):
        while len(upstream.requests) < attempt:
            tab.next_frames()
        tab.expect_shown("Half")
        own_house.kill()
        own_house.start()
    tab.expect_status("interrupted")
    expect(notice(tab)).to_contain_text("The server was restarted while this was being written.")
    tab.expect_as_loaded("interrupted")
    upstream.plays(Write(" and the rest."))
    tab.press("Continue", within=tab.answer)
    expect(tab.answer).to_contain_text("and the rest.")
    tab.expect_status("complete")
    tab.expect_as_loaded()
