"""The mark stands in a block where its letters stood when it was cut, and never where it would break something."""

from __future__ import annotations

import re

import pytest

from chatapp.markdown import render_blocks
from chatapp.markdown.seams import MARK, marked

TABLE = "| City | People |\n|---|---|\n| Ghent | 265,000 |\n| Lisbon | 545,000 |\n| Bergen | 291,000 |"


def cut(text: str, at: int) -> str:
    """The last block that was there when it was cut, with its mark, once it has gone on."""
    before = render_blocks(text[:at])
    return marked(render_blocks(text)[len(before) - 1], before[-1])


def without(html: str) -> str:
    return re.sub(r'<tr class="seam-row">.*?</tr>', "", html).replace(MARK, "")


def words(html: str) -> str:
    return re.sub(r"<[^>]*>|\s+", "", html)


@pytest.mark.parametrize("at", range(1, len(TABLE) - 2))
def test_a_table_has_it_as_a_row_of_its_own(at):
    html = cut(TABLE, at)
    assert without(html) == render_blocks(TABLE)[0]
    assert html.count('<tr class="seam-row"><td colspan="2">') == 1


def test_it_says_when_it_was_cut_in_words_that_are_no_part_of_the_text():
    html = marked(render_blocks("One two")[0], render_blocks("One")[0], 'stopped at "14:09"')
    assert (
        html
        == '<p dir="auto">One<span class="seam"><small data-said="stopped at &quot;14:09&quot;"></small></span> two</p>'
    )


def test_the_row_stands_behind_the_one_that_was_cut():
    html = cut(TABLE, TABLE.index("545") + 2)
    assert html.index("545,000") < html.index("seam") < html.index("Bergen")


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("Say it **twi¦ce or** more, then stop.", "Sayittwice", "ormore,thenstop."),
        ("- One\n- Two¦ of a kind\n- Three", "OneTwo", "ofakindThree"),
        ("> It was s¦aid before that.", "Itwassaid", "beforethat."),
        (
            "```python\nfirst = 1\nsec¦ond = first + 1\nlast\n```",
            "pythonWrapCopycodefirst=1second=first+1",
            "last",
        ),
        ("```python\nfirst = 1\n¦\n    last\n```", "pythonWrapCopycodefirst=1", "last"),
    ],
)
def test_words_have_it_between_them_and_it_parts_none(text, before, after):
    whole = text.replace("¦", "")
    html = cut(whole, text.index("¦"))
    assert without(html) == render_blocks(whole)[0]
    assert [words(side) for side in html.split(MARK)] == [before, after]


@pytest.mark.parametrize(
    "text", ["It is $\\frac{a+b}{c}$ and more", "See [the handbook](https://example.com/a) now"]
)
@pytest.mark.parametrize("at", range(5, 25))
def test_a_formula_and_a_link_are_not_parted(text, at):
    html = cut(text, at)
    assert without(html) == render_blocks(text)[0]
    for inside in re.findall(r"<math.*?</math>|<a .*?</a>", html):
        assert MARK not in inside


def test_a_block_that_did_not_go_on_has_none():
    html = render_blocks("All of it.")[0]
    assert marked(html, html) == html


def test_code_that_names_its_language_late_has_it_in_its_lines():
    before, whole = render_blocks("```py")[0], render_blocks("```python\nx = 1\n```")[0]
    html = marked(whole, before)
    assert html.index("<code") < html.index(MARK)
    assert without(html) == whole
