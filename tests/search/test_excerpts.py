"""What is shown of a text in which words were found: as it is read, with the places marked, whatever the text is."""

from __future__ import annotations

import pytest

from chatapp.core.items import Kind
from chatapp.search.forms import terms_of
from chatapp.search.page.excerpts import LONGEST, excerpt, marked

ANSWER, QUESTION = Kind.ASSISTANT_MESSAGE, Kind.USER_MESSAGE


def shown(text: str, words: str, kind: Kind = ANSWER) -> str:
    """With what is marked in brackets."""
    pieces = excerpt(text, terms_of(words), kind)
    return "".join(f"⟦{piece.text}⟧" if piece.is_marked else piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("text", "words", "read"),
    [
        ("Take **the row** first", "row", "Take the ⟦row⟧ first"),
        ("Take `the_row` first", "the_row", "Take ⟦the_row⟧ first"),
        ("## The *rows*", "rows", "The ⟦rows⟧"),
        ("> said ~~once~~ __and twice__", "twice", "said once and ⟦twice⟧"),
        ("- one\n- [x] two\n3. three", "two", "• one\n• ⟦two⟧\n3. three"),
        ("See [the rows](https://rows.example/a?b=c).", "rows", "See the ⟦rows⟧."),
        ("![A barrel](https://a.example/b.png) of rain", "barrel", "A ⟦barrel⟧ of rain"),
        ("So:\n\n```python\na = b ** 2  # *is*\n```\nDone.", "is", "So:\n\na = b ** 2  # *⟦is⟧*\nDone."),
        ("| City | People |\n|---|---|\n| Ghent | 265 |", "ghent", " City · People \n\n ⟦Ghent⟧ · 265 "),
        ("A rule\n\n---\n\nand more", "more", "A rule\n\n\n\nand ⟦more⟧"),
        ("**`code`** and *__both of them__*", "both", "code and ⟦both⟧ of them"),
        (
            "銀座の寿司は**東京**の名物です。*とても*うまい",
            "名物",
            "銀座の寿司は東京の⟦名物⟧です。とてもうまい",
        ),
        ("[`a*b`](b) * c * d", "c", "a*b * ⟦c⟧ * d"),
    ],
)
def test_words_are_shown_as_they_are_read(text, words, read):
    assert shown(text, words) == read


@pytest.mark.parametrize(
    ("text", "words", "read"),
    [
        ("Take **the row** first", "**", "Take ⟦**⟧the row⟦**⟧ first"),
        ("Take **the row** first", "**the", "Take ⟦**the⟧ row** first"),
        ("See [them](https://rows.example) all", "rows", "See [them](https://⟦rows⟧.example) all"),
        ("See [rows](https://rows.example) all", "rows", "See ⟦rows⟧ all"),
        ("```python\nx\n```", "python", "```⟦python⟧\nx\n"),
        ("# One\n# Two", "#", "⟦#⟧ One\n⟦#⟧ Two"),
    ],
)
def test_signs_that_were_looked_for_stand_there_where_nothing_else_has_them(text, words, read):
    assert shown(text, words) == read


@pytest.mark.parametrize(
    "text",
    ["2 * 3 * 4 rows", "*args, **kwargs of rows", "snake_case_rows", "SELECT * FROM rows", r"C:\temp\rows"],
)
def test_what_only_looks_like_a_sign_stays(text):
    assert shown(text, "rows") == text.replace("rows", "⟦rows⟧")


def test_questions_stand_as_they_were_typed_but_for_their_fences():
    assert shown("**Why** `a`?\n```\nrows\n```", "rows", QUESTION) == "**Why** `a`?\n⟦rows⟧\n"
    assert shown("**rows**", "rows", Kind.TOOL_RESULT) == "**⟦rows⟧**"


@pytest.mark.parametrize("at", [0, 79, 900, 1001, 7150, 8180, 8192, 20_000])
@pytest.mark.parametrize("filling", ["word ", "**bold** ", "x", "東", "\n", "*", "[a](b) "])
def test_the_place_is_marked_wherever_it_is(at, filling):
    """Also where a long text is looked through in pieces, and one of them ends in the middle of it."""
    before = (filling * at)[:at]
    text = f"{before}\nthe needle's eye\n{filling * 500}"
    found = excerpt(text, terms_of('"the needle\'s eye"'), ANSWER)
    assert [piece.text for piece in found if piece.is_marked] == ["the needle's eye"]
    assert sum(len(piece.text) for piece in found) <= LONGEST + 4


def test_a_sign_says_that_there_is_more_and_never_stands_alone_on_a_line():
    assert shown("word " * 100 + "needle " + "word " * 100, "needle").startswith("…\u00a0word ")
    assert shown("x" * 100 + "needle" + "y" * 400, "needle").startswith("…xxx")
    assert shown("word " * 100 + "needle " + "word " * 100, "needle").endswith("\u00a0…")


def test_a_fence_that_was_opened_far_above_is_known():
    code = "```\n" + "x = 1\n" * 1000 + "y = a**b**c  # needle\n```\nand **words**"
    assert "y = a**b**c  # ⟦needle⟧\nand words" in shown(code, "needle")


def test_what_is_folded_into_more_or_fewer_signs_is_marked_where_it_stands():
    assert shown("Die **Straße** und *ﬁne* cafe\u0301s", "strasse fine cafés") == (
        "Die ⟦Straße⟧ und ⟦ﬁne⟧ ⟦cafe\u0301s⟧"
    )


def test_a_title_is_shown_as_it_is():
    assert [piece.text for piece in marked("**A** row", ("row",))] == ["**A** ", "row"]
