"""The open end of an answer looks as if it were finished: letters take their shape in the page, and the server has the last word."""

from __future__ import annotations

import re
from html import unescape

import pytest
from playwright.sync_api import Page, expect

from bench.finished import answers
from bench.growing.judged import raw_signs
from chatapp.markdown import render_blocks
from tests.browser.words import RICH
from tests.markdown.examples import examples
from tests.markdown.hostile import hostile
from tests.markdown.test_budget import BOMBS
from tests.support.attacks import ATTACKS

pytestmark = pytest.mark.whole_browser

# What the page's own painter makes of letters that come one after the other; the caret is left out.
PAINTED = """async (texts) => {
  const { write, paint, settle } = await import(document.querySelector("link[href*='js/growing']").href);
  const body = document.createElement("div");
  document.getElementById("main").append(body);
  const caret = / ?<i class="caret"><\\/i>/g, growing = / data-growing=""/g;
  const html = texts.map((text) => {
    for (const sign of text) write(body, sign), paint(body);
    const made = body.innerHTML;
    settle(body);
    return made.replace(caret, "").replace(growing, "").replaceAll(' dir="auto"', "");
  });
  body.remove();
  return html;
}"""
# The words of each beginning of a text, with a sign in place of each formula, as in looks.js.
BEGINNINGS = """async ([texts, step]) => {
  const { begin, paint } = await import(document.querySelector("link[href*='js/growing']").href);
  const body = document.createElement("div");
  document.getElementById("main").append(body);
  const words = () => {
    const copy = body.cloneNode(true);
    for (const one of copy.querySelectorAll("header, .footnotes")) one.remove();
    for (const one of copy.querySelectorAll(".forming")) one.replaceWith("\\uFFFC");
    for (const one of copy.querySelectorAll("input")) one.replaceWith("\\u2610");
    return copy.textContent.replace(/\\s+/g, "");
  };
  const found = texts.map((text) => {
    const looks = [];
    for (let end = step; end < text.length + step; end += step) begin(body, text.slice(0, end)), paint(body), looks.push(words());
    return looks;
  });
  body.remove();
  return found;
}"""
TABLE = '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>'
FORMING = '<span class="forming">a formula</span>'
HALF = {
    "| City | Peo": f"{TABLE}<thead><tr><th>City</th><th>Peo</th></tr></thead></table></div>",
    "| City | People |\n|--": f"{TABLE}<thead><tr><th>City</th><th>People</th></tr></thead></table></div>",
    "| a | b |\n|--|-:|\n| c | **d": f"{TABLE}<thead><tr><th>a</th><th align=\"right\">b</th></tr></thead>"
    '<tbody><tr><td>c</td><td align="right"><strong>d</strong></td></tr></tbody></table></div>',
    "a **b": "<p>a <strong>b</strong></p>",
    "a **b*": "<p>a <strong>b</strong></p>",
    "a **b *c": "<p>a <strong>b <em>c</em></strong></p>",
    "a ***b": "<p>a <em><strong>b</strong></em></p>",
    "a ~~b": "<p>a <s>b</s></p>",
    "**a** and **": "<p><strong>a</strong> and</p>",
    "a `b": "<p>a <code>b</code></p>",
    "a ``b ` c`": "<p>a <code>b ` c</code></p>",
    "see [the pa": '<p>see <span class="fresh">the pa</span></p>',
    "see [the **pa": '<p>see <span class="fresh">the <strong>pa</strong></span></p>',
    "see [the page](https://exam": '<p>see <span class="fresh">the page</span></p>',
    "see [the page](https://b.c) now": '<p>see <span class="fresh">the page</span> now</p>',
    "a[^1] b": '<p>a<sup><span class="fresh">1</span></sup> b</p>',
    "a[^note] b[^other] c[^no": '<p>a<sup><span class="fresh">1</span></sup> b<sup><span class="fresh">2</span></sup> c</p>',
    "a[^a-z] b": "<p>a[^a-z] b</p>",
    "a[^": "<p>a</p>",
    "see [the *page*][b] now": '<p>see <span class="fresh">the <em>page</em></span> now</p>',
    "see [the page][b": '<p>see <span class="fresh">the page</span></p>',
    "see [": "<p>see</p>",
    "| a | b |\n|--|--|\n| c | $": f"{TABLE}<thead><tr><th>a</th><th>b</th></tr></thead>"
    "<tbody><tr><td>c</td><td></td></tr></tbody></table></div>",
    "so *$": "<p>so</p>",
    "at <htt": "<p>at</p>",
    "in a[ij][jk] and [1][2]": "<p>in a[ij][jk] and [1][2]</p>",
    "[**x** y](src/a.py) z": "<p><strong>x</strong> y z</p>",
    "f [x](y) z": "<p>f [x](y) z</p>",
    "the sum $n(n+": f"<p>the sum {FORMING}</p>",
    "so \\(x": f"<p>so {FORMING}</p>",
    "- [ ] to d": '<ul><li><input type="checkbox" disabled="" aria-label="To do"> to d</li></ul>',
    "- a\n- [x": "<ul><li>a</li></ul>",
    "1. a\n2. `b": "<ol><li>a</li><li><code>b</code></li></ol>",
    "1. a\n2": "<ol><li>a</li></ol>",
    "- a\n  - b\n    1": "<ul><li>a<ul><li>b</li></ul></li></ul>",
    "3) a": '<ol start="3"><li>a</li></ol>',
    "a\n#": "<p>a</p>",
    "## A *hea": "<h2>A <em>hea</em></h2>",
    "> a\n> **b": "<blockquote><p>a<br>\n<strong>b</strong></p></blockquote>",
    "a\n==": "<p>a</p>",
    "a\n\n``": "<p>a</p>",
    "a\n\n---\nb": "<p>a</p><hr><p>b</p>",
    "<https://a.b/": '<p><span class="fresh">https://a.b/</span></p>',
    "a<c": "<p>a&lt;c</p>",
    "x<su": "<p>x</p>",
    "x<sup>2</su": "<p>x<sup>2</sup></p>",
    "press <kbd>Ctrl</kbd>+<kbd>C": "<p>press <kbd>Ctrl</kbd>+<kbd>C</kbd></p>",
    "a <b>b": "<p>a &lt;b&gt;b</p>",
    "<det": "",
    "<details>\n<summary>More **of": "<details><summary>More <strong>of</strong></summary></details>",
    "<details>\n<summary>T</summary>\n\n- a": "<details><summary>T</summary><ul><li>a</li></ul></details>",
    "**注意：**这里": "<p><strong>注意：</strong>这里</p>",
    "[x](javascript:alert(1))": "<p>[x](javascript:alert(1))</p>",
}  # fmt: skip
NO_OPENINGS = (
    "It costs $5 and $10, or $1,200 a month, from $HOME to there.",
    "A snake_case name, my_file_name.py and 2 * 3 = 6, 5*3 too, a lone * star.",
    "In [0, 1] and a[3], 3 > 2 - 1 + 4 ~ 5 # 6 | 7.",
)
# All that it may make, and how it may be marked.
STRANGE = """async (texts) => {
  const { begin, paint } = await import(document.querySelector("link[href*='js/growing']").href);
  const NAMES = `p h1 h2 h3 h4 h5 h6 hr ul ol li blockquote div span pre code strong em s sub sup kbd mark details summary label br i input
    table thead tbody tr th td header button b`;
  const MARKS = `class align start type disabled checked tabindex role aria-label data-display data-growing data-lang
    data-copy-code width dir data-wrap data-wraps data-fold data-folds autocomplete hidden title`;
  const names = new Set(NAMES.split(/\\s+/)), marks = new Set(MARKS.split(/\\s+/)), found = new Set();
  const body = document.createElement("div");
  document.getElementById("main").append(body);
  for (const text of texts) {
    for (let end = 1; end <= text.length; end++) {
      begin(body, text.slice(0, end));
      paint(body);
      for (const one of body.querySelectorAll("*")) {
        if (!names.has(one.localName)) found.add(one.localName);
        for (const { name } of one.attributes) if (!marks.has(name)) found.add(`${one.localName} ${name}`);
      }
    }
  }
  body.remove();
  return [...found];
}"""


@pytest.fixture
def page(enter) -> Page:
    found: Page = enter().open().page
    return found


def test_what_is_half_written_looks_finished(page):
    made = page.evaluate(PAINTED, list(HALF))
    assert dict(zip(HALF, made, strict=True)) == HALF


def test_an_open_fence_is_a_well(page):
    [made] = page.evaluate(PAINTED, ["a\n```py\nx = `1`\n``"])
    assert re.fullmatch(
        r'<p>a</p><div class="code" data-lang="py"><header.*py.*</header><pre tabindex="0"><code>x = `1`\n</code></pre></div>',
        made,
    )


@pytest.mark.parametrize("text", NO_OPENINGS)
def test_what_opens_nothing_is_never_taken_for_an_opening(page, text):
    every = page.evaluate(PAINTED, [text[:end] for end in range(1, len(text) + 1)])
    assert {found for html in every for found in re.findall(r"<(?!/?p>)[^>]*>", html)} == set()
    assert every[-1] == f"<p>{text.replace('>', '&gt;')}</p>"


def test_the_page_says_what_the_server_will_say(page):
    """Of whole answers: the same words in the same order, whoever shaped them."""
    texts = [text + "\n\n" for text in [*answers("").values(), RICH]]
    shown = [looks[-1] for looks in page.evaluate(BEGINNINGS, [texts, 10_000])]
    for text, found in zip(texts, shown, strict=True):
        assert list(raw_signs(found, _words(text))) == []


def test_the_page_reads_nearly_all_of_the_specification_as_the_server_does(page):
    """Links that are defined elsewhere make most of the difference: their words are told from signs when all is told."""
    texts = [f"{each.markdown}\n\nThe end.\n\n" for each in examples()]
    shown = [looks[-1] for looks in page.evaluate(BEGINNINGS, [texts, 10_000])]
    others = [text for text, found in zip(texts, shown, strict=True) if found != _words(text)]
    assert len([text for text in others if "]" not in text]) <= 10
    assert len(others) <= 72


def test_nothing_that_markdown_knows_makes_the_page_stumble(page):
    """It does not throw at any sign of any example of the specification."""
    texts = [each.markdown for each in examples()]
    assert all(page.evaluate(BEGINNINGS, [texts, 1]))


def test_no_beginning_of_an_answer_shows_signs_of_markdown(page):
    """One look in fifty may, where nobody can know yet what it will be."""
    texts = list(answers("").values())
    looks = raw = 0
    for text, beginnings in zip(texts, page.evaluate(BEGINNINGS, [texts, 3]), strict=True):
        whole = _words(text)
        looks += len(beginnings)
        raw += sum(any(raw_signs(beginning, whole)) for beginning in beginnings)
    assert looks > 4000
    assert raw < looks / 50


def _words(text: str) -> str:
    """Of the finished answer, as looks.js has them."""
    html = "".join(html for html in render_blocks(text) if not html.startswith("<section"))
    html = re.sub(r"<header.*?</header>", "", html, flags=re.DOTALL)
    html = re.sub(r"<math.*?</math>|<code title.*?</code>", "\ufffc", html, flags=re.DOTALL)
    html = re.sub(r"<input[^>]*>", "\u2610", html)
    words = re.sub(r"<[^>]*>", "", html)
    return re.sub(r"\s+", "", unescape(words))


def test_hostile_letters_make_text_and_a_few_elements_alone(page):
    assert page.evaluate(STRANGE, list(ATTACKS)) == []


def test_a_formula_and_a_link_are_there_when_their_last_sign_has_come(enter, upstream):
    tab = enter().open()
    tab.ask("What?")
    answer = upstream.next_answer()
    answer.write("- with $x_1")
    expect(tab.text.locator("[data-growing] .forming")).to_be_visible()
    answer.write("$ in [the book](https://exam")
    expect(tab.text.locator("[data-growing] math")).to_be_visible()
    expect(tab.text.locator("[data-growing] .fresh")).to_have_text("the book")
    assert tab.text.get_by_role("link").count() == 0
    answer.write("ple.org/b)")
    expect(tab.text.get_by_role("link", name="the book")).to_have_attribute("href", "https://example.org/b")
    answer.finish()
    tab.expect_as_loaded()


WIDTHS = """() => [...document.querySelectorAll("article[data-role=assistant] th")].map((one) => one.getBoundingClientRect().width)"""


def test_a_table_keeps_the_columns_of_its_first_row_until_the_answer_is_complete(enter, upstream):
    tab = enter(viewport={"width": 1000, "height": 700}).open()
    tab.ask("What?")
    answer = upstream.next_answer()
    answer.write("| a | b |\n|--|--|\n| one | two |\n| th")
    expect(tab.text.locator("table.held")).to_be_visible()
    before = tab.page.evaluate(WIDTHS)
    for words in (
        "ree words and many more of them",
        " | four |\n",
        "| five | six |\n\nAnd",
        " then\n\nthe end.\n",
    ):
        answer.write(words)
        tab.expect_shown(words.strip().removeprefix("| ").rstrip("|").strip().rpartition(" ")[2])
        assert tab.page.evaluate(WIDTHS) == before
    answer.finish()
    tab.expect_as_loaded()
    assert tab.page.evaluate(WIDTHS) != before


def test_what_is_selected_in_a_growing_block_stays_selected_when_it_is_finished(enter, upstream):
    tab = enter().open()
    tab.ask("What?")
    answer = upstream.next_answer()
    answer.write("1. One **point** of three\n2. and another")
    tab.expect_shown("another")
    tab.text.locator("li").first.select_text()
    selected = tab.page.evaluate("String(getSelection())")
    for words in (" one,\n3. and `the` last.\n\n", "Then more.\n\n", "The end."):
        answer.write(words)
        tab.expect_shown(words.replace("`", "").split()[-1])
        assert tab.page.evaluate("String(getSelection())") == selected
    answer.finish()
    tab.expect_as_loaded()
    assert tab.page.evaluate("String(getSelection())") == selected == "One point of three"


SHAPED = """async (texts) => {
  const { shapes } = await import(document.querySelector("link[href*='js/shapes']").href);
  const slow = [];
  for (const [name, text] of texts) {
    const began = performance.now();
    shapes(text);
    const took = performance.now() - began;
    if (took > 10_000) slow.push([name, took]);
  }
  return slow;
}"""


SEAMED = """async (texts) => {
  const { begin, paint } = await import(document.querySelector("link[href*='js/growing']").href);
  const body = document.createElement("div");
  document.getElementById("main").append(body);
  for (const text of texts) for (let end = 1; end <= text.length; end++) begin(body, text.slice(0, end), [[end >> 1, "when"]]), paint(body);
  body.remove();
  return true;
}"""


def test_no_beginning_of_a_hostile_text_makes_the_page_stumble_wherever_it_was_cut(page):
    assert page.evaluate(SEAMED, list(hostile(80).values()))


def test_no_letters_take_a_page_long_to_shape(page):
    """As many as a page shapes at all. What grows with the square of them takes minutes."""
    texts = [[name, (text * (1 + 60_000 // len(text)))[:60_000]] for name, text in BOMBS.items()]
    texts += [[name, text[:60_000]] for name, text in hostile(60_000).items()]
    spaces = [[name, f"{name}{' ' * 60_000}b"] for name in ("", "a", "# ", "- ", "> ", "| ", "`")]
    assert page.evaluate(SHAPED, texts + spaces) == []
