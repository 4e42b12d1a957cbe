"""What goes through Redis comes out as it went in, whatever models say."""

from __future__ import annotations

from array import array
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatapp.core.event_values import event_of, values_of
from chatapp.core.events import NAMES, ItemAmended, ItemDelta, ItemDone, Withheld
from chatapp.core.items import Item, Kind
from chatapp.turns.elsewhere.entries import Entry
from chatapp.turns.live import LiveEvent

HOSTILE = ["\x00", "\ud800", "\u2028", '"],[', "</script>", "\\", "😀", "\r\n", "a\u0301", ""]
TEXT = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=20))
ITEMS = st.builds(
    Item,
    key=TEXT,
    kind=st.sampled_from(Kind),
    text=TEXT,
    provider=TEXT,
    model=TEXT,
    round=st.integers(0, 30),
    cut=st.booleans(),
    call_id=TEXT,
    name=TEXT,
)
st.register_type_strategy(Item, ITEMS)
st.register_type_strategy(str, TEXT)
# A number that is none is not even itself.
st.register_type_strategy(float, st.floats(allow_nan=False))
st.register_type_strategy(Withheld, st.builds(Withheld, st.dictionaries(TEXT, st.integers(1, 9))))
AT = st.floats(0, 1e9).map(lambda at: round(at, 3))


def letters(n: int, at: float, key: str, pieces: list[str]) -> LiveEvent:
    """Several that were joined."""
    ends = array("L", accumulate(map(len, pieces)))
    return LiveEvent(n, at, ItemDelta(key, "".join(pieces)), ends)


@pytest.mark.parametrize("kind", NAMES)
@given(st.data())
@settings(max_examples=20)
def test_every_event_comes_out_as_it_went_in(kind, data):
    said = LiveEvent(7, data.draw(AT), data.draw(st.from_type(kind)))
    entry = Entry.of_text(Entry(6, 1.5, [said]).to_text())
    assert entry.said == [said]
    assert type(entry.said[0].event) is kind


@given(AT, TEXT, st.lists(TEXT, min_size=1, max_size=9), st.integers(0, 12))
def test_letters_that_were_joined_come_apart_where_they_were_joined(at, key, pieces, read):
    said = letters(20, at, key, pieces)
    (heard,) = Entry.of_text(Entry(20 - len(pieces), 0.0, [said]).to_text()).said
    assert heard == said
    n = 20 - min(read, len(pieces) - 1)
    assert heard.after(n - 1) == said.after(n - 1)


def test_what_a_provider_sent_stays_where_it_was_heard():
    item = Item(key="rs_1", kind=Kind.REASONING, text="Hm.", wire={"encrypted_content": "sealed"})
    for event in (ItemDone(item), ItemAmended(item)):
        assert event_of(values_of(event)).item.wire is None
        assert "sealed" not in Entry(0, 0.0, [LiveEvent(1, 0.0, event)]).to_text()


@pytest.mark.parametrize("facts", [None, {}, {"round": 2, "usage": {"input": 3}}])
def test_what_was_sent_for_a_round_goes_along(facts):
    entry = Entry(0, 1.5, [LiveEvent(1, 0.0, ItemDelta("m_1", "x"))], facts)
    assert Entry.of_text(entry.to_text()) == entry


def test_an_entry_is_numbered_as_its_last_event():
    said = [LiveEvent(4, 0.0, ItemDelta("m_1", "a")), letters(9, 0.0, "m_1", ["b"] * 5)]
    assert Entry(3, 0.0, said).n == 9
    assert Entry(3, 0.0, []).n == 3
