"""What is the same to who looks for an answer."""

from __future__ import annotations

import pytest

from chatapp.gateway.replay.digests import same_arguments


@pytest.mark.parametrize(
    "written, again",
    [
        ('{"a": 1, "b": [true]}', '{"b":[true],"a":1}'),
        ('{"seconds": 30.0, "most": 12345678901234567890}', '{"seconds":30,"most":12345678901234567000}'),
        ('{"a": 1e2}', '{"a":100}'),
        ('{"a": "\\u00e9"}', '{"a":"é"}'),
        ('{"a": "\\ud800"}', '{"a":"\ufffd"}'),
        ("", "{}"),
        ("not JSON", "{}"),
        ("[1]", "{}"),
        ('{"a": 1' + "0" * 400 + "}", '{"a": 1' + "0" * 400 + "}"),
    ],
)
def test_arguments_that_a_program_wrote_anew_are_the_same(written: str, again: str) -> None:
    assert same_arguments(written) == same_arguments(again)


@pytest.mark.parametrize(
    "written, other",
    [
        ('{"a":1}', '{"a":2}'),
        ('{"a":1}', '{"a":true}'),
        ('{"a":1}', '{"a":"1"}'),
        ('{"a":1}', '{"b":1}'),
        ('{"a":[1,2]}', '{"a":[2,1]}'),
    ],
)
def test_other_arguments_are_not(written: str, other: str) -> None:
    assert same_arguments(written) != same_arguments(other)
