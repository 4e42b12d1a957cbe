"""Formulas as in print and texts in every script, as a browser draws them."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.steered import Write

FORMULAS = r"""
A formula by its name is \eqref{eq:abs}.

$$
|x| = \begin{cases} x & \text{if } x \ge 0 \\ -x + 0 & \text{otherwise} \end{cases} \label{eq:abs}
$$

\begin{align}
(a+b)^2 &= (a+b)(a+b) \\
        &= a^2 + 2ab + b^2
\end{align}

$$\left(\begin{array}{c|c} 1 & 2 \\ \hline 3 & 4 \end{array}\right) \quad \sum_{n=1}^{\infty} \frac{1}{n^2} = \frac{\pi^2}{6}$$

Water is $\ce{H2O}$, and $g = \SI{9.81}{\metre\per\second\squared}$.
"""
SCRIPTS = """
**注意：**这里 stands beside H<sub>2</sub>O and <kbd>Ctrl</kbd>, with [words](#part) of [a link](/admin/).

مرحبا بالعالم `x = 1`

- سلام دنیا
- hello

<details>
<summary>More of it</summary>

Folded **words**

</details>
"""
# Where the left or the right edges of cells are, one list for each column.
EDGES = """(table) => [...table.querySelectorAll('mtr')].map((row) =>
  [...row.children].map((cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    const box = range.getBoundingClientRect();
    return [box.left, box.right];
  }))"""


def fonts(tab):
    return [url for url in tab.fetched if "formulas" in url and "woff2" in url]


def answered(enter, upstream, text, **look):
    upstream.plays(Write(text))
    tab = enter(**look)
    tab.fetched = []
    tab.page.on("request", lambda request: tab.fetched.append(request.url))
    tab.open()
    tab.ask("Show me")
    tab.expect_status("complete")
    return tab


def test_the_font_of_formulas_comes_where_one_stands_and_not_elsewhere(enter, upstream):
    tab = answered(enter, upstream, "No formula, only $5 and `x`.")
    tab.next_frames(3)
    assert fonts(tab) == []
    upstream.plays(Write("Here is one: $x^2$."))
    tab.ask("And now?")
    expect(tab.page.locator("math")).to_have_count(1)
    tab.page.wait_for_function(
        "document.fonts.check('17px Formulas') && [...document.fonts].some((f) => f.status === 'loaded')"
    )
    assert len(fonts(tab)) == 1
    response = tab.page.request.get(fonts(tab)[0])
    assert response.ok and len(response.body()) <= 100_000


def test_formulas_are_set_as_in_print(enter, upstream):
    tab = answered(enter, upstream, FORMULAS)
    expect(tab.page.locator("math")).to_have_count(6)
    tab.page.wait_for_function("[...document.fonts].some((f) => f.status === 'loaded')")
    tab.next_frames(2)
    tables = tab.page.locator("math mtable mtable")
    values, conditions = zip(*tables.first.evaluate(EDGES), strict=True)
    assert abs(values[0][0] - values[1][0]) < 1.5 and abs(conditions[0][0] - conditions[1][0]) < 1.5
    lines = tab.page.locator("math > mtable").nth(1).evaluate(EDGES)
    assert abs(lines[0][2][0] - lines[1][2][0]) < 1.5
    rows = tables.first.bounding_box()
    brace = tab.page.locator("mo", has_text="{").first.bounding_box()
    assert rows and brace and brace["height"] > 0.8 * rows["height"]
    assert (
        tab.page.locator(".rule-right").first.evaluate("(cell) => getComputedStyle(cell).borderRightStyle")
        == "solid"
    )
    big, below = (tab.page.locator(f"munderover > :nth-child({n})").first.bounding_box() for n in (1, 2))
    assert big and below and below["y"] > big["y"] + big["height"] / 2
    expect(tab.answer).to_contain_text("A formula by its name is (1).")
    tab.expect_as_loaded()
    assert tab.grave() == []


def test_each_block_reads_in_its_direction_and_tags_are_what_they_say(enter, upstream):
    tab = answered(enter, upstream, SCRIPTS)
    paragraph = tab.answer.get_by_text("مرحبا")
    assert paragraph.evaluate("(one) => getComputedStyle(one).direction") == "rtl"
    assert paragraph.locator("code").evaluate("(one) => getComputedStyle(one).direction") == "ltr"
    persian, english = (tab.answer.locator("li").nth(n) for n in (0, 1))
    assert persian.evaluate("(one) => one.matches(':dir(rtl)')") and english.evaluate(
        "(one) => one.matches(':dir(ltr)')"
    )
    assert tab.answer.locator("ul").evaluate("(one) => getComputedStyle(one).direction") == "rtl"
    expect(tab.answer.locator("strong", has_text="注意")).to_be_visible()
    assert tab.answer.locator("sub").inner_text() == "2"
    expect(tab.answer.get_by_role("link", name="words")).to_have_count(0)
    expect(tab.answer.get_by_role("link", name="a link")).to_have_count(0)
    folded = tab.answer.get_by_text("Folded words")
    expect(folded).to_be_hidden()
    tab.answer.get_by_text("More of it").click()
    expect(folded).to_be_visible()
    assert tab.grave() == []


def test_lines_stand_apart_and_words_near_their_arrow(enter, upstream):
    lines, arrow = r"\begin{gathered} a \\ a \end{gathered}", r"A \xrightarrow{d} B"
    tab = answered(enter, upstream, f"$$\n{lines}\n$$\n\n$$\n{arrow}\n$$")
    tab.page.wait_for_function("[...document.fonts].some((font) => font.status === 'loaded')")
    size = tab.page.locator("math").first.evaluate("(it) => parseFloat(getComputedStyle(it).fontSize)")
    first, second = tab.page.locator("mtr mi").evaluate_all(
        "(all) => all.map((it) => it.getBoundingClientRect().top)"
    )
    assert 1.25 * size < second - first < 1.5 * size
    word, sign = (tab.page.locator(one).bounding_box() for one in ("mover mi", "mover > mo"))
    assert word and sign and -0.1 * size < sign["y"] - (word["y"] + word["height"]) < 0.3 * size
