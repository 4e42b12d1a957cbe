"""How long things took, read off a scale."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatapp.core.spread import bucket, middle, quantile

DURATIONS = st.lists(st.integers(1, 10_000_000), min_size=1, max_size=200)


def of(durations):
    return Counter(map(bucket, durations))


@given(DURATIONS, st.sampled_from([0.25, 0.5, 0.95, 1.0]))
def test_a_quantile_is_within_five_in_a_hundred_of_the_exact_one(durations, part):
    """And half a millisecond, which is what a whole number can be off."""
    exact = next(ms for n, ms in enumerate(sorted(durations), 1) if n >= part * len(durations))
    assert quantile(of(durations), part) == pytest.approx(exact, abs=0.05 * exact + 0.5, rel=0)


@given(DURATIONS, DURATIONS)
def test_two_days_together_are_the_sum_of_their_counts(one, other):
    assert quantile(of(one) + of(other), 0.5) == quantile(of(one + other), 0.5)


def test_nothing_counted_has_no_quantile():
    assert quantile({}, 0.5) is None


def test_no_time_at_all_counts_as_the_least():
    assert middle(bucket(0)) == middle(bucket(1)) == 1
