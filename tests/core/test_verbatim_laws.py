"""Any JSON value comes back; any other text is a ValueError and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed: the laws of JSON are not tested")

from hypothesis import example, given
from hypothesis import strategies as st

from chatapp.core.verbatim import dumps, encode, loads

TEXT = st.lists(st.characters() | st.sampled_from("\x00\ud800\udc00\ud83d\ude00\u2028\ufeff")).map("".join)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(2**63, 2**4000)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


@given(VALUES)
@example({"b": ["\x00", "\ud800", 2**200, -0.0, 1e308], "a": {}})
def test_any_value_comes_back_with_its_types_and_its_order(value: Any):
    # Two lone halves that stand together are one character in JSON: what was read once has none of those.
    value = json.loads(json.dumps(value))
    for again in (loads(dumps(value)), loads(encode(value).decode())):
        assert repr(again) == repr(value)
    assert dumps(value).isascii()


@example("1e999")
@given(TEXT | st.text('[]{}",:0123456789.eE+-\\u tfnNaI', max_size=60))
def test_any_text_is_a_value_or_a_value_error(text: str):
    try:
        value = loads(text)
    except ValueError:
        return
    assert repr(loads(dumps(value))) == repr(value)
