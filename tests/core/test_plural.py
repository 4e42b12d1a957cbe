"""Numbers of things, in words."""

from __future__ import annotations

import pytest

from chatapp.core.plural import many, times


@pytest.mark.parametrize(
    ("number", "words", "often"),
    [
        (0, "0 steps", "0 times"),
        (1, "1 step", "once"),
        (2, "2 steps", "2 times"),
        (1234, "1,234 steps", "1,234 times"),
    ],
)
def test_one_of_a_thing_and_several_are_told_apart(number, words, often):
    assert (many(number, "step"), times(number)) == (words, often)
    assert many(number, "branch", "branches") == words.replace("steps", "branches").replace("step", "branch")
