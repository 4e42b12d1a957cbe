"""What people ask is set as they typed it; their code, logs, quotes and lists look like what they are."""

from __future__ import annotations

import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatapp.markdown import render_question
from chatapp.markdown.asked.pasted import find_pasted
from chatapp.markdown.asked.question import DEEPEST
from chatapp.markdown.code.html import FOLDED
from chatapp.markdown.renderers import Renderers
from chatapp.markdown.within import SMALL, question_waiting

from .safe_html import read, words

TRACE = """Traceback (most recent call last):
  File "a.py", line 3, in <module>
    f(1)
KeyError: 'a'"""
LOG = """2026-11-19 03:00:00,000 INFO  exporter: 1,204 invoices to write
2026-11-19 03:00:05,685 WARN  exporter: invoice 7731 has no due date, 30 days assumed
2026-11-19 03:00:06,822 DEBUG exporter: row 600 of 1,204"""
JAVA = """Exception in thread "main" java.lang.NullPointerException
    at com.example.Book.getTitle(Book.java:16)
    at com.example.Author.getBooks(Author.java:25)
Caused by: java.io.IOException: no
    ... 3 more"""
PYTHON = """import os

def due(invoice):
    # every invoice has one
    if invoice.due_on is None:
        return None

    return invoice.due_on.isoformat()"""
SCRIPT = """/**
 * Adds two.
 */
function add(a, b) {
  return a + b;
}"""
SESSION = """$ git status
On branch main
nothing to commit
$ git push"""
DIFF = """--- a/x.py
+++ b/x.py
@@ -1,2 +1,2 @@
 same
-old
+new"""
JSON = """{
  "a": 1,
  "b": [2, 3]
}"""
PYTEST = """E   AssertionError: assert 1 == 2
tests/a.py:12: AssertionError
FAILED tests/a.py::test_a - assert 1 == 2"""
QUERY = """SELECT id, total
FROM invoices
WHERE due_on IS NULL
ORDER BY id"""
PROSE = [
    "Dear Bob,\n\n  I hope you are well;\n  the garden is in bloom;\n  and so am I.\n\nYours, A",
    "x = 5\ny = 3\nz = x + y\nWhat is z?",
    "If you have time:\nWith the following:\nFor example:\nClass of 2020:",
    "f(x)\ng(x)\nh(x)",
    "ERROR is a word.\nSo is this.\nUPDATE: still broken",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "Name: Alice\nStreet: Long Road 5\nCity: Ghent",
    "Return to sender\nimport taxes are high\nlet me know\nvar is a word",
    "- Milk\n- Eggs (12)\n- Bread; the dark one",
    "$5 for me\n$6 for you\n$7 for them",
    "@bob look\n@eve look\n# Title\n## Second",
]


def wells(html: str) -> list[str]:
    return [
        part.partition("<code>")[2].partition("</code>")[0] for part in html.split('<div class="code"')[1:]
    ]


def test_a_fence_is_a_well_with_its_colours():
    html = render_question("See:\n\n```python\ndef f(x):\n    return 1\n```\nWhy?")
    assert html.startswith('<p>See:</p><div class="code" data-lang="python"><header')
    assert '<span class="k">def</span> <span class="n">f</span>(x):\n' in html
    assert html.endswith("</code></pre></div><p>Why?</p>")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("~~~\na\n~~~", "a\n"),
        ("  ```\n  a\n    b\n  ```", "a\n  b\n"),
        ("````\n```\n````", "```\n"),
        ("```\nnothing closes it", "nothing closes it\n"),
        ("```\n```", ""),
        ("> ```\n> a\n> ```", "a\n"),
        ("- see\n\n    ```\n    a\n    ```", "a\n"),
    ],
)
def test_a_fence_holds_what_stands_in_it(text, code):
    assert wells(render_question(text)) == [code]


@pytest.mark.parametrize("text", ["a ```b``` c", "```b```", "``\nx\n``", "    ```\n    x"])
def test_what_is_no_fence_stays_as_typed(text):
    html = render_question(text)
    assert wells(html) == [] and words(html) == text.replace("\n", "")


@pytest.mark.parametrize("pasted", [TRACE, LOG, JAVA, PYTHON, SCRIPT, SESSION, DIFF, JSON, PYTEST, QUERY])
@pytest.mark.parametrize("frame", ["{}", "Why?\n{}", "Why does it fail?\n\n{}\n\nThanks!"])
def test_what_was_pasted_without_a_fence_stands_in_a_well(pasted, frame):
    html = render_question(frame.format(pasted))
    assert [words(well) for well in wells(html)] == [f"{pasted}\n"]
    assert ("<p>Thanks!</p>" in html) == ("Thanks" in frame)


@pytest.mark.parametrize("text", PROSE)
def test_prose_is_never_taken_for_code(text):
    assert wells(render_question(text)) == []


@pytest.mark.parametrize(
    "path", sorted(Path("chatapp/providers/demo/topics").glob("*.md")), ids=lambda it: it.name
)
def test_prose_of_some_length_is_never_taken_for_code(path):
    text = path.read_text()
    fences = sum(line.lstrip().startswith("```") for line in text.splitlines()) // 2
    assert len(wells(render_question(text))) == fences


def test_two_lines_are_too_few():
    assert wells(render_question("KeyError: 'a'\nValueError: b")) == []


def test_a_question_between_two_logs_is_a_question():
    html = render_question(f"{LOG}\nand then, why?\n{LOG}")
    assert len(wells(html)) == 2 and "<p>and then, why?</p>" in html


def test_long_code_is_folded_after_its_first_lines():
    lines = [f"a{n} = f({n})\n" for n in range(30)]
    html = render_question("```python\n" + "".join(lines) + "```")
    first, rest = html.split("<details>")
    assert words(wells(first)[0]) == "".join(lines[:FOLDED])
    assert '<span class="more">18 more lines</span><span class="less">Only the first 12 lines</span>' in rest
    assert words(rest.partition("<code>")[2].partition("</code>")[0]) == "".join(lines[FOLDED:])
    assert "<details>" not in render_question("```\n" + "a\n" * FOLDED + "```")
    assert "1 more line<" in render_question("```\n" + "a\n" * (FOLDED + 1) + "```")


def test_quotes_and_lists_are_what_they_are():
    assert render_question(
        "> We never had **that**.\n> Or did we?\n\nTwo things:\n1. Fix it.\n2. Why\n   so?"
    ) == (
        "<blockquote><p>We never had **that**.<br>Or did we?</p></blockquote><p>Two things:</p>"
        '<ol><li value="1">Fix it.</li><li value="2">Why<br>so?</li></ol>'
    )
    assert render_question("- a\n  - b\n- c") == "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>"
    assert render_question("> a\n> - b") == "<blockquote><p>a</p><ul><li>b</li></ul></blockquote>"


def test_numbers_are_those_that_were_typed():
    html = render_question("4) d\n4) e\n\n7) g")
    assert html == '<ol><li value="4">d</li><li value="4">e</li><li value="7">g</li></ol>'


@pytest.mark.parametrize(
    "text",
    [
        *(
            "**x** and *y* and _z_",
            "# x",
            "<b>x</b> &amp;",
            "[a](https://)",
            "$x^2$",
            "x[^1]",
            "---",
            "![a](b)",
        ),
        *(
            "| a |",
            "~~a~~",
            "`a`",
            "a  b\t c",
            "  a\n   b",
            ">>> a",
            ">=5",
            ">a",
            "- - -",
            "1986. It was",
            "-5",
            "*a",
        ),
        *("I was\n- as they say -\nlate", "2\n+ 3\n= 5", "see\n2. that", "-", "- ", "1."),
    ],
)
def test_everything_else_stays_exactly_as_typed(text):
    html = render_question(text)
    assert html.startswith("<p>") and html.count("<p>") == 1
    assert words(html.replace("<br>", "\n")) == text


@given(
    st.lists(
        st.sampled_from([*LOG.split("\n"), *PYTHON.split("\n"), "", "", "  x", "prose", "- a", "> b", "```"])
    )
)
def test_no_line_is_lost_or_doubled(lines):
    found = find_pasted(lines)
    assert all(one.start < one.end <= len(lines) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    text = "\n".join(lines)
    html = re.sub(r"<header.*?</header>|<summary.*?</summary>", "", render_question(text))
    assert re.sub(r"[\s>`-]", "", words(html)) == re.sub(r"[\s>`-]", "", text)


def test_addresses_are_links():
    assert read(render_question("- see https://b.org")).links[0]["href"] == "https://b.org"


def test_hidden_signs_in_code_are_shown():
    assert "x<mark>U+2066</mark>y" in render_question("```\nx\u2066y\n```")


@pytest.mark.parametrize(
    "text", ["", "\x00", "\ud800", "\r", "a\r\n- b\r\n", "\u2028", ">", "> \n> ", "```", "\x0b"]
)
def test_odd_questions_break_nothing(text):
    assert read(render_question(text)).wrong == []


def test_what_is_nested_deeper_than_anybody_nests_stays_as_typed():
    html = render_question("> " * 40 + "a")
    assert html.count("<blockquote>") == DEEPEST and "&gt; &gt; a" in html


# Cost

LONG = 64 * 1024


@pytest.mark.parametrize(
    "piece",
    [
        f"{LOG}\n",
        f"{PYTHON}\n\nand\n\n",
        "> a\n",
        "> \n",
        "- a\n",
        "- a\n  b\nc\n",
        "```\na\n```\n",
        "1. a\n",
        " - a\n\n",
    ],
)
def test_a_long_question_is_set_in_proportion_to_its_length(piece):
    text = piece * (LONG // len(piece))
    began = time.thread_time()
    render_question(text, coloured=False)
    assert time.thread_time() - began < 2


def test_a_question_whose_colours_cost_too_much_has_none():
    renderers = Renderers(size=1, cpu_seconds=0.01)
    try:
        text = "> a\n\n```sql\n" + "/*\n" * (4 * SMALL) + "```"
        [html] = question_waiting(text, renderers=renderers)
    finally:
        renderers.close()
    assert html == render_question(text, coloured=False)
    assert "<blockquote>" in html and '<span class="c"' not in html
