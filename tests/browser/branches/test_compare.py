"""Two branches side by side: found from where one reads, read on a wide screen and on a phone, and safe to look at."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.looks import DESKTOP, PHONE, on_both
from tests.browser.sharing.test_sharing import answered
from tests.browser.steered import Call, Think, Write
from tests.browser.tab import Tab
from tests.browser.thread.test_attacks import NOTHING_FOREIGN, TRAP
from tests.browser.words import RICH, THOUGHT, paragraphs
from tests.support.attacks import ATTACKS

from .test_branching import again

TOP, LEFT = "(it) => it.getBoundingClientRect().top", "(it) => it.getBoundingClientRect().left"
IS_WHOLE = """(id) => {
    const { left, right } = document.getElementById(id).getBoundingClientRect();
    return left >= 0 && right <= innerWidth;
}"""
FITS = "document.documentElement.scrollWidth <= innerWidth"


def side(tab: Tab, name: str) -> Locator:
    return tab.page.get_by_role("region", name=f"Branch {name}", exact=True)


def compare(tab: Tab) -> None:
    """By the picker of the last answer."""
    tab.answer.get_by_role("group", name="Branches").get_by_role("link", name="Compare").click()
    expect(tab.page.get_by_role("heading", name="Compare two branches")).to_be_visible()


def two_answers(tab: Tab, upstream) -> None:
    answered(tab, upstream, "Why?", Think(THOUGHT), Write("The first way."))
    again(tab, upstream, Think(THOUGHT), Write(RICH))


def test_the_bar_leads_there_as_soon_as_there_are_two_branches(enter, upstream):
    tab = enter(**DESKTOP).open()
    link = tab.page.get_by_role("navigation", name="Conversation", exact=True).get_by_role(
        "link", name="Compare"
    )
    answered(tab, upstream, "Why?", Write("The first way."))
    expect(link).to_have_count(0)
    again(tab, upstream, Write("The second way."))
    link.click()
    expect(tab.page.get_by_text("Choose the first of the two branches")).to_be_visible()
    for way in ("first", "second"):
        tab.page.get_by_role("button", name=f"The {way} way.").click()
    expect(tab.page.get_by_role("heading", name="Compare two branches")).to_be_visible()


def test_from_the_picker_to_both_and_back(enter, upstream):
    tab = enter(**DESKTOP).open()
    two_answers(tab, upstream)
    conversation = tab.conversation
    compare(tab)
    expect(tab.page.get_by_text("Here they part, after 1 message in common")).to_be_visible()
    expect(side(tab, "A")).to_contain_text("The first way.")
    expect(side(tab, "B").get_by_role("table").last).to_be_visible()
    thought = side(tab, "A").locator("details[data-kind=reasoning]")
    expect(thought.locator("summary")).to_have_text("Thought for 1 second")
    thought.locator("summary").click()
    expect(thought.get_by_text("First one side, then the other.")).to_be_visible()
    expect(tab.page.get_by_role("row", name=re.compile("^Thinking"))).to_contain_text("1 s in 1 step")
    expect(tab.page.get_by_role("button", name="Edit")).to_have_count(0)
    side(tab, "A").get_by_role("link", name="Open").click()
    tab.page.wait_for_url(f"**/c/{conversation}/**")
    tab.expect_text("The first way.")


def test_other_siblings_are_chosen_on_the_page(enter, upstream):
    tab = enter(**DESKTOP).open()
    two_answers(tab, upstream)
    again(tab, upstream, Write("The third way."))
    compare(tab)
    tab.page.get_by_role("combobox", name="Branch A").select_option(label="1: gpt-5, The first way.")
    tab.press("Compare these")
    expect(side(tab, "A")).to_contain_text("The first way.")
    expect(side(tab, "B")).to_contain_text("The third way.")


def test_two_branches_are_chosen_on_the_map(enter, upstream):
    tab = enter().open()
    two_answers(tab, upstream)
    tab.open(f"c/{tab.conversation}/map/")
    tab.page.get_by_role("link", name="Compare two branches").click()
    rows = tab.page.locator(".map li")
    rows.nth(2).get_by_role("button").click()
    expect(tab.page.get_by_text("Now choose the second branch")).to_be_visible()
    rows.nth(1).get_by_role("button").click()
    expect(side(tab, "A").get_by_role("table").last).to_be_visible()
    expect(side(tab, "B")).to_contain_text("The first way.")


def test_a_fork_and_its_source_stand_side_by_side(enter, upstream):
    tab = enter(**DESKTOP).open()
    answered(tab, upstream, "Why?", Think("Hm. "), Write("The first way."))
    source = tab.page.url
    tab.press("Fork", within=tab.answer)
    tab.page.get_by_role("dialog").get_by_role("button", name="Fork").click()
    tab.page.wait_for_url(lambda url: url.split("#")[0] != source.split("#")[0])
    answered(tab, upstream, "And in the fork?", Write("In the fork it is so."))
    fork = tab.page.url
    tab.page.goto(source)
    answered(tab, upstream, "And here?", Write("Here it is so."))
    tab.page.goto(fork)
    tab.page.get_by_role("link", name="Compare with it").click()
    expect(tab.page.get_by_text("Here they part, after 2 messages in common")).to_be_visible()
    expect(side(tab, "A")).to_contain_text("Here it is so.")
    expect(side(tab, "B")).to_contain_text("In the fork it is so.")
    tab.page.get_by_text("Before they part").click()
    expect(tab.page.get_by_text("The first way.")).to_be_visible()


def test_both_scroll_together_and_what_belongs_together_stands_together(enter, upstream):
    """As long as both go on; an answer that is short leaves room, a thought that is opened moves both."""
    tab = enter(**DESKTOP).open()
    answered(tab, upstream, "Why?", Think(THOUGHT * 5), Write("Short."))
    answered(tab, upstream, "And then?", Write("One."))
    upstream.plays(Write(paragraphs(30)))
    tab.press("Ask again", within=tab.answers.first)
    expect(tab.messages).to_have_count(2)
    tab.expect_status("complete")
    answered(tab, upstream, "And then?", Write("Two."))
    tab.answers.first.get_by_role("link", name="Compare").click()
    seconds = [side(tab, name).locator("article[data-role=user]") for name in "AB"]
    expect(seconds[1]).to_contain_text("And then?")

    def heights() -> list[float]:
        return [one.evaluate(TOP) for one in seconds]

    before = heights()
    assert abs(before[0] - before[1]) < 1
    tab.page.mouse.wheel(0, 500)
    tab.page.wait_for_function("() => scrollY > 400")
    scrolled = heights()
    assert scrolled[0] < before[0] - 300 and abs(scrolled[0] - scrolled[1]) < 1


def test_on_a_phone_one_comes_after_the_other_and_the_page_stands_still(enter, upstream):
    tab = enter(**PHONE).open()
    upstream.plays(Think(THOUGHT), Call("calculator", {"expression": "6*7"}))
    answered(tab, upstream, "Why?", Write("The first way.\n\n" + RICH))
    again(tab, upstream, Think(THOUGHT), Write(f"{'long' * 60}\n\n{RICH}"))
    compare(tab)
    page, one, two = tab.page, side(tab, "A"), side(tab, "B")
    assert page.evaluate(FITS)
    for part in (one, two):
        assert 300 <= part.evaluate("(it) => it.clientWidth") <= 390
    assert 0 <= one.evaluate(LEFT) < 50 and two.evaluate(LEFT) > 300
    one.get_by_role("link", name="To branch B").click()
    page.wait_for_function(IS_WHOLE, arg="side-b")
    assert page.evaluate(FITS) and page.evaluate("scrollX") == 0
    two.get_by_role("link", name="To branch A").click()
    page.wait_for_function(IS_WHOLE, arg="side-a")
    page.evaluate("document.querySelectorAll('main details').forEach((it) => (it.open = true))")
    assert page.evaluate(FITS)


@on_both
def test_nothing_keeps_anybody_out(enter, upstream, look):
    tab = enter(**look, reduced_motion="reduce").open()
    upstream.plays(Think(THOUGHT), Call("calculator", {"expression": "6*7"}))
    answered(tab, upstream, "Why?", Think(THOUGHT), Write(RICH))
    again(tab, upstream, Think(THOUGHT), Write("The second way."))
    assert tab.grave() == []
    conversation = tab.conversation
    compare(tab)
    assert tab.grave() == [] and tab.page.evaluate(FITS)
    tab.page.evaluate("document.querySelectorAll('main details').forEach((it) => (it.open = true))")
    assert tab.grave() == [] and tab.page.evaluate(FITS)
    tab.open(f"c/{conversation}/map/?choose=1")
    assert tab.grave() == [] and tab.page.evaluate(FITS)


def test_without_scripts_all_of_it_works(enter, upstream):
    alice = enter().open()
    two_answers(alice, upstream)
    plain = Tab(alice.context.browser.new_context(java_script_enabled=False), alice.url)
    plain.context.add_cookies(alice.context.cookies())
    plain.page.goto(alice.page.url)
    compare(plain)
    side(plain, "B").locator("summary", has_text="Thought for").first.click()
    expect(side(plain, "B").get_by_text("First one side, then the other.").first).to_be_visible()
    plain.page.get_by_role("combobox", name="Branch B").select_option(index=0)
    plain.press("Compare these")
    expect(plain.page.get_by_text("one and the same branch")).to_be_visible()
    plain.context.close()


@pytest.mark.parametrize("bypass", [False, True], ids=["csp", "no csp"])
def test_nothing_that_stands_side_by_side_runs(enter, place, bypass):
    tab = enter(bypass_csp=bypass)
    tab.forgive("Content Security Policy", "ERR_", "MIME", "Refused")
    last = []
    for attacks in (ATTACKS, ATTACKS[::-1]):
        tab.open(f"c/{place.clerk('items_of', owner=tab.person, attacks=attacks)}/")
        last.append(tab.message_id())
    tab.context.add_init_script(TRAP)
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(request.url.removeprefix(tab.url.rstrip("/"))))
    for start in (0, 20):
        tab.open(f"compare/?a={last[0]}&b={last[1]}&from={start}")
        expect(tab.page.get_by_text("They have nothing in common")).to_be_visible()
        tab.page.evaluate("document.querySelectorAll('details').forEach((it) => (it.open = true))")
        tab.next_frames(3)
        assert tab.page.evaluate("window.ran") == 0
        assert tab.page.evaluate(NOTHING_FOREIGN.replace("#messages", "main .sheet")) == []
    ours = ("/compare/", "/static/", "/conversations/", "/ws/")
    assert [url for url in asked if not url.startswith(ours)] == []
