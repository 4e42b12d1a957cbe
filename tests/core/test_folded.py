"""What is looked for is found whatever its case, accents, width and spaces, and marked in the text as it was written."""

from __future__ import annotations

import unicodedata

import pytest

from chatapp.core.signs.folded import _with_origins, fold, places_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CAFÉ", "cafe\u0301"),
        ("straße", "STRASSE"),
        ("Ελλάδα", "ελλαδα"),
        ("ΟΔΟΣ", "οδός"),
        ("ёлка", "ЕЛКА"),
        ("İstanbul", "istanbul"),
        ("ＡＢＣ１２", "abc12"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("か\u3099", "が"),
        ("한국", unicodedata.normalize("NFD", "한국")),
        ("ﬁne", "FINE"),
        ("soft\u00adhyphen", "softhyphen"),
        ("❤️", "❤"),
        ("a\n\t  b\u2003c", "A B C"),
        ("שָׁלוֹם", "שלום"),
        ("50 % _ \\", "50 % _ \\"),
    ],
)
def test_what_people_take_for_the_same_is_the_same(one, other):
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"), [("か", "が"), ("ハ", "パ"), ("कि", "क"), ("กา", "กำ"), ("👩", "👨"), ("하", "한")]
)
def test_what_is_another_word_stays_another_one(one, other):
    assert fold(one) != fold(other)


@pytest.mark.parametrize(
    ("text", "term", "marked"),
    [
        ("Ein CAFÉ hier", "cafe", "CAFÉ"),
        ("Ein cafe\u0301 hier", "café", "cafe"),
        ("die Straße dort", "strasse", "Straße"),
        ("without\n   locking", "without locking", "without\n   locking"),
        ("東京都", "京", "京"),
        ("x ｶﾞ y", "ガ", "ｶﾞ"),
        ("100 % sure", "%", "%"),
        ("wow 🎉🎉", "🎉", "🎉"),
    ],
)
def test_a_place_is_marked_as_it_was_written(text, term, marked):
    (begins, ends), *_ = places_of(text, (fold(term),))
    assert text[begins:ends].startswith(marked[:1]) and marked in (text[begins:ends], text[begins : ends + 1])


def test_a_place_far_down_in_a_long_text_is_found():
    text = "é " * 50_000 + "Needle" + " ü" * 1000
    assert places_of(text, ("needle",)) == [(100_000, 100_006)]


def test_places_of_several_words_stand_apart_in_their_order():
    assert places_of("abc abcd bcd", ("abc", "bcd")) == [(0, 3), (4, 8), (9, 12)]


def test_where_each_sign_came_from_gives_the_same_text():
    hypothesis = pytest.importorskip("hypothesis")
    st = hypothesis.strategies
    signs = st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("aAÉé \n\t\u00ad\u0301\u3099か하ᄒ\u1161\u11ab한ｶﾞ\u200d️"),
    )

    @hypothesis.given(st.text(signs, max_size=60))
    @hypothesis.settings(max_examples=400)
    def check(text):
        folded, origins = _with_origins(text)
        assert folded.strip() == fold(text)
        assert len(folded) == len(origins) == len([at for at in origins if 0 <= at < len(text)])

    check()
