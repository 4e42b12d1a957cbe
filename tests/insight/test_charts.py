"""Pictures of days: inside their frame, in order, and with a gap where nothing was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chatapp.insight.page.charts import BOTTOM, LEFT, MOST_MARKS, RIGHT, TOP, bars, lines

PAIRS = st.tuples(st.integers(1, 10**7), st.integers(1, 10**7)).map(lambda pair: (min(pair), max(pair)))
DAYS = st.lists(st.none() | PAIRS, min_size=1, max_size=90)
SUMS = st.tuples(st.integers(0, 10**12), st.integers(0, 10**12)).map(lambda pair: (max(pair), min(pair)))


def points(text):
    return [tuple(map(int, point.split(","))) for point in text.split()]


@given(DAYS)
def test_every_point_is_in_the_frame_and_days_go_from_left_to_right(days):
    top = max((pair[1] for pair in days if pair), default=0)
    drawn = lines(days, top)
    for stretch in drawn.stretches:
        for line in (stretch.low, stretch.high):
            xs, ys = zip(*points(line), strict=True)
            assert min(xs) >= LEFT and max(xs) <= RIGHT and [*xs] == sorted(xs)
            assert min(ys) >= TOP and max(ys) <= BOTTOM
        assert all(
            high[1] <= low[1] for low, high in zip(points(stretch.low), points(stretch.high), strict=True)
        )
    known = sum(pair is not None for pair in days)
    in_lines = sum(len(points(stretch.low)) for stretch in drawn.stretches)
    alone = known - in_lines
    assert len(drawn.dots) in (alone, alone + 1), "what is in no line is a dot, and so is the newest"
    assert 1 <= len(drawn.marks) <= MOST_MARKS


def test_a_day_without_a_value_is_a_gap():
    drawn = lines([(1000, 2000), (1000, 2000), None, (1000, 2000), None, (1000, 2000), (1500, 2000)], 2000)
    assert [len(points(stretch.low)) for stretch in drawn.stretches] == [2, 2]
    assert len(drawn.dots) == 2
    assert [mark.words for mark in drawn.marks] == ["0 s", "1 s", "2 s"]


@given(st.lists(SUMS, min_size=1, max_size=90))
def test_bars_stand_on_the_ground_and_the_part_is_inside(days):
    drawn = bars(days, str)
    assert len(drawn.bars) == len(days) and 1 <= len(drawn.marks) <= MOST_MARKS
    for bar, (whole, part) in zip(drawn.bars, days, strict=True):
        assert bar.y + bar.height == bar.part_y + bar.part_height == BOTTOM
        assert TOP <= bar.y <= bar.part_y
        assert (bar.height > 0, bar.part_height > 0) == (whole > 0, part > 0)
        assert float(bar.x) >= LEFT and float(bar.x) + float(bar.width) <= RIGHT + 0.1
