"""A text that is still being written: what is finished is told once. What its end looks like: tests/browser/live/test_growing.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatapp.markdown import Growing, GrowingPieces, render_blocks
from chatapp.markdown.growing import MOST_DEFINED
from chatapp.markdown.pieces import LONGEST
from chatapp.markdown.tail import Known
from chatapp.markdown.whole import MOST_SIGNS

from .hostile import hostile
from .safe_html import words

STREAMS = Path(__file__).parent.parent / "providers/streams"
TOPICS = Path(__file__).parents[2] / "chatapp/providers/demo/topics"
TEXTS = sorted({*TOPICS.glob("*.md"), *STREAMS.rglob("*.*")})


def told(text: str, step: int = 1) -> tuple[list[str], list[tuple[int, str]]]:
    growing = Growing()
    found: list[str] = []
    for end in range(0, len(text) + 1, step):
        found += growing.feed(text[:end])
    assert found == growing.given
    return found, growing.finish(text)


@pytest.mark.parametrize(
    ("before", "then"),
    [
        ("a\n\nb", "\n"),
        ("a\n# b", "\n"),
        ("- a\n\nb", "\n"),
        ("```\na\n```", "\n"),
        ("---", "\n"),
        ("$$\nx\n$$", "\n"),
        ("|a|\n|-|\n|b|\n\nc", "\n"),
    ],
)
def test_a_block_is_finished_when_what_follows_has_a_whole_line(before, then):
    growing = Growing()
    assert growing.feed(before) == []
    assert len(growing.feed(before + then)) >= 1


def test_each_block_is_told_once_and_in_order():
    text = "# a\n\nb\n\n- c\n- d\n\n```py\ne\n```\n\nf\n"
    found, late = told(text)
    assert [words(html).strip() for html in found] == ["a", "b", "c\nd", "pyWrapCopy codee"]
    assert [place for place, _ in late] == [4]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_real_texts_end_as_a_reload_shows_them(path):
    text = path.read_text(errors="replace")[:20_000]
    found, late = told(text, step=17)
    page = dict(enumerate(found)) | dict(late)
    assert [page[place] for place in sorted(page) if page[place]] == render_blocks(text)


def test_a_late_definition_changes_only_the_block_that_used_it():
    found, late = told("see [a]\n\nother\n\nlast\n\n[a]: https://b.org\n")
    assert len(found) == 2
    assert [place for place, _ in late] == [0, 2]


def test_a_link_whose_address_comes_late_is_its_words_until_then():
    found, late = told("see [the *book*][a] and [it][]\n\nother\n\n[a]: https://b.org\n\nlast\n")
    fresh = '<span class="fresh">{}</span>'
    assert found[0] == f'<p dir="auto">see {fresh.format("the <em>book</em>")} and {fresh.format("it")}</p>'
    assert late[0][0] == 0 and "book</em></a> and [it][]" in late[0][1]


@pytest.mark.parametrize(
    "text", ["a[ij][jk]", "[1][2]", "[i][j]", "[ab][^c d]", "[ab] [c]", "(a)[bc][d]", "[ab]\n[c]"]
)
def test_what_is_more_often_no_link_awaits_no_address(text):
    assert "<span" not in told(f"{text}\n\nb\n\nc")[0][0]


def test_an_early_definition_is_known_to_later_blocks():
    found, late = told("[a]: https://b.org\n\nsee [a]\n\nand [a]\n\nend\n")
    assert all("https://b.org" in html for html in found)
    assert len(found) == 2 and [place for place, _ in late] == [2]


def test_numbered_footnotes_look_right_before_their_notes_come():
    found, late = told("a[^1] b[^2]\n\nc[^1]\n\nd\n\n[^1]: one\n[^2]: two\n")
    assert len(found) == 3 and "fnref---1.1" in found[1]
    assert [place for place, _ in late] == [3]
    assert late[0][1].startswith("<section")


def test_named_footnotes_have_their_number_before_their_notes_come():
    text = "a[^note] b[^other-2] c[^note]\n\nd [^a-z]\n\n[^note]: one\n\n[^other-2]: two\n"
    found, late = told(text)
    assert [words(html) for html in found[:2]] == ["a1 b2 c1", "d [^a-z]"]
    assert [place for place, _ in late if place < len(found)] == []


def test_a_mark_without_a_note_becomes_text_at_the_end():
    found, late = told("a[^1]\n\nb\n")
    assert "<sup>" in found[0] and late[0] == (0, '<p dir="auto">a[^1]</p>')


@pytest.mark.parametrize("line", ["- a line of a list\n", "- a line\n\n", "\n", "    code\n\n", "> a\n>\n\n"])
def test_a_long_block_is_not_parsed_again_for_every_line(line):
    growing, looks = Growing(), 0
    text = line * 1000
    for end in range(0, len(text), len(line)):
        looks += growing.look(text[:end])
    assert looks < 200


def test_a_text_that_defines_too_much_is_shown_as_it_is_until_its_end():
    text = "".join(f"[a{n}]: https://b.org\n" for n in range(MOST_DEFINED + 1)) + "\nsee [a1]\n\nend\n\n"
    growing = Growing()
    growing.feed(text)
    assert growing.lost and growing.feed(text + "more\n\nlast\n") == []
    page = dict(enumerate(growing.given)) | dict(growing.finish(text))
    assert [html for html in page.values() if html] == render_blocks(text)


def test_carriage_returns_cut_anywhere_change_nothing():
    text = "a\r\n\r\n- b\r\n- c\r\rd\r\n"
    found, late = told(text)
    assert [*found, *(html for _, html in late)] == render_blocks(text)


def test_a_text_beyond_all_bounds_is_shown_as_it_is():
    text = "a\n\n" * (MOST_SIGNS // 3 + 1)
    growing = Growing()
    assert growing.feed(text) == []
    assert growing.finish(text) == [(0, f'<pre class="plain">{text}</pre>')]


def pieces(*letters: str) -> list[str]:
    found = GrowingPieces()
    return [source for each in letters for source, _ in found.feed(each, Known())]


@pytest.mark.parametrize(
    ("letters", "source"),
    [
        (["with $x", "_1", "$ and"], "$x_1$"),
        (["\\", "(a", "\\", ")"], r"\(a\)"),
        (["$", "$a", "$", "$"], "$$a$$"),
        (["- so\n  $$\n  a\n  $$"], "$$\na\n$$"),
        (["see [the *book*](https", "://a.b/c_(d)", ") now"], "[the *book*](https://a.b/c_(d))"),
    ],
)
def test_a_formula_and_a_link_are_told_when_their_last_sign_has_come(letters, source):
    assert pieces(*letters) == [source]


@pytest.mark.parametrize(
    "text",
    [
        "from $5 to $10",
        "$ a $",
        "[a](javascript:b)",
        "[a] (https://b.c)",
        "`$x",
        "[evil.org](https://b.c)",
        f"${'x' * LONGEST}$",
    ],
)
def test_nothing_else_is_told(text):
    assert pieces(text) == pieces(*text) == []


def test_a_piece_is_told_once():
    assert pieces("$x$ and $x$", " or $x$") == ["$x$"]


@pytest.mark.parametrize(("size", "step"), [(200, 1), (1000, 97), (1000, 500)])
def test_hostile_texts_end_as_a_reload_shows_them(size, step):
    for name, text in hostile(size).items():
        found, late = told(f"{text}\n\nThe end of it.\n\n", step=step)
        page = dict(enumerate(found)) | dict(late)
        assert [page[place] for place in sorted(page) if page[place]] == render_blocks(
            f"{text}\n\nThe end of it.\n\n"
        ), name
