"""Code, in answers and in questions: at the size of the text beside it, with a head that stays, wrapped or folded by choice."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from chatapp.config.mermaid import FOLDER
from tests.browser.looks import PHONE
from tests.browser.reviews.test_reviewing import submit
from tests.browser.sharing.test_sharing import answered, path, shared_by
from tests.browser.steered import Think, Write
from tests.browser.tab import Tab

WIDE = "result = " + " + ".join(f"value_{n}" for n in range(60))
LINES = [WIDE, *(f"line_{n} = {n}" for n in range(59))]
LONG = "Before it.\n\n```python\n" + "\n".join(LINES) + "\n```\n\nAnd `so` on.\n"
DIFF = "```diff\n@@ -1 +1 @@\n same\n-old\n+new\n```\n"
LOG = "\n".join(f"2026-11-19 03:00:{n:02},000 INFO  exporter: row {n}" for n in range(30))
ASKED = f"""Why is **this** so?

```python
def f(x):
    return x
```

{LOG}

> It was never so.

1. First
2. *Then*
"""
SIZE = "(it) => parseFloat(getComputedStyle(it).fontSize)"
TOP = "(it) => Math.round(it.getBoundingClientRect().top)"
HEIGHT = "(it) => it.getBoundingClientRect().height"
SELECTED = """(it) => {
    const range = document.createRange(), selection = getSelection();
    range.selectNodeContents(it);
    selection.removeAllRanges();
    selection.addRange(range);
    return selection.toString();
}"""


def code(tab: Tab) -> Locator:
    return tab.text.locator(".code")


def wraps(block: Locator) -> bool:
    return bool(block.locator("pre").evaluate("(it) => getComputedStyle(it).whiteSpace === 'pre-wrap'"))


def test_code_is_as_large_as_the_text_beside_it(enter, upstream):
    tab = enter().open()
    answered(tab, upstream, "Why?", Think(f"Hm.\n\n{DIFF}"), Write(LONG))
    assert tab.text.locator("p").first.evaluate(SIZE) == 17
    assert code(tab).locator("pre code").evaluate(SIZE) == pytest.approx(15, abs=0.01)
    assert tab.text.locator("p > code").evaluate(SIZE) == pytest.approx(15, abs=0.01)
    tab.answer.locator("details.thought > summary").click()
    inside = tab.answer.locator(".thought .code pre code")
    assert inside.evaluate(SIZE) >= 13


@pytest.mark.parametrize("look", [{}, PHONE])
def test_the_head_of_long_code_stays_in_sight(enter, upstream, look):
    tab = enter(**look).open()
    answered(tab, upstream, "Why?", Write(LONG))
    head = code(tab).locator("header")
    code(tab).evaluate("(it) => scrollTo(0, it.getBoundingClientRect().top + scrollY + 300)")
    tab.next_frames(2)
    bar = tab.page.locator(".top").evaluate("(it) => Math.round(it.getBoundingClientRect().bottom)")
    assert code(tab).evaluate(TOP) < 0
    assert head.evaluate(TOP) == bar
    expect(head).to_contain_text("python")
    expect(head.get_by_role("button", name="Copy code")).to_be_in_viewport()
    assert tab.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def test_long_lines_are_wrapped_by_choice_and_the_browser_remembers_it(enter, upstream):
    tab = enter().open()
    answered(tab, upstream, "Why?", Write(LONG))
    first = code(tab)
    switch = first.get_by_role("checkbox", name="Wrap")
    assert not wraps(first)
    first.locator("pre").focus()
    tab.page.keyboard.press("Shift+Tab")
    tab.page.keyboard.press("Shift+Tab")
    tab.page.keyboard.press("Shift+Tab")
    expect(switch).to_be_focused()
    tab.page.keyboard.press("Space")
    assert wraps(first)
    assert first.locator("pre").evaluate("(it) => it.scrollWidth <= it.clientWidth")

    answered(tab, upstream, "And?", Write(LONG))
    expect(tab.text.get_by_role("checkbox", name="Wrap")).to_be_checked()
    tab.expect_as_loaded()
    tab.reload()
    expect(tab.page.get_by_role("checkbox", name="Wrap").first).to_be_checked()
    expect(tab.text.get_by_role("checkbox", name="Wrap")).to_be_checked()

    tab.text.get_by_role("checkbox", name="Wrap").uncheck()
    assert wraps(tab.answers.first.locator(".code")) and not wraps(code(tab))
    tab.reload()
    expect(tab.text.get_by_role("checkbox", name="Wrap")).not_to_be_checked()


def test_long_code_is_folded_by_choice(enter, upstream):
    tab = enter().open()
    answered(tab, upstream, "Why?", Write(LONG))
    pre, switch = code(tab).locator("pre"), code(tab).get_by_role("checkbox", name="Fold")
    whole = pre.evaluate(HEIGHT)
    switch.focus()
    tab.page.keyboard.press("Space")
    assert pre.evaluate(HEIGHT) < whole / 4
    tab.page.keyboard.press("Space")
    assert pre.evaluate(HEIGHT) == whole
    answered(tab, upstream, "And?", Write(DIFF))
    expect(code(tab).get_by_role("checkbox", name="Fold")).to_have_count(0)


def test_a_diff_shows_its_lines_as_far_as_the_longest_goes(enter, upstream):
    tab = enter(**PHONE).open()
    answered(tab, upstream, "Why?", Write(DIFF.replace("new", f"new {WIDE}")))
    code(tab).locator("pre").evaluate("(it) => (it.scrollLeft = it.scrollWidth)")
    right = "(it) => Math.round(it.getBoundingClientRect().right)"
    edges = {code(tab).locator(which).evaluate(right) for which in (".plus", ".minus")}
    assert edges == {code(tab).locator("pre").evaluate(right)}
    assert code(tab).locator("pre").evaluate(SELECTED).count("\n\n") == 0


def test_without_a_script_code_is_whole_and_every_switch_works(enter, upstream):
    tab = enter().open()
    answered(tab, upstream, ASKED, Write(LONG))
    link = path(shared_by(tab))
    plain = Tab(tab.context.browser.new_context(java_script_enabled=False), tab.url).open(link)
    block = plain.page.locator(".prose .code")
    assert block.locator("pre").text_content().strip().split("\n") == LINES
    block.get_by_role("checkbox", name="Wrap").check()
    assert wraps(block)
    last = plain.page.get_by_text("exporter: row 29")
    expect(last).to_be_hidden()
    plain.page.get_by_text("18 more lines").click()
    expect(last).to_be_visible()
    plain.context.close()


def test_a_question_looks_the_same_to_everybody_and_is_copied_as_it_was_typed(enter, upstream, place):
    tab = enter().open()
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answered(tab, upstream, ASKED, Write("So."))
    expect(tab.page.locator("#title")).to_have_text("Why is this so?")
    tab.expect_as_loaded()
    shown = tab.normal(tab.questions.locator("[data-body] [data-body]"))
    log = tab.questions.locator(".code").nth(1)
    log.get_by_role("button", name="Copy code").click()
    log.get_by_text("Copied").wait_for()
    assert tab.page.evaluate("navigator.clipboard.readText()") == f"{LOG}\n"
    tab.questions.locator(".acts > [data-copy]").click()
    tab.questions.locator(".acts").get_by_text("Copied").wait_for()
    assert tab.page.evaluate("navigator.clipboard.readText()").strip() == ASKED.strip()
    tab.press("Edit", within=tab.questions.last)
    assert tab.page.get_by_role("textbox", name="Edited question").input_value().strip() == ASKED.strip()
    tab.reload()
    conversation = tab.conversation

    tab.open(path(shared_by(tab)))
    assert tab.normal(tab.questions.locator("[data-kind=user_message]")) == shown
    tab.open(f"c/{conversation}/")
    submit(tab, "Is it?")
    assert tab.normal(tab.questions.locator("[data-kind=user_message]")) == shown

    dana = enter()
    place.clerk("promote", name=dana.person)
    dana.open(f"admin/chatapp/conversation/?q={tab.person}")
    dana.page.get_by_role("link", name="Why is this so?").click()
    told = dana.page.locator("[data-kind=user_message]")
    expect(told.locator(".code")).to_have_count(2)
    expect(told.get_by_text("18 more lines")).to_be_visible()


def test_a_question_with_code_reaches_everybody(enter, upstream):
    tab = enter(**PHONE).open()
    answered(tab, upstream, ASKED, Write(LONG + DIFF))
    assert tab.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    tab.questions.get_by_text("18 more lines").click()
    expect(tab.questions.get_by_text("Only the first 12 lines")).to_be_visible()
    assert tab.grave() == []


# Diagrams

DIAGRAM = "```mermaid\ngraph TD;\n  A[Start] --> B{Ready?};\n  B -- yes --> C[Go];\n```\n"
SPYING = """```mermaid
%%{init: {"securityLevel": "loose", "themeCSS": "@import url(http://127.0.0.1:9/css);"}}%%
graph TD;
  A["<img src='http://127.0.0.1:9/img'><script>parent.postMessage(1,'*')</script>"] --> B
  click A "javascript:alert(1)"
```
"""
drawn = pytest.mark.skipif(not FOLDER, reason="requirements/pictures.txt is not installed")


def picture(tab: Tab) -> Locator:
    code(tab).get_by_role("button", name="Picture").press("Enter")
    return code(tab).locator("iframe")


@drawn
@pytest.mark.parametrize("look", [{"color_scheme": "dark"}, PHONE])
def test_a_diagram_is_opened_as_a_picture_and_closed(enter, upstream, look):
    tab = enter(**look).open()
    # The examiner of accessibility speaks to frames by the origin that this one has not.
    tab.forgive("does not match the recipient window's origin")
    answered(tab, upstream, "Why?", Write(DIAGRAM))
    tab.expect_as_loaded()
    frame = picture(tab)
    expect(frame.content_frame.locator("svg")).to_contain_text("Ready?")
    expect(frame).to_have_attribute("sandbox", "allow-scripts")
    tab._wait_for("() => document.querySelector('iframe').clientHeight > 60")
    assert tab.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert tab.grave() == []
    code(tab).get_by_role("button", name="Picture").press("Enter")
    expect(frame).to_have_count(0)
    tab.expect_as_loaded()


@drawn
def test_what_is_no_diagram_is_told_in_words(enter, upstream):
    tab = enter().open()
    answered(tab, upstream, "Why?", Write("```mermaid\ngraph TD; a --\n```\n"))
    picture(tab)
    expect(code(tab).get_by_role("status")).to_contain_text("This diagram cannot be drawn.")
    expect(code(tab).locator("iframe")).to_have_count(0)


@drawn
def test_a_diagram_reaches_nothing_and_nobody(enter, upstream):
    tab = enter().open()
    tab.forgive("Content Security Policy", "sandbox", "ERR_BLOCKED_BY_CSP", "Refused to")
    # What the policy stops is told as a request that failed; it never left the browser.
    asked: list[str] = []
    tab.page.on("requestfinished", lambda request: asked.append(request.url))
    tab.page.on(
        "requestfailed",
        lambda request: request.url.startswith(tab.url) or asked.append(f"{request.failure} {request.url}"),
    )
    answered(tab, upstream, "Why?", Write(SPYING))
    frame = picture(tab).element_handle().content_frame()
    frame.wait_for_selector("svg")
    inside = frame.evaluate("""async () => {
        const found = [];
        const tries = {
            fetch: () => fetch("/conversations/"),
            cookie: () => document.cookie,
            storage: () => localStorage.length,
            parent: () => parent.document.title,
        };
        for (const [name, act] of Object.entries(tries)) await Promise.resolve().then(act).then(() => found.push(name), () => 0);
        return found;
    }""")
    assert inside == []
    assert [url for url in asked if not url.startswith((tab.url, "data:", "blob:", "csp "))] == []
    assert frame.evaluate("document.querySelectorAll('body script').length") == 0
