"""The lines of any tree: what leaves a row comes into the next one."""

from __future__ import annotations

from itertools import pairwise

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed: the laws of the map are not tested")

from hypothesis import given, settings
from hypothesis import strategies as st

from chatapp.branches.page.lanes import MOST_PLACES, draw
from chatapp.core.tree import repair

from .test_lanes import ALL, ends

SOUND = st.lists(st.integers(-1, 60), max_size=40).map(
    lambda picks: [(n, None if n == 0 or pick < 0 else pick % n) for n, pick in enumerate(picks)]
)
# Lines for which no place is left share this one.
OUTERMOST = 11 + 18 * (MOST_PLACES - 1)
HOSTILE = st.lists(st.tuples(st.integers(0, 12), st.none() | st.integers(0, 14)), max_size=30)


@given(SOUND | HOSTILE, st.none() | st.integers(0, 40))
@settings(deadline=None)
def test_no_line_is_broken_and_none_begins_nowhere(rows, head):
    tree = repair(rows, head=head)
    path = tree.path_to(tree.head)
    drawing = draw(tree, path, 0, ALL).rows
    assert len(drawing) == len(tree.parents)
    for above, below in pairwise(drawing):
        assert ends(above, 44) == ends(below, 0)
    if drawing:
        assert not ends(drawing[0], 0) and not ends(drawing[-1], 44)


@given(SOUND | HOSTILE, st.none() | st.integers(0, 40), st.none() | st.integers(0, 40))
@settings(deadline=None)
def test_the_lines_are_the_same_whichever_branch_is_open(rows, head, other):
    def lines(head):
        tree = repair(rows, head=head)
        drawing = draw(tree, tree.path_to(tree.head), 0, ALL)
        return drawing.width, [(row.x, sorted((row.on + row.off).split("M"))) for row in drawing.rows]

    assert lines(head) == lines(other)


@given(SOUND, st.integers(0, 40))
@settings(deadline=None)
def test_what_comes_later_moves_nothing(rows, count):
    tree, earlier = repair(rows), repair(rows[:count])
    xs = [row.x for row in draw(tree, tree.path_to(tree.head), 0, ALL).rows]
    before = [row.x for row in draw(earlier, earlier.path_to(earlier.head), 0, ALL).rows]
    assert before == xs[: len(before)]


@given(SOUND)
@settings(deadline=None)
def test_no_line_passes_through_a_message_that_is_not_on_it(rows):
    for row in draw(repair(rows), (), 0, ALL).rows:
        assert row.x == OUTERMOST or f"M{row.x} 0V44" not in row.off


@given(SOUND, st.integers(0, 40))
@settings(deadline=None)
def test_what_is_lit_is_one_line_through_the_open_messages_alone(rows, pick):
    tree = repair(rows, head=pick % len(rows) if rows else None)
    path = tree.path_to(tree.head)
    drawing = draw(tree, path, 0, ALL).rows
    for message, row in zip(tree.parents, drawing, strict=True):
        lit = [f"M{stroke}" for stroke in row.on.split("M")[1:]]
        arrives = [stroke for stroke in lit if stroke.endswith(f"{row.x} 22") or stroke == f"M{row.x} 0V22"]
        leaves = [stroke for stroke in lit if stroke.startswith(f"M{row.x} 22")]
        if message in path:
            assert (len(arrives), len(leaves)) == (message != path[0], message != path[-1])
            assert len(lit) == len(arrives) + len(leaves)
        else:
            within = path and path[0] < message < path[-1]
            assert len(lit) == (1 if within else 0) and all(stroke.endswith(" 0V44") for stroke in lit)
