"""A run wherever else conversations are seen: compared, shared, reviewed, read by an administrator, on the map, in the figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import NamedTuple

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import DEFAULT_MODEL
from tests.browser.looks import on_both
from tests.browser.steered import Call, Think, Write
from tests.browser.tab import Tab
from tests.support.patience import PATIENCE

pytest.importorskip("openai")

from .program import NAME, SYSTEM, Message, Program, question, results

FIRST = question("Why does test_due_date fail now and then?")
FITS = "document.scrollingElement.scrollWidth <= innerWidth"


def said(asked: Future[Message]) -> Message:
    return asked.result(PATIENCE)


class Run(NamedTuple):
    """Of the person in the tab: a call with its result, where the program then departed and left a call behind, and went on."""

    tab: Tab
    conversation: str


@pytest.fixture
def run(enter, upstream, place) -> Iterator[Callable[..., Run]]:
    programs = []

    def run(**look) -> Run:
        tab = enter(**look).open()
        secret = place.clerk("key", owner=tab.person, name=NAME, is_recorded=True)
        program = Program(place.url, secret, DEFAULT_MODEL)
        programs.append(program)
        upstream.plays(Think("Two different todays."), Call("shell", {"command": "rg due_on"}))
        history = [SYSTEM, FIRST]
        first = said(program.asks(history))
        history += [first, *results(first, "models.py:88: due_on = date.today()")]
        upstream.plays(Think("That is the day of the machine."), Write("I would mock the clock."))
        answer = said(program.asks(history))
        history.append(answer)
        upstream.plays(Think("Mock it."), Call("apply_patch", {"command": "mock"}))
        said(program.asks([*history, question("Do that.")]))
        upstream.plays(Think("Better."), Write("Use `localdate()` instead."))
        said(program.asks([*history, question("No, repair the model.")]))
        row = tab.page.locator("#conversations li > a").first
        tab.open(row.get_attribute("href"))
        tab.expect_text("Use localdate() instead.")
        return Run(tab, tab.conversation)

    yield run
    for program in programs:
        program.close()
    assert place.clerk("breaches") == []


def expect_reachable(tab: Tab) -> None:
    assert tab.faults() == []
    assert tab.page.evaluate(FITS)


def expect_in_its_style(tab: Tab) -> None:
    """What is the program's has its looks: on a phone a sign stands for who calls, elsewhere the words do."""
    call = tab.page.locator("details[data-kind=tool_call] > summary").filter(visible=True).first
    is_small = bool(tab.page.evaluate("innerWidth < 768"))
    expect(call.locator(".by .icon")).to_be_visible(visible=is_small)


def side(tab: Tab, name: str) -> Locator:
    return tab.page.get_by_role("region", name=f"Branch {name}", exact=True)


@on_both
def test_its_map_shows_where_it_departed_and_what_was_left_behind(run, look):
    tab, conversation = run(**look)
    tab.open(f"c/{conversation}/map/")
    rows = tab.page.locator(".map li")
    expect(rows).to_have_count(6)
    left = rows.filter(has_text="Do that.")
    expect(left).to_be_visible()
    expect(tab.page.locator(".map")).to_contain_text("stopped")
    expect_reachable(tab)
    left.get_by_role("button").first.click()
    tab.page.wait_for_url(re.compile(f"/c/{conversation}/"))
    expect(tab.answer).to_contain_text("The program left this answer behind and asked elsewhere")


@on_both
def test_its_branches_are_compared(run, look):
    tab, _ = run(**look)
    tab.questions.last.get_by_role("group", name="Branches").get_by_role("link", name="Compare").click()
    expect(tab.page.get_by_role("heading", name="Compare two branches")).to_be_visible()
    expect(tab.page.get_by_text("Here they part, after 2 messages in common")).to_be_visible()
    expect(side(tab, "A")).to_contain_text("its result never came")
    expect(side(tab, "A")).to_contain_text("The program left this answer behind and asked elsewhere")
    expect(side(tab, "B")).to_contain_text("Use localdate() instead.")
    expect_in_its_style(tab)
    expect_reachable(tab)


@on_both
def test_whoever_has_a_link_reads_it_without_what_the_program_was_told(run, browser, look):
    tab, _ = run(**look)
    tab.press("Share", within=tab.answer)
    dialog = tab.page.get_by_role("dialog", name="Share this branch")
    dialog.get_by_role("button", name="Create link").click()
    link = dialog.get_by_label("Link", exact=True).input_value()
    stranger = Tab(browser.new_context(**look), tab.url)
    try:
        stranger.page.goto(link)
        expect(stranger.answers).to_have_count(2)
        expect(stranger.answers.first.locator("details[data-kind=tool_call]")).to_contain_text(
            "by the program"
        )
        expect(stranger.page.locator("body")).not_to_contain_text("You are a coding agent")
        expect(stranger.page.locator("body")).not_to_contain_text("departs here")
        expect_in_its_style(stranger)
        expect_reachable(stranger)
        assert stranger.wrong == []
    finally:
        stranger.context.close()


@on_both
def test_its_reviewer_reads_the_whole_tree(run, enter, place, look):
    tab, _ = run(**look)
    tab.press("More on this answer", within=tab.answer)
    tab.press("Submit for review", within=tab.answer)
    dialog = tab.page.get_by_role("dialog", name="Submit for review")
    dialog.get_by_role("radio", name=re.compile("The whole tree")).check()
    dialog.get_by_label("Your question to the reviewer").fill(f"Is {tab.person} right?")
    dialog.get_by_role("button", name="Submit", exact=True).click()
    tab.page.wait_for_url("**/review/**")
    bob = enter(**look)
    place.clerk("reviews", name=bob.person)
    bob.open("review/")
    row = bob.page.get_by_role("row").filter(has_text=f"Is {tab.person} right?")
    expect(row).to_contain_text("2 branches")
    row.get_by_role("button", name=re.compile("^Take")).click()
    expect(bob.page.get_by_text(f"Is {tab.person} right?")).to_be_visible()
    bob.expect_text("Use localdate() instead.")
    expect_in_its_style(bob)
    bob.press("Previous branch", within=bob.questions.last)
    expect(bob.answer).to_contain_text("The program left this answer behind and asked elsewhere")
    expect(bob.answer).to_contain_text("its result never came")
    assert bob.page.get_by_text("You are a coding agent.").count() == 0
    expect_reachable(bob)


@on_both
def test_an_administrator_reads_every_branch_of_it(run, enter, place, look):
    tab, _ = run(**look)
    dana = enter(**look)
    place.clerk("promote", name=dana.person)
    dana.open(f"admin/chatapp/conversation/?q={tab.person}")
    dana.page.get_by_role("link", name=re.compile("Why does test_due_date fail")).click()
    expect(dana.page.get_by_text(f"{tab.person} can see that you looked")).to_be_visible()
    expect(dana.page.get_by_text("Use localdate() instead.").first).to_be_attached()
    dana.page.get_by_role("button", name="Previous branch").last.click()
    expect(dana.page.get_by_text("The program left this answer behind and asked elsewhere")).to_be_visible()
    expect(dana.page.get_by_text("You are a coding agent.").first).to_be_attached()
    expect_in_its_style(dana)
    expect_reachable(dana)


@on_both
def test_the_figures_count_its_answers_by_request(run, enter, place, look):
    tab, _ = run(**look)
    dana = enter(**look)
    place.clerk("promote", name=dana.person)
    dana.open("insight/")
    expect(dana.page.get_by_role("heading", name="How long it thought")).to_be_visible()
    mine = dana.page.get_by_role("row").filter(has_text=tab.person)
    expect(mine.first).to_contain_text("4")
    expect_reachable(dana)
