"""How far raters agree, held against a published example: K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), four
observers and twelve units with missing ratings."""

from __future__ import annotations

import pytest

from chatapp.reviews.page.agreement import Metric, alpha, share_agreed

OBSERVERS = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
UNITS = [[value for value in unit if value != "."] for unit in zip(*map(str.split, OBSERVERS), strict=True)]


@pytest.mark.parametrize(
    "metric, published", [(Metric.NOMINAL, 0.743), (Metric.ORDINAL, 0.815), (Metric.INTERVAL, 0.849)]
)
def test_alpha_is_what_was_published(metric, published):
    assert alpha(UNITS, metric) == pytest.approx(published, abs=0.0005)


def test_two_observers_and_two_values_as_published():
    """The first example there: ten units, .095."""
    one, other = "0100000010", "1110010000"
    units = [list(pair) for pair in zip(one, other, strict=True)]
    assert alpha(units, Metric.NOMINAL) == pytest.approx(0.095, abs=0.0005)
    assert share_agreed(units) == pytest.approx(0.6)


def test_full_agreement_is_one_and_less_than_chance_is_below_zero():
    assert alpha([["1", "1"], ["5", "5"]], Metric.INTERVAL) == 1
    below = alpha([["yes", "no"], ["no", "yes"]], Metric.NOMINAL)
    assert below is not None and below < 0


@pytest.mark.parametrize("units", [[], [["yes"]], [["yes"], ["no"]], [["yes", "yes"], ["yes", "yes"]]])
@pytest.mark.parametrize("metric", [Metric.NOMINAL, Metric.NONE])
def test_where_nobody_can_tell_nothing_is_told(units, metric):
    assert alpha(units, metric) is None


def test_words_have_no_alpha():
    assert alpha([["well", "well"], ["ill", "so"]], Metric.NONE) is None


def test_pairs_are_counted_in_units_of_any_size():
    assert share_agreed([["a", "a", "b"], ["c"], ["d", "d"]]) == pytest.approx(4 / 8)
    assert share_agreed([["a"]]) is None


def test_the_order_of_raters_and_units_makes_no_difference():
    for metric in (Metric.NOMINAL, Metric.ORDINAL, Metric.INTERVAL):
        turned = [list(reversed(unit)) for unit in reversed(UNITS)]
        assert alpha(turned, metric) == pytest.approx(alpha(UNITS, metric))
