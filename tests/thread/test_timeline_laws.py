"""The head of an answer with any metadata at all: it shows what it can, inside its picture."""

from __future__ import annotations

import pytest

pytest.importorskip(
    "hypothesis", reason="hypothesis is not installed: the laws of the timeline are not tested"
)

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .test_timeline import Read, html, made

SMALL = st.none() | st.booleans() | st.integers(-5, 10**12) | st.floats() | st.text(max_size=4)
ANY = st.recursive(
    SMALL, lambda more: st.lists(more, max_size=3) | st.dictionaries(st.text(max_size=6), more, max_size=3)
)
MOMENT = SMALL | st.integers(0, 10**6)
SPANS = st.dictionaries(
    st.sampled_from(["rs", "rs_2", "fc", "part-9", "msg", "gone"]),
    st.fixed_dictionaries({"start": MOMENT, "end": MOMENT}) | ANY,
)
FACTS = [
    "round",
    "model",
    "usage",
    "dropped",
    "replayed",
    "repaired",
    "first_event_ms",
    "messages",
    "left_out",
]
ROUND = st.fixed_dictionaries({}, optional=dict.fromkeys(FACTS, ANY))
DAMAGED = st.fixed_dictionaries(
    {},
    optional={
        "timings_ms": SPANS | ANY,
        "reasoning_durations_ms": st.dictionaries(st.sampled_from(["rs", "rs_2"]), SMALL) | ANY,
        "rounds": st.lists(ROUND | ANY, max_size=3) | ANY,
        "elapsed_ms": ANY,
        "goes_on_at": ANY,
        "ended": ANY,
    },
)


@given(metadata=DAMAGED | ANY, status=st.sampled_from(["complete", "running", "failed", "waiting"]))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=150)
def test_no_damage_at_all_breaks_the_page(metadata, status):
    page = Read(html(made(metadata, status=status)))
    for rect in page.all("rect"):
        assert 0 <= float(rect["x"].rstrip("%")) <= 100
        assert rect["width"] == "1" or 0 < float(rect["width"].rstrip("%")) <= 100


@given(metadata=DAMAGED)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60)
def test_every_shown_item_has_its_row_whatever_is_known_of_it(metadata):
    timeline = made(metadata)
    assert not timeline.figures or [row.kind for row in timeline.rows] == [
        "reasoning",
        "tool_call",
        "reasoning",
        "assistant_message",
    ]
