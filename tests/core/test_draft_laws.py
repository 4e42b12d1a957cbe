"""Any answer: the draft of its events is its log, at every moment and after every checkpoint."""

from __future__ import annotations

import json

import pytest

from tests.support import make

pytest.importorskip("hypothesis", reason="hypothesis is not installed: the laws of the draft are not tested")

from hypothesis import given
from hypothesis import strategies as st

from chatapp.core.draft import Draft
from chatapp.core.events import Asked, Event, ItemDelta, ItemDone, ItemsStored, ItemStarted
from chatapp.core.items import FROM_MODEL, Item, KeyMaker, Kind, clean

TEXT = st.lists(
    st.characters() | st.sampled_from("\x00\ud800\udc00\ud83d\ude00\u2028\ufeff"), max_size=8
).map("".join)
IDS = st.none() | st.sampled_from(["rs_1", "fc_1", "msg_1"])
PIECES = st.tuples(st.sampled_from(sorted(FROM_MODEL)), IDS, st.lists(TEXT, max_size=4))


@st.composite
def answers(draw: st.DrawFn) -> list[Event]:
    """The events of some rounds; the last round may not be complete."""
    keys, events = KeyMaker(), list[Event]()
    rounds = draw(st.lists(st.lists(PIECES, max_size=4), min_size=1, max_size=4))
    for number, pieces in enumerate(rounds):
        events.append(Asked(number))
        items = list[Item]()
        for kind, item_id, texts in pieces:
            key = keys.take(item_id)
            items.append(Item(key=key, kind=kind, text=clean("".join(texts)), wire={}, round=number))
            events += [ItemStarted(key, kind), *(ItemDelta(key, text) for text in texts), ItemDone(items[-1])]
        if number + 1 < len(rounds):
            events.append(ItemsStored(tuple(item.key for item in items)))
    return events[: draw(st.integers(0, len(events)))]


def drafted(events: list[Event]) -> Draft:
    return make.drafted(*((at * 1_000, event) for at, event in enumerate(events)))


def open_round(events: list[Event]) -> list[Event]:
    stored = [at for at, event in enumerate(events) if isinstance(event, ItemsStored)]
    return events[stored[-1] + 1 :] if stored else events


@given(answers())
def test_the_draft_is_the_log_of_what_no_row_holds(events: list[Event]):
    assert drafted(events).finished() == [
        event.item for event in open_round(events) if isinstance(event, ItemDone)
    ]


@given(answers())
def test_what_is_cut_is_what_was_seen(events: list[Event]):
    seen = {
        event.key: (event.kind, list[str]()) for event in open_round(events) if isinstance(event, ItemStarted)
    }
    for event in open_round(events):
        if isinstance(event, ItemDelta):
            seen[event.key][1].append(event.text)
    rounds = [event.round for event in events if isinstance(event, Asked)]
    kept = [
        Item(key=key, kind=kind, text=clean("".join(texts)), round=rounds[-1], cut=True)
        for key, (kind, texts) in seen.items()
        if any(texts) or kind is not Kind.ASSISTANT_MESSAGE
    ]
    assert drafted(events).cut() == kept


@given(answers(), st.floats(0, 100_000))
def test_any_draft_can_be_saved_and_shown_again(events: list[Event], later: float):
    draft = drafted(events)
    at = draft.at + later
    again = Draft.from_json(json.loads(json.dumps(draft.to_json(at))))
    assert again.to_json(again.at) == draft.to_json(at)
    assert (again.n, again.at, again.cut()) == (draft.n, at, draft.cut())
    keys = list(draft.pieces)
    assert again.durations(keys, at) == draft.durations(keys, at)
    assert again.timings(keys, at) == draft.timings(keys, at)


@given(answers())
def test_every_thought_has_a_time_and_nothing_else_has(events: list[Event]):
    draft = drafted(events)
    started = {event.key: event.kind for event in events if isinstance(event, ItemStarted)}
    thoughts = [key for key, kind in started.items() if kind is Kind.REASONING]
    assert list(draft.durations(list(started), draft.at)) == thoughts
    assert list(draft.timings(list(started), draft.at)) == list(started)
