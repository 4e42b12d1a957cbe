"""A title is one line that nothing in it can bend."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatapp.core.signs.visible import Leave, hides
from chatapp.core.titles import MODEL_CAP, WORDS_CAP, first_words, from_model, one_line


@given(st.text(max_size=300))
def test_whatever_is_written_becomes_one_line_without_hidden_signs(text):
    for line, cap in ((one_line(text), None), (first_words(text), WORDS_CAP), (from_model(text), MODEL_CAP)):
        assert line == line.strip()
        assert len(line.splitlines()) <= 1
        assert not hides(line, Leave.PROSE)
        assert "\x00" not in line
        line.encode()
        assert cap is None or len(line) <= cap


def test_direction_overrides_and_invisible_letters_are_left_out():
    assert one_line("in\u202evoice\u200b\u2066 \u3164 x") == "invoice x"


def test_a_question_gives_whole_words():
    words = first_words("How many litres does a rain barrel hold when eight tomato plants need water?")
    assert words == "How many litres does a rain barrel hold when eight tomato…"


def test_a_word_longer_than_a_title_is_cut():
    assert first_words("x" * 5000) == "x" * (WORDS_CAP - 1) + "…"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Rain barrel for the allotment", "Rain barrel for the allotment"),
        ('"Rain barrel"', "Rain barrel"),
        ("**Title: Rain barrel**", "Rain barrel"),
        ("# Rain barrel.\n\nIt is about barrels.", "Rain barrel"),
        ("\n \n“Regentonne”\n", "Regentonne"),
        ("«Бочка»", "Бочка"),
        ("---\nRain barrel", "Rain barrel"),
        ("\u202e\u200b\n", ""),
        ("The `rain` **barrel** of [Ghent](https://example.org)", "The rain barrel of Ghent"),
        ('""', ""),
    ],
)
def test_a_models_dress_is_taken_off(said, meant):
    assert from_model(said) == meant


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("Why does this fail?\n\n```python\ndef f(x):\n    return 1\n```\n", "Why does this fail?"),
        ("```py\nx = 1\n```", "x = 1"),
        ("Why does this fail?\n\n2026-11-19 16:00:00,123 ERROR db: refused\n", "Why does this fail?"),
        ("[2026-11-19T16:00:00Z] db: refused", "[2026-11-19T16:00:00Z] db: refused"),
        ("2026-11-19 is a Thursday", "2026-11-19 is a Thursday"),
        ("Here is the **plan**, *mine*, and ***ours***", "Here is the plan, mine, and ours"),
        ("# Plan\n\n> - [ ] **buy** `milk`", "Plan buy milk"),
        ("1. one\n2) two\n---\n3. ~~three~~", "one two three"),
        ("See [the handbook](https://example.org/a_b) and ![it](b.png)", "See the handbook and it"),
        ("**bold *and* more** __and this__ _that_", "bold and more and this that"),
    ],
)
def test_a_title_has_no_signs_of_markdown(asked, title):
    assert first_words(asked) == title


@pytest.mark.parametrize(
    "words",
    [
        "What is 2 * 3 * 4?",
        "Why is __init__ called before snake_case_names?",
        "f(*args, **kwargs) against f(**kwargs)",
        "It costs $5 and -3 > -4",
        "C# or F#, a ` alone, ~5 to ~6",
        "1984 is a book",
    ],
)
def test_what_only_looks_like_markdown_stays_in_a_title(words):
    assert first_words(words) == words
