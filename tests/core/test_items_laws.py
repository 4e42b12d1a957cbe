"""What holds for all keys and all text."""

from __future__ import annotations

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed: the laws of keys are not tested")

from hypothesis import given
from hypothesis import strategies as st

from chatapp.core.items import KeyMaker, clean

ANY_TEXT = st.lists(st.characters() | st.sampled_from("\x00\ud800\udc00\ud83d\ude00\u2028\ufeff")).map(
    "".join
)
ITEM_IDS = (
    st.none() | st.sampled_from(["rs_1", "rs_2", "part-0", "part-1", "part-2", "part-7", ""]) | ANY_TEXT
)


@given(st.lists(ITEM_IDS, max_size=30), st.integers(0, 30))
def test_keys_are_unique_also_when_counting_goes_on_later(ids: list[str | None], stored: int):
    first = KeyMaker()
    keys = [first.take(item_id) for item_id in ids[:stored]]
    later = KeyMaker(keys)
    keys += [later.take(item_id) for item_id in ids[stored:]]
    assert len(set(keys)) == len(ids)
    assert all(1 <= len(key) <= 200 and key.isascii() and key.isprintable() for key in keys)


@given(st.lists(ITEM_IDS, max_size=30))
def test_the_same_starts_give_the_same_keys(ids: list[str | None]):
    one, other = KeyMaker(), KeyMaker()
    assert [one.take(item_id) for item_id in ids] == [other.take(item_id) for item_id in ids]


@given(st.lists(st.none() | st.sampled_from(["rs_1", "rs_2", "fc_1"]), max_size=30))
def test_a_key_is_the_id_or_the_number_of_the_start(ids: list[str | None]):
    keys = KeyMaker()
    for n, item_id in enumerate(ids):
        assert keys.take(item_id) == (item_id if item_id and item_id not in ids[:n] else f"part-{n}")


@given(ANY_TEXT)
def test_clean_text_can_be_stored_anywhere(text: str):
    cleaned = clean(text)
    assert cleaned.encode().decode() == cleaned
    assert "\x00" not in cleaned
    assert clean(cleaned) == cleaned


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00")))
def test_sound_text_stays_as_it_is(text: str):
    assert clean(text) == text
