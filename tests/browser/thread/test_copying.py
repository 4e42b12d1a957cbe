"""What a reader takes along: the answer as Markdown, a piece of code, a link; and a word that it was taken."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.whole_browser

CODE = "\n\n```python\nprint('<here>')\n```"
NO_CLIPBOARD = "void Object.defineProperty(navigator, 'clipboard', {value: undefined})"
REFUSING = "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')) }"


@pytest.fixture
def page(enter, place):
    """Alice looks at an answer with code in it."""
    tab = enter()
    tab.forgive("ERR_INTERNET_DISCONNECTED", "WebSocket")
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    pk = place.clerk("conversation", owner=tab.person, turns=1, says=[CODE])
    return tab.open(f"c/{pk}/").page


def taken(page) -> str:
    return page.evaluate("navigator.clipboard.readText()")


def copy(page):
    return page.locator("article[data-role=assistant] .acts > [data-copy]")


def told(page) -> str:
    return page.locator("#news").text_content()


def until(page, words: str) -> None:
    page.wait_for_function("words => document.getElementById('news').textContent === words", arg=words)


def test_an_answer_its_code_and_a_link_are_copied(page):
    copy(page).click()
    until(page, "Copied")
    answer = taken(page)
    assert "```" in answer and "<" not in answer.split("```")[0]
    assert copy(page).get_by_text("Copied").is_visible()
    copy(page).get_by_text("Copied").wait_for(state="detached")
    assert copy(page).locator("svg").is_visible()

    code = page.locator("article .code").first
    code.locator("[data-copy-code]").click()
    code.get_by_text("Copied").wait_for()
    assert taken(page) == code.locator("pre").text_content()
    assert taken(page).strip() in answer

    page.locator("[data-copy-link]").dispatch_event("click")
    page.wait_for_function("navigator.clipboard.readText().then(text => text.startsWith('http'))")
    link = taken(page)
    message = page.locator("article[data-role=assistant]").get_attribute("data-message-id")
    assert link.endswith(f"?at={message}#m-{message}")
    page.goto(link)
    assert page.locator(f"#m-{message}").is_visible()


def test_a_page_without_a_clipboard_copies_the_old_way(page):
    page.evaluate(NO_CLIPBOARD)
    copy(page).click()
    until(page, "Copied")
    focused = page.evaluate("document.activeElement.hasAttribute('data-copy')")
    assert focused and not page.locator("textarea.unseen").count()
    page.reload()
    assert "```" in taken(page)


def test_a_clipboard_that_refuses_is_told_in_words(page):
    page.evaluate(REFUSING)
    copy(page).click()
    copy(page).get_by_text("Not copied").wait_for()
    assert "did not allow copying" in told(page)


def test_a_server_that_is_gone_is_told_in_words(page):
    page.context.set_offline(True)
    copy(page).click()
    copy(page).get_by_text("Not copied").wait_for()
    assert "The server did not give the text" in told(page)
