"""JSON that comes back as it came, and everything else refused in one way."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from chatapp.core.verbatim import DEEPEST, dumps, encode, loads

SENT = [
    '{"type":"reasoning","summary":[],"new_field":{"z":1,"a":[null,true]},"id":"rs_1"}',
    '{"b":1,"a":2,"":3}',
    '"\\u0000"',
    '"\\ud800 \\udc00"',
    '"é漢😀\u2028"',
    "123456789012345678901234567890",
    "-0.0",
    "1.0",
    "1e-7",
    '"[[[["',
    "[]",
    "null",
]


@pytest.mark.parametrize("text", SENT)
def test_what_was_sent_goes_back_value_for_value_and_in_order(text: str):
    value = loads(text)
    for again in (loads(dumps(value)), loads(encode(value).decode())):
        assert repr(again) == repr(value)


def test_the_stored_form_is_ascii():
    assert dumps({"é": "\x00\ud800😀"}) == '{"\\u00e9":"\\u0000\\ud800\\ud83d\\ude00"}'


def test_a_body_is_utf_8_as_it_stands():
    assert encode({"é": "漢😀"}) == '{"é":"漢😀"}'.encode()


def test_a_body_with_half_a_character_can_still_be_sent():
    assert encode(["é", "\ud800"]) == b'["\\u00e9","\\ud800"]'


NOT_JSON = [
    "",
    " ",
    "NaN",
    "Infinity",
    '{"a":-Infinity}',
    "1e999",
    "-1e999",
    "[1e400]",
    "9" * 400 + ".0",
    "{",
    '{"a":}',
    "{'a':1}",
    '"line\nbreak"',
    '"\x00"',
    "[1,]",
    "\ufeff{}",
    "1 2",
    "undefined",
    '"\\x41"',
    "9" * 10_000,
]


@pytest.mark.parametrize("text", NOT_JSON, ids=[repr(text[:20]) for text in NOT_JSON])
def test_what_is_not_json_is_a_value_error(text: str):
    with pytest.raises(ValueError):
        loads(text)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
@pytest.mark.parametrize("depth", [DEEPEST + 1, 900, 1_000, 5_000, 1_000_000])
def test_what_is_nested_too_deeply_is_a_value_error(opening: str, closing: str, depth: int):
    with pytest.raises(ValueError):
        loads(opening * depth + "1" + closing * depth)
    with pytest.raises(ValueError):
        loads(opening * depth)


def test_many_brackets_beside_each_other_are_not_deep():
    assert len(loads("[" + ",".join(["[{}]"] * 1_000) + "]")) == 1_000


def test_what_was_read_can_be_written_from_anywhere_in_the_program():
    text = "[" * DEEPEST + "]" * DEEPEST
    value = loads(text)
    assert from_a_depth_of(500, lambda: (dumps(value), encode(value), loads(text)))[0] == text


def test_nothing_that_is_not_json_is_written():
    for value in (float("nan"), float("inf"), [float("-inf")]):
        with pytest.raises(ValueError):
            dumps(value)
        with pytest.raises(ValueError):
            encode(value)


def test_the_order_of_keys_is_kept():
    keys = [f"key{n * 7919 % 1000}" for n in range(1000)]
    assert list(json.loads(dumps(loads(json.dumps(dict.fromkeys(keys, 0)))))) == keys


def from_a_depth_of(frames: int, do: Any) -> Any:
    assert sys.getrecursionlimit() >= 1_000
    return do() if frames == 0 else from_a_depth_of(frames - 1, do)
