"""The lines of any tree: what leaves a row comes into the next one."""

from __future__ import annotations

from itertools import pairwise

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed: the laws of the map are not tested")

from hypothesis import given, settings
from hypothesis import strategies as st

from chatapp.core.tree import repair
from chatapp.web.lanes import draw

from .test_lanes import ALL, ends

SOUND = st.lists(st.integers(-1, 60), max_size=40).map(
    lambda picks: [(n, None if n == 0 or pick < 0 else pick % n) for n, pick in enumerate(picks)]
)
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


@given(SOUND, st.integers(0, 40))
@settings(deadline=None)
def test_the_active_path_is_the_leftmost_line_and_nobody_else_stands_on_it(rows, pick):
    leaves = {message for message, _ in rows} - {parent for _, parent in rows}
    head = sorted(leaves)[pick % len(leaves)] if leaves else None
    tree = repair(rows, head=head)
    active = set(tree.path_to(tree.head))
    drawing = draw(tree, active, 0, ALL).rows
    for message, row in zip(tree.parents, drawing, strict=True):
        assert (row.x == 11) == (message in active)
        assert all(path.startswith("11 ") for path in row.on.split("M")[1:])
