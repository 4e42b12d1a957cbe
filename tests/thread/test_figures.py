"""Each number of an answer's details stands by itself, and an unknown one says so."""

from __future__ import annotations

from itertools import accumulate

import pytest

from chatapp.core.durations import in_short
from chatapp.core.recorded import Recorded, Stretch
from chatapp.pages.words.axis import MOST_MARKS, marks
from chatapp.thread.figures import figures_of

from .answers import facts


def figures(metadata=None, *, thoughts=(), tools=(), live=False):
    made = figures_of(Recorded(metadata or {}), thoughts, tools, live=live)
    return {figure.name: figure.words for figure in made}


def in_a_row(*durations):
    ends = [*accumulate(durations)]
    return [Stretch(end - ms, end) for ms, end in zip(durations, ends, strict=True)]


@pytest.mark.parametrize(
    ("ms", "short", "tenths"),
    [
        (0, "1 s", "0.1 s"),
        (1, "1 s", "0.1 s"),
        (100, "1 s", "0.1 s"),
        (101, "1 s", "0.2 s"),
        (9_900, "10 s", "9.9 s"),
        (9_901, "10 s", "10 s"),
        (22_001, "23 s", "23 s"),
        (60_000, "1 min", "1 min"),
        (66_001, "1 min 7 s", "1 min 7 s"),
        (3_600_001, "1 h 1 min", "1 h 1 min"),
    ],
)
def test_a_time_in_a_table_is_short_and_rounded_up(ms, short, tenths):
    assert (in_short(ms), in_short(ms, tenths=True)) == (short, tenths)


def test_thinking_tools_first_sign_and_all_are_four_numbers():
    metadata = {"elapsed_ms": 67_000, "rounds": [facts(first_event_ms=850), facts(1, first_event_ms=1)]}
    shown = figures(metadata, thoughts=[23_000, 11_000, 7_000], tools=in_a_row(1_200, 1_800, 100))
    assert shown == {
        "Thinking": "41 s in 3 steps",
        "Tools": "3.1 s, 3 calls",
        "To the first sign": "0.9 s",
        "In all": "1 min 7 s",
        "Tokens": "unknown",
    }


def test_an_answer_without_thoughts_and_calls_has_no_number_for_them():
    assert not {"Thinking", "Tools"} & figures({"elapsed_ms": 5}).keys()


@pytest.mark.parametrize(
    ("thoughts", "words"),
    [
        ([None], "unknown in 1 step"),
        ([None, None], "unknown in 2 steps"),
        ([5_000, None], "5 s in 2 steps, 1 not measured"),
    ],
)
def test_an_unknown_thought_is_not_guessed(thoughts, words):
    assert figures(thoughts=thoughts)["Thinking"] == words


def test_what_nobody_measured_is_unknown():
    shown = figures(thoughts=[1], tools=[None])
    assert (shown["Tools"], shown["To the first sign"], shown["In all"]) == (
        "unknown, 1 call",
        "unknown",
        "unknown",
    )


def test_while_it_runs_there_is_no_total():
    assert figures({"elapsed_ms": 5_000}, live=True)["In all"] == "still running"


def test_tokens_are_summed_over_the_rounds():
    rounds = [
        facts(usage={"input": 9_000, "output": 200, "cached": 4_000, "reasoning": 150}),
        facts(1, usage={"input": 412, "output": 8, "cached": 0}),
    ]
    shown = figures({"rounds": rounds})
    assert shown["Tokens"] == "9,412 in, 208 out"
    assert shown["From the cache"] == "4,000 of those in"
    assert shown["Tokens of thought"] == "at least 150 of those out"


def test_a_round_that_was_not_counted_makes_the_sum_a_lower_bound():
    rounds = [facts(usage={"input": 9, "output": 2}), facts(1)]
    assert figures({"rounds": rounds})["Tokens"] == "at least 9 in, at least 2 out"


@pytest.mark.parametrize(
    ("total", "words"),
    [
        (67_000, ["0 s", "20 s", "40 s", "1 min"]),
        (800, ["0 s", "0.2 s", "0.4 s", "0.6 s", ""]),
        (5_999, ["0 s", "1 s", "2 s", "3 s", "4 s", "5 s"]),
        (6_000, ["0 s", "2 s", "4 s", ""]),
        (100_000, ["0 s", "20 s", "40 s", "1 min", "1 min 20 s", ""]),
        (7_200_000, ["0 s", "30 min", "1 h", "1 h 30 min", ""]),
    ],
)
def test_the_scale_has_round_moments(total, words):
    assert [mark.words for mark in marks(total)] == words


@pytest.mark.parametrize("power", range(12))
def test_the_scale_has_few_marks_inside_the_picture(power):
    for total in (1, 2, 3, 5, 7, 9):
        found = marks(total * 10**power)
        assert 1 <= len(found) <= MOST_MARKS
        assert all(0 <= float(mark.at) <= 100 for mark in found)


def test_sums_are_those_of_their_parts_as_they_are_shown():
    shown = figures(thoughts=[7_100, 3_200, 400], tools=in_a_row(1_210, 40))
    assert shown["Thinking"] == "13 s in 3 steps", "8 s, 4 s and 1 s"
    assert shown["Tools"] == "1.4 s, 2 calls", "1.3 s and 0.1 s"


@pytest.mark.parametrize(
    ("spans", "words"),
    [
        ([(0, 3_000), (0, 3_000), (100, 2_900)], "3.0 s, 3 calls"),
        ([(1_000, 4_000), (0, 2_000)], "4.0 s, 2 calls"),
        ([(0, 1_000), (1_000, 2_000), (5_000, 6_000)], "3.0 s, 3 calls"),
        ([(0, 2_000), None, (500, 1_000)], "2.0 s, 3 calls, 1 not measured"),
        ([None, None], "unknown, 2 calls"),
    ],
)
def test_calls_that_run_side_by_side_take_the_time_of_one(spans, words):
    assert figures(tools=[span and Stretch(*span) for span in spans])["Tools"] == words


def counted(*costs):
    return [
        {"day": "2026-11-19", "ended": "complete", "rounds": 1, "thoughts": 0, "cost": cost} for cost in costs
    ]


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ([4_210], "$ 0.0042"),
        ([1_234_567], "$ 1.23"),
        ([40], "under $ 0.0001"),
        ([None], "not known"),
        ([4_210, None], "at least $ 0.0042"),
        ([4_000, 4_000], "$ 0.0080"),
    ],
)
def test_what_an_answer_cost_is_told_where_its_price_is_known(costs, words):
    metadata = {"rounds": [facts(usage={"input": 5, "output": 2})], "counted": counted(*costs)}
    assert figures(metadata)["Cost"] == words


@pytest.mark.parametrize("usage", [{}, {"input": 5}])
def test_what_nobody_counted_has_no_cost(usage):
    metadata = {"rounds": [facts(usage=usage)], "counted": counted(7) if not usage else []}
    assert "Cost" not in figures(metadata)
