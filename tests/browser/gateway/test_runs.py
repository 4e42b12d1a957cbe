"""A program's run as its owner sees it: live beside the client, its branches, forked and gone on with, and stopped from the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import DEFAULT_MODEL
from tests.browser.steered import Call, Think, Write
from tests.browser.tab import Tab
from tests.support.patience import PATIENCE

pytest.importorskip("openai")

from .program import NAME, SYSTEM, Message, Program, question, results

FIRST = question("Why does test_due_date fail now and then?")
SHOWS_ALL = """() => {
    const last = [...document.querySelectorAll("article")].at(-1);
    return document.getElementById("thread").dataset.version === last?.dataset.version;
}"""
Runs = Callable[[Tab], Program]


@pytest.fixture
def runs(place) -> Iterator[Runs]:
    """A program of the person in this tab."""
    programs = []

    def made(tab: Tab) -> Program:
        secret = place.clerk("key", owner=tab.person, name=NAME, is_recorded=True)
        programs.append(Program(place.url, secret, DEFAULT_MODEL))
        return programs[-1]

    yield made
    for program in programs:
        program.close()


def opened(tab: Tab) -> Tab:
    """The run that is the first in the list."""
    row = tab.page.locator("#conversations li > a").first
    expect(row).to_contain_text("Recorded run:")
    row.click()
    tab.page.wait_for_url(re.compile("/c/"))
    return tab


def said(asked: Future[Message]) -> Message:
    return asked.result(PATIENCE)


def looks_as_loaded(tab: Tab) -> None:
    """What came by the socket is what a reload shows, but for how long a call has been away."""
    tab.page.wait_for_function(SHOWS_ALL)
    found = [tab.freshly_loaded(), tab.normal(tab.page.locator("#thread"))]
    loaded, shown = (re.sub(r'"\d+ s"', '"… s"', each) for each in found)
    tab._expect_same(loaded, shown)


def leads(tab: Tab) -> Locator:
    return tab.page.get_by_role("group", name="This run")


def calls(tab: Tab) -> Locator:
    return tab.answer.locator("details[data-kind=tool_call]")


def test_it_is_seen_live_beside_the_client(enter, upstream, runs):
    tab = enter().open()
    program = runs(tab)
    asked = program.asks([SYSTEM, FIRST])
    answer = upstream.next_answer()
    opened(tab)
    answer.think("Two different todays.")
    tab.expect_thinking(1)
    expect(leads(tab)).to_contain_text(f"{NAME} is driving this run.")
    expect(tab.composer).to_have_count(0)
    expect(tab.page.locator(".program > summary")).to_contain_text("The program’s words")
    answer.call("shell", '{"command": "rg due_on"}')
    answer.finish()
    first = said(asked)
    tab.expect_status("waiting")
    expect(tab.answer.get_by_role("group", name="A call of the program")).to_contain_text("rg due_on")
    expect(leads(tab)).to_contain_text(f"{NAME} is running a call.")
    looks_as_loaded(tab)

    asked = program.asks([SYSTEM, FIRST, first, *results(first, "models.py:88")])
    answer = upstream.next_answer()
    answer.write("The model takes the day of the *machine*.")
    tab.expect_shown("of the machine.")
    expect(calls(tab)).to_contain_text("by the program")
    expect(tab.answer.locator(".handed")).to_have_count(0)
    answer.finish()
    second = said(asked)
    tab.expect_as_loaded()
    expect(tab.page.locator("#run")).to_contain_text("2 requests")

    upstream.plays(Think("Yes."), Write("Done."))
    said(program.asks([SYSTEM, FIRST, first, *results(first, "models.py:88"), second, question("Fix it.")]))
    expect(tab.questions).to_have_count(2)
    tab.expect_as_loaded()
    expect(leads(tab).get_by_role("button")).to_have_text(re.compile("Fork and go on"))


def test_thoughts_that_were_put_back_are_told_once(enter, upstream, runs):
    tab = enter().open()
    program = runs(tab)
    upstream.plays(Think("Two different todays."), Call("shell", {"command": "rg"}))
    first = said(program.asks([SYSTEM, FIRST]))
    opened(tab)
    upstream.plays(Think("Aha."), Call("shell", {"command": "pytest"}))
    history = [SYSTEM, FIRST, first, *results(first, "models.py:88")]
    second = said(program.asks(history))
    upstream.plays(Write("Fixed."))
    said(program.asks([*history, second, *results(second, "24 passed")]))
    tab.expect_as_loaded()
    expect(tab.answer.locator(".restored")).to_have_count(1)
    expect(tab.answer.locator(".restored")).to_contain_text("2 thoughts put back.")


def test_where_it_departs_the_page_goes_along_and_the_first_try_stays(enter, upstream, runs):
    tab = enter().open()
    program = runs(tab)
    upstream.plays(Think("Hm."), Write("I would mock the clock."))
    said(program.asks([SYSTEM, FIRST]))
    opened(tab)
    tab.expect_text("I would mock the clock.")
    upstream.plays(Write("One."))
    one = question("Do that.")
    before = [SYSTEM, FIRST, {"role": "assistant", "content": "I would mock the clock."}]
    said(program.asks([*before, one]))
    tab.expect_text("One.")
    upstream.plays(Write("Another."))
    said(program.asks([*before, question("No, use localdate().")]))
    tab.expect_text("Another.")
    expect(tab.questions).to_have_count(2)
    expect(tab.page.locator("#outline a")).to_have_count(2)
    tab.expect_as_loaded()
    expect(tab.questions.last).to_contain_text("The program’s history departs here")
    tab.page.get_by_role("link", name="See the first try").click()
    tab.expect_text("One.")


def test_where_it_departs_within_an_answer_the_page_goes_along_too(enter, upstream, runs):
    tab = enter().open()
    program = runs(tab)
    upstream.plays(Think("Hm."), Call("shell", {"command": "rg"}))
    first = said(program.asks([SYSTEM, FIRST]))
    opened(tab)
    history = [SYSTEM, FIRST, first]
    for words, found in (("One.", "models.py"), ("Another.", "views.py")):
        upstream.plays(Write(words))
        said(program.asks([*history, *results(first, found)]))
        tab.expect_text(words)
        tab.expect_as_loaded()
    expect(tab.answer.locator("output")).to_have_text("2 / 2")
    expect(tab.answer).to_contain_text("The program asked for this answer anew")


def test_a_page_that_was_away_has_what_the_program_did_meanwhile(enter, upstream, runs, proxy):
    tab = enter(to=proxy).open()
    program = runs(tab)
    upstream.plays(Call("shell", {"command": "rg"}))
    first = said(program.asks([SYSTEM, FIRST]))
    opened(tab)
    tab.expect_status("waiting")
    tab.forgive("WebSocket", "ERR_")
    history = [SYSTEM, FIRST, first, *results(first, "models.py")]
    with proxy.away():
        upstream.plays(Write("It is the time zone."))
        second = said(program.asks(history))
        upstream.plays(Write("Done."))
        said(program.asks([*history, second, question("Fix it.")]))
    tab.expect_text("Done.")
    tab.expect_as_loaded()


def test_a_page_that_was_away_while_the_program_departed_is_where_it_is_now(enter, upstream, runs, proxy):
    tab = enter(to=proxy).open()
    program = runs(tab)
    upstream.plays(Think("Hm."), Call("shell", {"command": "rg"}))
    said(program.asks([SYSTEM, FIRST]))
    opened(tab)
    tab.expect_status("waiting")
    tab.forgive("WebSocket", "ERR_")
    with proxy.away():
        upstream.plays(Write("One."))
        said(program.asks([SYSTEM, question("Why does it fail on Sundays?")]))
        upstream.plays(Write("Another."))
        other = said(program.asks([SYSTEM, FIRST]))
    tab.expect_text("Another.")
    tab.expect_as_loaded()
    upstream.plays(Write("Done."))
    said(program.asks([SYSTEM, FIRST, other, question("Fix it.")]))
    tab.expect_text("Done.")
    tab.expect_as_loaded()


def test_what_the_program_left_behind_says_so(enter, upstream, runs):
    tab = enter().open()
    program = runs(tab)
    upstream.plays(Think("Hm."), Call("shell", {"command": "rg"}))
    said(program.asks([SYSTEM, FIRST]))
    opened(tab)
    tab.expect_status("waiting")
    upstream.plays(Write("Another."))
    said(program.asks([SYSTEM, FIRST]))
    tab.expect_text("Another.")
    tab.press("Previous branch", within=tab.answer)
    tab.expect_status("stopped")
    expect(tab.answer).to_contain_text("The program left this answer behind and asked elsewhere")
    expect(calls(tab)).to_contain_text("its result never came")
    expect(tab.page.get_by_role("button", name="Continue")).to_have_count(0)
    tab.expect_as_loaded("stopped")


def test_a_page_on_the_first_try_stays_there_when_its_line_comes_back(enter, upstream, runs, proxy):
    tab = enter(to=proxy).open()
    program = runs(tab)
    for words in ("One.", "Two."):
        upstream.plays(Write(words))
        said(program.asks([SYSTEM, FIRST]))
    opened(tab)
    tab.press("Previous branch", within=tab.answer)
    tab.expect_text("One.")
    tab.forgive("WebSocket", "ERR_")
    with proxy.away():
        upstream.plays(Write("Three."))
        said(program.asks([SYSTEM, FIRST]))
    expect(tab.answer.locator("output")).to_have_text("1 / 3")
    tab.expect_text("One.")


def test_whoever_looks_at_the_first_try_stays_there(enter, upstream, runs):
    tab = enter().open()
    program = runs(tab)
    for words in ("One.", "Two."):
        upstream.plays(Write(words))
        said(program.asks([SYSTEM, FIRST]))
    opened(tab)
    tab.expect_text("Two.")
    tab.press("Previous branch", within=tab.answer)
    tab.expect_text("One.")
    upstream.plays(Write("Three."))
    said(program.asks([SYSTEM, FIRST]))
    expect(tab.answer.locator("output")).to_have_text("1 / 3")
    tab.expect_text("One.")


def test_stop_from_the_page_stops_the_stream_of_the_client(enter, upstream, runs):
    tab = enter().open()
    program = runs(tab)
    asked = program.asks([SYSTEM, FIRST])
    answer = upstream.next_answer()
    answer.write("Half")
    opened(tab)
    tab.expect_shown("Half")
    tab.press("Stop")
    tab.expect_status("stopped")
    answer.until_gone()
    with pytest.raises(Exception, match="stopped on its page"):
        said(asked)
    expect(tab.answer).to_contain_text("Stopped by you")
    expect(tab.page.get_by_role("button", name="Continue")).to_have_count(0)
    tab.expect_as_loaded("stopped")


def test_stop_ends_an_answer_that_waits_for_its_program(enter, upstream, runs):
    tab = enter().open()
    program = runs(tab)
    upstream.plays(Call("shell", {"command": "sleep 1000"}))
    said(program.asks([SYSTEM, FIRST]))
    opened(tab)
    tab.expect_status("waiting")
    tab.page.keyboard.press("Escape")
    tab.expect_status("stopped")
    expect(calls(tab)).to_contain_text("stopped")
    tab.expect_as_loaded("stopped")


def test_it_is_forked_and_gone_on_with(enter, upstream, runs):
    tab = enter().open()
    program = runs(tab)
    upstream.plays(Call("shell", {"command": "rg"}))
    first = said(program.asks([SYSTEM, FIRST]))
    upstream.plays(Write("It is the time zone."))
    said(program.asks([SYSTEM, FIRST, first, *results(first, "models.py:88")]))
    opened(tab)
    run = tab.conversation
    tab.press("Fork and go on")
    tab.page.get_by_role("dialog").get_by_role("button", name="Fork").last.click()
    tab.page.wait_for_url(lambda url: "/c/" in url and run not in url)
    expect(tab.page.locator("#conversations li > a").first).not_to_contain_text("Recorded run:")
    expect(calls(tab)).to_contain_text("by the program")
    upstream.plays(Write("Because CI runs in UTC."))
    tab.ask("Why only on CI?")
    tab.expect_text("Because CI runs in UTC.")
    tab.expect_status("complete")


@pytest.mark.parametrize("width", (390, 1280))
def test_nobody_is_kept_out_of_it(enter, upstream, runs, width):
    tab = enter(viewport={"width": width, "height": 900}).open()
    program = runs(tab)
    upstream.plays(Think("Hm."), Call("shell", {"command": "rg due_on"}))
    said(program.asks([SYSTEM, FIRST]))
    path = tab.page.locator("#conversations li > a").first.get_attribute("href")
    tab.open(path)
    tab.expect_status("waiting")
    assert tab.faults() == []
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


REMINDER = "<system-reminder>\nToday is Friday. The person prefers short answers.\n</system-reminder>"
PLACE = "<environment_context>\n  <cwd>/home/me/invoices</cwd>\n  <shell>bash</shell>\n</environment_context>"


def test_what_the_program_put_around_a_question_is_folded_beside_it(enter, upstream, runs):
    tab = enter().open()
    program = runs(tab)
    upstream.plays(Think("Hm."), Write("It is fixed."))
    asked = question(f"{REMINDER}\n{PLACE}\n\nFix the *flaky* test.\n\n{REMINDER}")
    said(program.asks([SYSTEM, asked]))
    opened(tab)
    tab.expect_text("It is fixed.")
    words = tab.questions.locator("[data-kind=user_message]")
    before, behind = words.locator("details.program").all()
    for added in (before, behind):
        expect(added.locator("summary")).to_contain_text("Added by the program")
        expect(added.locator("pre")).to_be_hidden()
    expect(words.locator(":scope > p")).to_have_text("Fix the *flaky* test.")
    before.locator("summary").click()
    expect(before.locator("pre")).to_have_text(f"{REMINDER}\n{PLACE}")
    before.locator("summary").click()
    tab.expect_as_loaded()
    upstream.plays(Write("Yes."))
    said(program.asks([SYSTEM, asked, {"role": "assistant", "content": "It is fixed."}, question("Sure?")]))
    tab.expect_text("Yes.")
    tab.expect_as_loaded()
