"""Items, the keys that name them inside a message, and text that anything can hold."""

from __future__ import annotations

import dataclasses

import pytest

from chatapp.core.items import KEY_CAP, Item, KeyMaker, Kind, clean


def test_the_kinds_are_these_six_and_no_others():
    kinds = "user_message reasoning assistant_message tool_call permission_decision tool_result"
    assert [str(kind) for kind in Kind] == kinds.split()


def test_an_item_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Item(key="part-0", kind=Kind.REASONING).text = "other"


# Keys


def test_the_providers_id_is_the_key():
    assert KeyMaker().take("rs_1") == "rs_1"


def test_without_an_id_the_key_counts_every_start():
    keys = KeyMaker()
    assert [keys.take(item_id) for item_id in ("rs_1", None, "fc_1", None)] == [
        "rs_1",
        "part-1",
        "fc_1",
        "part-3",
    ]


def test_a_repeated_id_gives_a_key_of_its_own():
    keys = KeyMaker()
    assert [keys.take("rs_1") for _ in range(3)] == ["rs_1", "part-1", "part-2"]


@pytest.mark.parametrize(
    "item_id",
    [
        "",
        "x" * (KEY_CAP + 1),
        "é",
        "a\nb",
        "a\x00b",
        "\x7f",
        "\ud800",
        None,
        7,
        1.5,
        True,
        b"rs_1",
        ["rs_1"],
        {"id": 1},
    ],
)
def test_an_id_that_cannot_be_a_key_is_none(item_id: object):
    assert KeyMaker().take(item_id) == "part-0"


@pytest.mark.parametrize("item_id", ["r", "x" * KEY_CAP, "a b", "functions.time:0", "~!\"#'<>&"])
def test_any_printable_ascii_is_a_key(item_id: str):
    assert KeyMaker().take(item_id) == item_id


def test_counting_goes_on_from_the_rows_there_are():
    assert KeyMaker(["rs_1", "part-1", "fc_1"]).take() == "part-3"


def test_a_key_of_an_earlier_round_is_not_given_again():
    assert KeyMaker(["rs_1"]).take("rs_1") == "part-1"


def test_an_id_that_looks_like_a_count_does_no_harm():
    keys = KeyMaker()
    assert [keys.take(item_id) for item_id in ("part-1", None, "part-2", None)] == [
        "part-1",
        "part-2",
        "part-3",
        "part-4",
    ]


# Text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("", ""),
        ("plain, é, 漢, 😀", "plain, é, 漢, 😀"),
        ("\ufeffmark", "\ufeffmark"),
        ("a\x00b", "a\ufffdb"),
        ("a\ud800b", "a\ufffdb"),
        ("a\udc00", "a\ufffd"),
        ("end\ud800", "end\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\x00\ud800é", "\ufffd\ufffdé"),
        ("tab\t line\r\n \x07", "tab\t line\r\n \x07"),
    ],
)
def test_clean_text_loses_nothing_but_what_nothing_can_hold(text: str, cleaned: str):
    assert clean(text) == cleaned
