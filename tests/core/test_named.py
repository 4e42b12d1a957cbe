"""Rows and places that an address, a form or a header names."""

from __future__ import annotations

from uuid import UUID

import pytest

from chatapp.core.named import LONGEST, identity, number


@pytest.mark.parametrize(
    ("text", "found"), [("0", 0), ("7", 7), ("007", 7), ("9" * LONGEST, 10**LONGEST - 1)]
)
def test_digits_name_a_number(text, found):
    assert number(text) == found


@pytest.mark.parametrize(
    "text", ["", " 7", "7 ", "7\n", "+7", "-7", "1_0", "7.0", "²", "٧", "７", "9" * 19, "9" * 5000]
)
def test_what_is_no_plain_number_names_none(text):
    assert number(text) is None


def test_whoever_takes_fewer_digits_says_so():
    assert (number("123", digits=3), number("1234", digits=3)) == (123, None)


def test_an_id_is_named_or_nothing_is():
    assert identity(str(UUID(int=7))) == UUID(int=7)
    assert [identity(text) for text in ("", "7", "x" * 32, "\ud800")] == [None] * 4
