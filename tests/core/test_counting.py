"""What an answer adds to the figures, ending by ending."""

from __future__ import annotations

from collections import Counter

import pytest

from chatapp.core.counting import COUNTED, Portion, copied, counts, newest, portions
from chatapp.core.spread import bucket

DAY, NEXT = "2026-11-19", "2026-11-20"


def asked(**more):
    return {
        "model": "a:b",
        "usage": {"input": 100, "cached": 40, "output": 10, "reasoning": 4},
        "first_event_ms": 800,
        "replayed": 2,
        "dropped": {"cut turn": 1},
    } | more


def metadata(*rounds, thoughts=(), kept=()):
    durations = {f"rs_{n}": ms for n, ms in enumerate(thoughts)}
    return {
        "rounds": list(rounds),
        "reasoning_durations_ms": durations,
        COUNTED: [each.as_json() for each in kept],
    }


def cost(usage):
    return usage.get("input", 0) + 10 * usage.get("output", 0)


def test_an_answer_counts_with_all_its_rounds_and_thoughts():
    said = metadata(asked(), asked(first_event_ms=90), thoughts=[2000, 3000])
    portion = newest(said, day=DAY, ended="complete", cost=cost)
    assert portion == Portion(DAY, "complete", 2, 2, 400)
    assert counts(said, portion, None) == Counter(
        {
            "turns": 1,
            "answers": 1,
            "ended:complete": 1,
            "thoughts": 2,
            "thinking_ms": 5000,
            f"thought:{bucket(2000)}": 1,
            f"thought:{bucket(3000)}": 1,
            f"first:{bucket(800)}": 1,
            f"length:0:{bucket(5000)}": 1,
            "input": 200,
            "cached": 80,
            "output": 20,
            "reasoning": 8,
            "replayed": 4,
            "dropped:cut turn": 2,
            "cost": 400,
        }
    )


def test_an_answer_that_goes_on_adds_only_what_came():
    before = newest(metadata(asked(), thoughts=[2000]), day=DAY, ended="stopped", cost=cost)
    said = metadata(asked(), asked(replayed=0, dropped={}), thoughts=[2000, 500], kept=[before])
    portion = newest(said, day=NEXT, ended="complete", cost=cost)
    made = counts(said, portion, before)
    assert (made["turns"], made["answers"], made["thinking_ms"], made["input"]) == (1, 0, 500, 100)
    assert made["cost"] == cost({"input": 100, "output": 10})
    together = made + counts(said, before, None)
    assert together["thinking_ms"] == 2500 and together["input"] == 200 and together["answers"] == 1


def test_a_copy_adds_nothing_of_what_was_copied():
    said = metadata(asked(), thoughts=[2000])
    before = copied(said)
    said = metadata(asked(), asked(), thoughts=[2000, 500], kept=[before])
    made = counts(said, newest(said, day=DAY, ended="complete", cost=None), before)
    assert (made["answers"], made["thoughts"], made["input"]) == (0, 1, 100)


def test_a_turn_without_a_price_says_so_unless_it_used_nothing():
    paid, free = metadata(asked()), metadata(asked(usage={}))
    made = [counts(said, newest(said, day=DAY, ended="x", cost=None), None) for said in (paid, free)]
    assert [each["unpriced"] for each in made] == [1, 0]
    priced = counts(paid, newest(paid, day=DAY, ended="x", cost=lambda usage: 0), None)
    assert (priced["unpriced"], priced["cost"]) == (0, 0)


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        [],
        "x",
        {COUNTED: "x"},
        {COUNTED: [None]},
        {COUNTED: [{"day": "19 November", "ended": "", "rounds": 1, "thoughts": 1}]},
        {COUNTED: [{"day": DAY, "ended": 7, "rounds": 1, "thoughts": 1}]},
        {COUNTED: [{"day": DAY, "ended": "", "rounds": -1, "thoughts": 1}]},
        {"rounds": [7, {"usage": "x", "dropped": {"a": "b"}}], "reasoning_durations_ms": {"a": "b"}},
    ],
)
def test_damaged_rows_count_as_nothing(damaged):
    assert portions(damaged) == ()
    portion = newest(damaged, day=DAY, ended="complete", cost=cost)
    assert counts(damaged, portion, None) == Counter({"turns": 1, "answers": 1, "ended:complete": 1})


def test_what_is_kept_is_read_back():
    kept = [Portion(DAY, "stopped", 1, 2, 3), Portion(NEXT, "failed:busy", 2, 2, None)]
    assert portions(metadata(kept=kept)) == tuple(kept)
