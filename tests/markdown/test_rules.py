"""Scripts of the world and the few bare tags: what CommonMark does not say, and where it is left as it is."""

from __future__ import annotations

import pytest

from chatapp.markdown import Growing, render, render_blocks
from chatapp.markdown.rules.details import MOST_LINES, MOST_NESTED

from .safe_html import read, words


def one(text: str) -> str:
    [html] = render_blocks(text)
    return html.removeprefix('<p dir="auto">').removesuffix("</p>")


# Emphasis beside scripts without blanks


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**注意：**这里", "<strong>注意：</strong>这里"),
        ("**“重要”**的是", "<strong>“重要”</strong>的是"),
        ('这是**"引用"**的', '这是<strong>"引用"</strong>的'),
        ("**Gemini (AI)**是", "<strong>Gemini (AI)</strong>是"),
        ("これは**「大事」**です。", "これは<strong>「大事」</strong>です。"),
        ("**마크다운(Markdown)**은", "<strong>마크다운(Markdown)</strong>은"),
        ("*中文。*Text", "<em>中文。</em>Text"),
        ("~~旧：~~新", "<s>旧：</s>新"),
        ("中**文**字", "中<strong>文</strong>字"),
    ],
)
def test_bold_ends_where_a_chinese_sentence_ends_it(text, html):
    assert one(text) == html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ('a**"b"**c', 'a**"b"**c'),
        ("** a**", "** a**"),
        ("**注意： **这里", "**注意： **这里"),
        ("_中_文", "_中_文"),
        ("snake_case_name", "snake_case_name"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("**😀!**a", "**😀!**a"),
    ],
)
def test_elsewhere_emphasis_is_as_commonmark_says(text, html):
    assert one(text) == html


# Directions


def test_every_block_reads_in_its_own_direction():
    html = render(
        "# a\n\nb\n\n> c\n\n- d\n\n  e\n\n|f|\n|-|\n|g|\n\n```\nh\n```\n\n<details>\n<summary>i</summary>\n\nj\n\n</details>"
    )
    for opening in ("h1", "p", "blockquote", "li", "th", "td", "summary"):
        assert f'<{opening} dir="auto">' in html
    assert "<pre dir" not in html and "<code dir" not in html


def test_a_quote_and_a_point_take_their_direction_from_their_first_letter():
    """An element with a direction of its own is not looked into."""
    for text in ("> سلام", "- سلام\n\n  hi", "a[^1]\n\n[^1]: سلام"):
        assert "<p>" in render(text)


# Tags


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("H<sub>2</sub>O", "H<sub>2</sub>O"),
        ("x<SUP>2</SUP>", "x<sup>2</sup>"),
        ("<kbd>Ctrl</kbd>+<mark>*c*</mark>", "<kbd>Ctrl</kbd>+<mark><em>c</em></mark>"),
        ("<sub>a<sup>b</sup></sub>", "<sub>a<sup>b</sup></sub>"),
        ("<sub>a", "&lt;sub&gt;a"),
        ("a</sub>", "a&lt;/sub&gt;"),
        ("*a<sub>b*c</sub>", "<em>a&lt;sub&gt;b</em>c&lt;/sub&gt;"),
        ("<sub>a<sup>b</sub>c</sup>", "<sub>a&lt;sup&gt;b</sub>c&lt;/sup&gt;"),
        ("<sub class=a>b</sub>", "&lt;sub class=a&gt;b&lt;/sub&gt;"),
        ("`<sub>a</sub>`", "<code>&lt;sub&gt;a&lt;/sub&gt;</code>"),
        ("<b>a</b>", "&lt;b&gt;a&lt;/b&gt;"),
    ],
)
def test_a_bare_tag_with_its_partner_is_what_it_says(text, html):
    assert one(text) == html


def test_a_tag_that_nothing_closes_swallows_nothing():
    assert words(render("x<sup>2\n\nnext")) == "x<sup>2\nnext"


def test_what_folds_has_its_title_and_markdown_inside():
    html = one("<details>\n<summary>More **of** it</summary>\n\n- a\n\n```py\nb\n```\n\n</details>")
    assert html.startswith('<details>\n<summary dir="auto">More <strong>of</strong> it</summary>\n<ul>')
    assert html.endswith("</details>") and 'data-lang="py"' in html
    assert read(html).wrong == []


def test_what_folds_may_hold_another_and_ends_at_its_own_end():
    html, after = render_blocks(
        "<details><summary><b>A</b></summary>\nx\n<details>\n<summary>B</summary>\ny\n</details>\nz\n</details>\nafter"
    )
    assert html.count("<details>") == html.count("</details>") == 2
    assert words(html).split() == ["A", "x", "B", "y", "z"] and words(after) == "after"


@pytest.mark.parametrize(
    "text",
    [
        "<details>\n\na",
        "</details>\n\na",
        "- <details>\n  a\n  </details>",
        "<details open>\na\n</details>",
        "<details>a</details>",
    ],
)
def test_what_is_not_a_whole_fold_stays_words(text):
    assert "<details" not in render(text) and "details&gt;" in render(text)


def test_a_fold_that_nothing_closes_holds_back_no_more_than_some_lines():
    text = "<details>\n\n" + "a\n\n" * MOST_LINES + "b\n"
    growing = Growing()
    for end in range(0, len(text), 9):
        growing.feed(text[:end])
    assert len(growing.given) > MOST_LINES / 2
    assert [new for place, new in growing.finish(text) if place < len(growing.given)] == []


def test_a_fold_is_finished_with_its_end():
    text = "<details>\n<summary>T</summary>\n\na\n\nb\n\n</details>\n\nafter\n"
    growing = Growing()
    found = [html for end in range(len(text) + 1) for html in growing.feed(text[:end])]
    assert found == render_blocks(text)[:1]


def test_parts_in_parts_in_parts_fold_a_few_times_only():
    html = render("<details>\n" * 50 + "a\n" + "</details>\n" * 50)
    assert html.count("<details>") == MOST_NESTED
    assert html.count("&lt;details&gt;") == 50 - MOST_NESTED
    assert read(html).wrong == []
