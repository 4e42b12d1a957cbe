"""What was recorded is read as it was meant, and what cannot be right counts as not recorded."""

from __future__ import annotations

import pytest

from chatapp.core.recorded import MOST, Recorded, Stretch, count


@pytest.mark.parametrize("value", [-1, 1.5, True, "7", None, [], float("nan"), 10**400, MOST + 1])
def test_what_is_no_count_is_unknown(value):
    assert count(value) is None


def test_a_timing_is_read_with_its_marks():
    metadata = {"timings_ms": {"rs": {"start": 5, "end": 9, "inferred": True, "cut": True}}}
    assert Recorded(metadata).stretches == {"rs": Stretch(5, 9, inferred=True, cut=True)}
    assert Recorded(metadata).stretches["rs"].ms == 4


@pytest.mark.parametrize(
    "span", [{"start": 9, "end": 5}, {"start": 5}, {"start": "5", "end": 9}, [5, 9], None]
)
def test_a_damaged_timing_is_none(span):
    assert Recorded({"timings_ms": {"rs": span, "ok": {"start": 1, "end": 1}}}).stretches == {
        "ok": Stretch(1, 1)
    }


@pytest.mark.parametrize("metadata", [None, [], "x", 7, {"rounds": 7, "timings_ms": [], "elapsed_ms": -1}])
def test_damaged_metadata_is_empty(metadata):
    recorded = Recorded(metadata)
    assert (recorded.stretches, recorded.thoughts, recorded.rounds) == ({}, {}, ())
    assert (recorded.elapsed, recorded.goes_on_at) == (None, 0)


def test_a_round_keeps_what_can_be_right():
    facts = {
        "round": 1,
        "model": "p:m",
        "usage": {"input": 9, "output": -1},
        "dropped": {"stale": 2, "cut": "x"},
    }
    (row,) = Recorded({"rounds": ["no round", facts | {"repaired": ["stale", 7], "replayed": None}]}).rounds
    assert (row.number, row.model, row.usage, row.dropped) == (1, "p:m", {"input": 9}, {"stale": 2})
    assert (row.repaired, row.replayed, row.first_sign) == (("stale",), None, None)


@pytest.mark.parametrize(
    ("usage", "fills"),
    [({"input": 10, "output": 5}, 15), ({"input": 10}, 10), ({"output": 5}, None), ({}, None)],
)
def test_how_full_the_window_is_after_a_round(usage, fills):
    assert Recorded({"rounds": [{"usage": usage}]}).rounds[0].fills == fills


@pytest.mark.parametrize(
    ("metadata", "called"),
    [
        ({}, []),
        ({"by_program": True}, [0, 1, 2]),
        ({"by_program_before": 2}, [0, 1]),
        ({"by_program": 1}, []),
    ],
)
def test_what_a_program_called_itself_is_known_by_round(metadata, called):
    assert [number for number in range(3) if Recorded(metadata).is_called_by_program(number)] == called


LINES = ['model: "gpt-5"', "x" * 300]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (LINES, tuple(LINES)),
        (["x"] * 60, ("x",) * 60),
        (["x"] * 61, ()),
        (["x" * 301], ()),
        (["x", 7], ()),
        ("model", ()),
        (None, ()),
    ],
)
def test_the_shape_of_a_request_is_a_few_short_lines_or_unknown(said, kept):
    assert Recorded({"rounds": [{"shape": said}]}).rounds[0].shape == kept
