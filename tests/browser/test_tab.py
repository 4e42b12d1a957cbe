"""The tests' own tab: it tells what goes wrong, and two ways to the same page look alike to it."""

from __future__ import annotations

import pytest

from .tab import Tab


@pytest.fixture
def tab(browser):
    tab = Tab(browser.new_context(), "about:blank")
    tab.page.goto("about:blank")
    yield tab
    tab.context.close()


def normal(tab: Tab, html: str) -> str:
    tab.page.set_content(f"<main>{html}</main>")
    return tab.normal(tab.page.locator("main"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<p>a</p> <p>b</p>", "<p>a</p>\n<p>b</p>"),
        ("<p id=a class='x y'>a</p>", "<p class='y x' id=a>a</p>"),
        ("<details open><summary>a</summary></details>", "<details><summary>a</summary></details>"),
        ("<p class=htmx-settling>a</p>", "<p>a</p>"),
        ("<input name=key value=1>", "<input name=key value=2>"),
        ("a<!-- b -->", "a"),
    ],
)
def test_these_are_the_same_page(tab, one, other):
    assert normal(tab, one) == normal(tab, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<p>a</p>", "<p>a</p><p>a</p>"),
        ("<p>ab</p>", "<p>a b</p>"),
        ("<pre>a\nb</pre>", "<pre>a b</pre>"),
        ("<p data-status=running>a</p>", "<p data-status=complete>a</p>"),
        ("<p>a</p>", "<div>a</div>"),
        ("<input name=text value=1>", "<input name=text value=2>"),
    ],
)
def test_these_are_not(tab, one, other):
    assert normal(tab, one) != normal(tab, other)


def test_text_that_came_in_pieces_is_one_text(tab):
    tab.page.set_content("<main></main>")
    tab.page.evaluate("['a', 'b'].forEach(letter => document.querySelector('main').append(letter))")
    assert tab.normal(tab.page.locator("main")) == normal(tab, "ab")


def test_what_goes_wrong_in_a_page_is_told(tab):
    tab.page.evaluate("console.error('that was wrong')")
    with tab.page.expect_event("pageerror"):
        tab.page.evaluate("setTimeout(() => { throw new Error('that was worse') })")
    assert len(tab.wrong) == 2
    tab.forgive("that was wrong")
    assert ["that was worse" in words for words in tab.wrong] == [True]


def test_grave_findings_of_axe_are_told(tab):
    tab.page.set_content("<html lang=en><title>A page</title><main><h1>Fine</h1></main>")
    assert tab.grave() == []
    tab.page.set_content("<html lang=en><title>A page</title><main><button></button></main>")
    assert [words.partition(" ")[0] for words in tab.grave()] == ["button-name"]


FOLDS = """<style>
  :root { interpolate-size: allow-keywords }
  details::details-content { height: 0; overflow: clip; transition: height 1s, content-visibility 1s allow-discrete }
  details[open]::details-content { height: auto }
</style>
<main id="thread"><details open><summary>a</summary><p>b</p></details><p class="below">c</p></main>"""


def test_what_folds_has_folded_before_a_place_is_watched(tab):
    tab.page.set_content(FOLDS)
    tab.next_frames(3)
    tab.page.evaluate("document.querySelector('details').open = false")
    tab.watch_place(tab.page.locator(".below"))
    tab.next_frames(20)
    assert tab.wandered() == 0
