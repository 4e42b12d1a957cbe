"""Names that can be taken for one another."""

from __future__ import annotations

import pytest

from chatapp.core.signs.lookalikes import is_mixed, outline


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("GPT-5", "gpt 5"),
        ("Claude", "CIaude"),
        ("o1", "Ol"),
        ("kimi", "kirni"),
        ("a/b:c", "A.B C"),
        ("llama-5", "IIama-s"),
        # Cyrillic, Greek, Armenian, Cherokee, Lisu; full width, marks, and digits of others
        ("alice", "аӏісе"),
        ("MAX", "ΜΑΧ"),
        ("nono", "ոօոօ"),
        ("TEAM", "ᎢᎬᎪᎷ"),
        ("SAM", "ꓢꓮꓟ"),
        ("bob", "ｂｏｂ"),
        ("ulrich", "ülrích"),
        ("lukasz", "łukasz"),
        ("bob42", "bob٤٢"),
        ("istanbul", "ıstanbul"),
        ("alice@example.org", "alice.example+org"),
    ],
)
def test_names_that_look_alike_have_one_outline(one: str, other: str):
    assert outline(one) == outline(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("gpt-5", "gpt-4"),
        ("o1", "o3"),
        ("мама", "тётя"),
        ("愛", "藍"),
        ("佐藤", "加藤"),
        ("claude", "cloud"),
        ("", "a"),
    ],
)
def test_others_have_their_own(one: str, other: str):
    assert outline(one) != outline(other)


@pytest.mark.parametrize("name", ["аlice", "aliсe", "αlice", "bоb", "Ꭺlice", "ab\u05d0", "кот.cat"])
def test_letters_of_alphabets_that_nobody_writes_together_are_told(name: str):
    assert is_mixed(name)


@pytest.mark.parametrize(
    "name",
    [
        "alice",
        "Zoë.Łuk",
        "кот_2",
        "ελένη",
        "さくらアサ佐藤",
        "ラーメン",
        "김철수",
        "佐藤-sato",
        "ليلى",
        "नेहा",
        "a.1",
        "",
        "42",
    ],
)
def test_letters_of_one_alphabet_and_those_that_are_written_together_are_fine(name: str):
    assert not is_mixed(name)
