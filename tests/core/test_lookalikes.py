"""Names that can be taken for one another."""

from __future__ import annotations

import pytest

from chatapp.core.lookalikes import outline


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("GPT-5", "gpt 5"),
        ("Claude", "CIaude"),
        ("o1", "Ol"),
        ("kimi", "kirni"),
        ("a/b:c", "A.B C"),
        ("llama-5", "IIama-s"),
    ],
)
def test_names_that_look_alike_have_one_outline(one: str, other: str):
    assert outline(one) == outline(other)


@pytest.mark.parametrize(("one", "other"), [("gpt-5", "gpt-4"), ("o1", "o3"), ("claude", "cloud"), ("", "a")])
def test_others_have_their_own(one: str, other: str):
    assert outline(one) != outline(other)
