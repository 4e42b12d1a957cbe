"""What lies over what, what is told of things that do not fit, and what is printed."""

from __future__ import annotations

from math import ceil

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.looks import DESKTOP, PHONE
from tests.browser.steered import Think, Write
from tests.browser.words import RICH, paragraphs

WIDE = (
    "| "
    + " | ".join(f"column{n}" for n in range(12))
    + " |\n"
    + "| --- " * 12
    + "|\n"
    + "| value " * 12
    + "|\n"
)
FORMULA = "\n$$\n" + " + ".join(f"a_{{{n}}} x^{{{n}}}" for n in range(40)) + "\n$$\n"
CODE = "\n```python\nresult = " + " + ".join(f"value_{n}" for n in range(60)) + "\n```\n"

SHADED = 15
RED = """async (bytes) => {
    const picture = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.drawImage(picture, 0, 0);
    return canvas.getImageData(0, 0, 1, 1).data[0];
}"""


def answered(tab, upstream, question: str, *steps) -> None:
    upstream.plays(*steps)
    before = tab.questions.count()
    tab.composer.fill(question)
    tab.press("Send")
    expect(tab.questions).to_have_count(before + 1)
    tab.expect_status("complete")


def box(element: Locator) -> dict[str, float]:
    found = element.bounding_box()
    assert found
    return dict(found)


def meet(one: Locator, other: Locator) -> bool:
    """Whether any of the one is over the other."""
    a, b = box(one), box(other)
    beside = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
    return not beside and a["y"] < b["y"] + b["height"] and b["y"] < a["y"] + a["height"]


def red(tab, x: float, y: float) -> int:
    """How bright one point of the picture is, in red."""
    clip = {"x": round(x), "y": ceil(y), "width": 1, "height": 1}
    return int(tab.page.evaluate(RED, list(tab.page.screenshot(clip=clip))))


@pytest.mark.parametrize("look", [PHONE, {"viewport": {"width": 800, "height": 700}}, DESKTOP])
@pytest.mark.parametrize("words", ["Short.", paragraphs(40)])
def test_a_toast_lies_over_no_words_and_not_over_the_composer(enter, upstream, look, words):
    tab = enter(**look).open()
    answered(tab, upstream, "Why?", Write(words))
    answered(tab, upstream, "And then?", Write("Never mind."))
    tab.press("More on this question", within=tab.questions.last)
    tab.press("Delete", within=tab.questions.last)
    tab.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    toast = tab.page.locator("[data-toast]")
    expect(toast).to_have_text("2 messages deletedUndo")
    expect(tab.messages).to_have_count(2)
    assert not meet(toast, tab.page.locator(".composer"))
    if words == "Short.":
        assert not meet(toast, tab.page.locator("#messages"))
    assert not meet(toast, tab.text.locator("p").last)
    assert tab.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("words", [WIDE, FORMULA, CODE])
def test_what_is_wider_than_a_phone_shows_on_which_side_there_is_more(enter, upstream, words):
    tab = enter(**PHONE).open()
    answered(tab, upstream, "Why?", Write(words))
    wide = tab.text.locator(".wide, pre").first
    wide.scroll_into_view_if_needed()
    there = box(wide)
    left, right = there["x"] + 1, there["x"] + there["width"] - 2
    paper = red(tab, left, there["y"])
    assert red(tab, right, there["y"]) < paper - SHADED
    wide.evaluate("(it) => (it.scrollLeft = it.scrollWidth)")
    tab.next_frames(2)
    assert red(tab, right, there["y"]) == pytest.approx(paper, abs=2)
    assert red(tab, left, there["y"]) < paper - SHADED


def test_a_formula_stands_whole_without_being_scrolled(enter, upstream):
    tab = enter(**DESKTOP).open()
    tall = (
        r"\sum_{k=1}^{n} k = \frac{n(n+1)}{2}",
        r"\int_0^\infty e^{-x^2} dx",
        r"\lim_{x\to 0} \frac{a}{b}",
    )
    answered(tab, upstream, "Why?", Write("".join(f"\n$$\n{formula}\n$$\n" for formula in tall)))
    tab.expect_as_loaded()
    formulas = tab.text.locator(".wide:has(math)")
    expect(formulas).to_have_count(len(tall))
    rest = "(all) => all.map((it) => it.scrollHeight - it.clientHeight)"
    assert formulas.evaluate_all(rest) == [0] * len(tall)


def test_paper_has_nothing_to_press_and_cuts_nothing(enter, upstream):
    tab = enter(viewport={"width": 700, "height": 900}, color_scheme="dark").open()
    answered(tab, upstream, "Why?", Think("Hm. "), Write(RICH + WIDE + CODE))
    answered(tab, upstream, "And?", Think("Hm. "), Write("So."))
    tab.answers.first.locator("details.thought > summary").click()
    tab.page.emulate_media(media="print")
    expect(tab.page.get_by_role("button")).to_have_count(0)
    expect(tab.page.get_by_role("textbox")).to_have_count(0)
    expect(tab.answers.first.locator(".thought [data-body]")).to_be_visible()
    expect(tab.answer.locator(".thought > summary")).to_contain_text("Thought for")
    expect(tab.answer.locator(".thought [data-body]")).to_be_hidden()
    cut = """() => [...document.querySelectorAll(".code pre, .wide:has(table)")]
        .filter((it) => it.scrollWidth > it.clientWidth || it.scrollHeight > it.clientHeight).length"""
    assert tab.page.locator(".code pre").count() == 2
    assert tab.page.evaluate(cut) == 0
    arrows = "() => [...document.querySelectorAll('summary')].filter((it) => getComputedStyle(it, '::before').display !== 'none').length"
    assert tab.page.evaluate(arrows) == 0
    assert tab.page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


def test_the_questions_that_are_counted_are_those_of_the_branch_on_screen(enter, upstream):
    tab = enter().open()
    count = tab.page.locator("#questions")
    answered(tab, upstream, "Why?", Write("One."))
    tab.expect_as_loaded()
    expect(count).to_have_text("1 question")
    answered(tab, upstream, "And then?", Write("Two."))
    expect(count).to_have_text("2 questions")
    tab.press("Edit", within=tab.questions.first)
    tab.page.get_by_role("textbox", name="Edited question").fill("Why not?")
    upstream.plays(Write("Three."))
    tab.page.locator("form.edit").get_by_role("button", name="Ask", exact=True).click()
    tab.expect_text("Three.")
    tab.expect_status("complete")
    expect(count).to_have_text("1 question on this branch")
    answered(tab, upstream, "And?", Write("Four."))
    expect(count).to_have_text("2 questions on this branch")
    tab.reload()
    expect(count).to_have_text("2 questions on this branch")


def test_on_a_phone_the_number_of_tools_keeps_its_distance_from_send(enter):
    tab = enter(**PHONE, prefers={"default_model": "demo:thinker"}).open()
    number = tab.page.locator("[data-tools] b").bounding_box()
    send = tab.page.get_by_role("button", name="Send", exact=True).bounding_box()
    assert number["x"] + number["width"] + 8 <= send["x"]
    assert (
        send["x"] + send["width"] <= tab.composer.bounding_box()["x"] + tab.composer.bounding_box()["width"]
    )
