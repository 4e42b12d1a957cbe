"""What remainders tell of a hidden number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from chatapp.management.remainders import (
    ASKED,
    EDITED,
    LARGEST,
    SMALLEST,
    number_behind,
    question,
    read,
    stands_in,
)


@given(some.integers(SMALLEST, LARGEST))
def test_any_hidden_number_is_found_by_what_is_asked_of_it(number: int):
    said = [{divisor: number % divisor for divisor in divisors} for divisors in (ASKED, EDITED, EDITED)]
    assert number_behind(said) == number


@given(some.integers(SMALLEST, LARGEST), some.integers(SMALLEST, LARGEST))
def test_two_numbers_are_never_taken_for_one(one: int, other: int):
    said = [{divisor: number % divisor for divisor in EDITED} for number in (one, other)]
    if one % 2448 != other % 2448:
        assert number_behind(said) is None


@pytest.mark.parametrize(
    "words",
    [
        "7=3, 11=5, 13=0",
        "**7 = 3**\n**11 = 5**\n**13 = 0**",
        "n mod 7=3; n mod 11=5; n mod 13=0; 9=1",
        "7=9\n7=3, 11=5, 13=0",
    ],
)
def test_remainders_are_read_as_models_write_them(words: str):
    assert read(words, (7, 11, 13)) == {7: 3, 11: 5, 13: 0}


@pytest.mark.parametrize(
    "words", ["", "ready", "7=3, 11=5", "7=7, 11=5, 13=0", "7: three", "17=3, 11=5, 13=0"]
)
def test_an_answer_without_them_is_not_guessed_at(words: str):
    assert read(words, (7, 11, 13)) is None


@pytest.mark.parametrize(
    ("words", "there"),
    [
        ("It is 4711.", True),
        ("It is 4,711!", True),
        ("47110", False),
        ("14711", False),
        ("", False),
        ("4 711", True),
    ],
)
def test_a_number_in_the_open_is_noticed(words: str, there: bool):
    assert stands_in(4711, words) is there


def test_a_question_names_the_form_of_its_answer():
    assert question((7, 11)).endswith(
        "divided by 7 and 11. Answer in this form, with nothing else: 7=…, 11=…"
    )
