"""What a watcher was given block by block is what a reload shows, for any text cut at any places."""

from __future__ import annotations

from itertools import pairwise

import pytest

from chatapp.markdown import Growing, GrowingPieces, render_blocks
from chatapp.markdown.tail import Known

from .safe_html import read

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")

LINES = (
    *(
        "",
        "",
        "",
        "a",
        "b **c**",
        "    code",
        "  more",
        "# h",
        "## h *x",
        "===",
        "---",
        "--",
        "-",
        "- a",
        "- [ ] t",
        "  - b",
    ),
    *(
        "* a",
        "+ b",
        "1. a",
        "2) b",
        "10. c",
        "   d",
        "> q",
        ">",
        "> - q",
        "> $$",
        "```",
        "```py",
        "~~~",
        "````",
        "  ```",
        "    ```",
        "~~~~ ",
    ),
    *(
        "| a | b |",
        "|---|---|",
        "|-|",
        "a | b",
        "--|--",
        "| 1 | 2 |",
        "-|-x",
        "$$",
        "$$ x",
        "x $$",
        "$$x$$",
        r"\[",
        r"\]",
    ),
    *(
        r"\[ y",
        "$a$ $b",
        "= c",
        "+ d",
        "[x]: /u",
        "[r]: https://r.org",
        '"title',
        'more"',
        "see [r] and [x]",
        "[^1]: note",
    ),
    *(
        "n[^1]",
        "[^b]: other",
        "m[^b]",
        "***",
        "* * *",
        "<br>",
        "<div>",
        "</div>",
        "&amp;",
        "\\",
        "a  ",
        "\tt",
        "- ",
        "-   - a",
    ),
    *(
        "`a",
        "b`",
        "**",
        "![i](http://i.org)",
        "https://a.org/(b",
        "[l](",
        "http://a.org)",
        "- ```",
        "  x = 1",
        "\u2028",
        "\x0b",
        "<details>",
        "<details><summary>s</summary>",
        "<summary>s</summary>",
        "</details>",
        "> <details>",
        "H<sub>2</sub> *a<sup>b* c</sup>",
        "<kbd>k",
        "</kbd>",
        "**注意：**这里",
        "\\begin{align}",
        "\\end{align}",
        "$\\def\\a{b}\\a$",
        "$\\a \\tag{1}$",
        "[m](#here)",
    ),
)
# What is defined later may change what was told: those lines are left out of the stricter law.
LATE = ("[r]:", "[x]:", "[^b]:", "[^1]:", "n[^1]")

texts = st.lists(st.sampled_from(LINES), max_size=14).map("\n".join)
wild = st.text(alphabet="ab \n\n-*_`~#>|$[]()!^:1.\\=+<\t\r", max_size=80)
# None: at every sign.
cuts = st.one_of(st.none(), st.lists(st.integers(0, 200), max_size=12))


def streamed(text: str, at: list[int] | None) -> tuple[list[str], list[tuple[int, str]], Growing]:
    growing = Growing(message="m", key="k")
    told: list[str] = []
    for end in range(len(text)) if at is None else sorted(at):
        told += growing.feed(text[:end])
    return told, growing.finish(text), growing


def pieces(text: str, at: list[int] | None) -> list[tuple[str, str]]:
    places = range(len(text) + 1) if at is None else [0, *sorted(at), len(text)]
    found = GrowingPieces(message="m", key="k")
    return [piece for a, b in pairwise(places) for piece in found.feed(text[a:b], Known())]


def mended(told: list[str], changes: list[tuple[int, str]]) -> list[str]:
    page = dict(enumerate(told)) | dict(changes)
    return [page[place] for place in sorted(page) if page[place]]


@hypothesis.settings(deadline=None, max_examples=200)
@hypothesis.given(st.one_of(texts, wild), cuts)
def test_what_was_told_with_its_corrections_is_what_a_reload_shows(text, at):
    told, changes, _ = streamed(text, at)
    assert mended(told, changes) == render_blocks(text, message="m", key="k")


@hypothesis.settings(deadline=None, max_examples=200)
@hypothesis.given(
    st.lists(st.sampled_from([line for line in LINES if not line.startswith(LATE)]), max_size=14), cuts
)
def test_a_finished_block_never_changes_unless_something_is_defined_late(lines, at):
    told, changes, _ = streamed("\n".join(lines), at)
    assert [place for place, _ in changes if place < len(told)] == []


@hypothesis.settings(deadline=None, max_examples=200)
@hypothesis.given(st.one_of(texts, wild), cuts)
def test_the_pieces_of_an_open_end_are_clean_html(text, at):
    assert [html for _, html in pieces(text, at) if read(html).wrong or len(read(html).roots) != 1] == []


@hypothesis.settings(deadline=None, max_examples=200)
@hypothesis.given(st.one_of(texts, wild))
def test_every_block_is_one_element_of_clean_html(text):
    for html in render_blocks(text):
        reader = read(html)
        assert reader.wrong == []
        assert len(reader.roots) == 1
