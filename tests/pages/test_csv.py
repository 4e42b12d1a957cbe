"""No cell of a file starts a formula, whatever somebody is called."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatapp.pages.csv import cell, sheet

SIGNS, BREAKS = "=+-@＝＋－＠", "\t\r\n"


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("before", ["", " ", "\u00a0", " \n"])
def test_what_would_begin_a_formula_is_a_text(sign, before):
    assert cell(f"{before}{sign}cmd|' /C calc'!A0") == f"'{before}{sign}cmd|' /C calc'!A0"


@pytest.mark.parametrize("sign", BREAKS)
def test_what_moves_to_another_cell_first_is_a_text(sign):
    assert cell(f"{sign}=1") == f"'{sign}=1"
    assert cell(f"{sign}1") == f"'{sign}1"


@given(st.text())
def test_no_text_begins_with_such_a_sign_and_none_is_changed_otherwise(text):
    made = cell(text)
    assert made[:1] not in [*SIGNS, *BREAKS] and made.lstrip()[:1] not in [*SIGNS]
    assert made in (text, f"'{text}")


@pytest.mark.parametrize(("value", "shown"), [(None, ""), (0, "0"), (-5, "-5"), (1.5, "1.5"), ("a=b", "a=b")])
def test_numbers_and_other_texts_stay_as_they_are(value, shown):
    assert cell(value) == shown


@given(
    st.lists(st.lists(st.text().filter(lambda text: "\0" not in text), min_size=2, max_size=2), max_size=5)
)
def test_a_file_holds_each_cell_in_its_place(rows):
    response = sheet("figures", ["=a", "b"], rows)
    text = response.content.decode("utf-8-sig") if _encodes(rows) else ""
    if text:
        assert list(csv.reader(StringIO(text, newline=""))) == [
            ["'=a", "b"],
            *[[cell(it) for it in row] for row in rows],
        ]


def _encodes(rows):
    try:
        "".join(it for row in rows for it in row).encode()
    except UnicodeEncodeError:
        return False
    return True
