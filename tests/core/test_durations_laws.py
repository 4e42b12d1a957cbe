"""What holds for every stream of events and every clock."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed: the laws of durations are not tested")

from hypothesis import given
from hypothesis import strategies as st

from chatapp.core.draft import Draft
from chatapp.core.durations import ReasoningClock, in_words, thinking_in_words
from chatapp.core.events import Asked, Event, ItemDelta, ItemDone, ItemStarted, Retrying
from chatapp.core.items import Item, Kind

DAY = 86_400_000
UNITS = {"h": 3600, "min": 60, "s": 1, "second": 1, "seconds": 1}
KEYS = ("a", "b", "c", "d")
SPOKEN = (Kind.REASONING, Kind.ASSISTANT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT)
# An item's kind never changes, so each key has one.
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(Asked, st.integers(0, 3)),
    st.builds(Retrying, st.floats(0, 60), st.just("Busy.")),
    st.sampled_from([ItemStarted(key, kind) for key, kind in zip(KEYS, SPOKEN, strict=True)]),
    st.sampled_from([ItemDelta(key, "…") for key in KEYS]),
    st.sampled_from([ItemDone(Item(key=key, kind=kind)) for key, kind in zip(KEYS, SPOKEN, strict=True)]),
)
SCRIPTS = st.lists(st.tuples(st.floats(0, DAY), EVENTS), max_size=30)


def seconds(words: str) -> int:
    return sum(int(n) * UNITS[unit] for n, unit in re.findall(r"(\d+) (h|min|seconds|second|s)\b", words))


@given(st.integers(0, DAY), st.integers(0, DAY))
def test_a_running_number_is_never_larger_than_the_final_one(ms: int, more: int):
    assert 1 <= seconds(thinking_in_words(ms)) <= seconds(in_words(ms + more))


@given(st.integers(0, DAY), st.integers(0, DAY))
def test_a_number_never_falls(ms: int, more: int):
    for said in (in_words, thinking_in_words):
        assert seconds(said(ms)) <= seconds(said(ms + more))


@given(st.integers(1_000, DAY))
def test_words_are_never_a_whole_unit_away(ms: int):
    unit = 1 if ms <= 3_600_000 else 60
    assert seconds(thinking_in_words(ms)) * 1_000 <= ms <= seconds(in_words(ms)) * 1_000
    assert seconds(in_words(ms)) - seconds(thinking_in_words(ms)) <= unit


@given(SCRIPTS)
def test_no_clock_and_no_stream_give_a_negative_time(script: list[tuple[float, Event]]):
    clock = ReasoningClock()
    for at, event in script:
        took = clock.observe(event, at)
        assert took is None or took >= 0
        assert all(span.ms(at) >= 0 for span in clock.spans.values())
        timings = [span.as_timing(at) for span in clock.spans.values()]
        assert all(0 <= timing["start"] <= timing["end"] for timing in timings)


@given(SCRIPTS)
def test_no_time_that_was_shown_ever_falls(script: list[tuple[float, Event]]):
    draft = Draft()
    shown: dict[str, int] = {}
    for at, event in script:
        if isinstance(event, ItemDelta) and event.key not in draft.pieces:
            continue
        if isinstance(event, ItemStarted) and event.key in draft.pieces:
            continue
        draft.apply(event, at)
        now = draft.durations(list(KEYS), draft.at)
        assert all(now[key] >= ms for key, ms in shown.items())
        shown = now


@given(SCRIPTS)
def test_nobody_thinks_while_text_or_a_call_streams(script: list[tuple[float, Event]]):
    clock = ReasoningClock()
    for at, event in script:
        clock.observe(event, at)
        kind = (
            clock.spans[event.key].kind if isinstance(event, ItemDelta) and event.key in clock.spans else None
        )
        if kind in (Kind.ASSISTANT_MESSAGE, Kind.TOOL_CALL):
            assert all(span.end is not None for span in clock.spans.values() if span.kind is Kind.REASONING)
