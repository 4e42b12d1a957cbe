"""The lines beside the map: unbroken from row to row, the active path leftmost, and room given back."""

from __future__ import annotations

import re
import time

import pytest

from chatapp.core.tree import repair
from chatapp.web.lanes import MOST_PLACES, Drawn, draw

ALL = 10**9


def drawn(rows, head=None):
    tree = repair(rows, head=head)
    return draw(tree, tree.path_to(tree.head), 0, ALL)


def chain(length):
    return [(n, n - 1 if n else None) for n in range(length)]


def ends(row: Drawn, at: int) -> set[int]:
    """Where lines cross the upper (0) or lower (44) edge of a row."""
    found = set()
    for path in re.findall(r"M[^M]+", row.on + row.off):
        numbers = [int(number) for number in re.findall(r"\d+", path)]
        x, y = numbers[:2]
        last = (x, numbers[2]) if path.count("V") else (numbers[-2], numbers[-1])
        found |= {place for place, height in ((x, y), last) if height == at}
    return found


def test_a_single_branch_is_one_line():
    rows = drawn(chain(3)).rows
    assert [(row.x, row.on, row.off) for row in rows] == [
        (11, "M11 22V44", ""),
        (11, "M11 0V22M11 22V44", ""),
        (11, "M11 0V22", ""),
    ]


def test_what_branches_off_stands_to_the_right_of_the_active_path():
    # A question with two answers; the older one is open.
    drawing = drawn([("q", None), ("old", "q"), ("new", "q")], head="old")
    assert [row.x for row in drawing.rows] == [11, 11, 29]
    assert drawing.rows[0].off == "M11 22C11 40 29 30 29 44"
    assert drawing.rows[1].on == "M11 0V22" and drawing.rows[1].off == "M29 0V44"
    assert drawing.width == 40


def test_the_active_path_is_leftmost_even_where_it_came_last():
    drawing = drawn([("q", None), ("a", "q"), ("q2", None), ("a2", "q2")], head="a2")
    assert [row.x for row in drawing.rows] == [29, 29, 11, 11]
    assert not drawing.rows[0].on and drawing.rows[3].on


def test_a_line_that_ended_makes_room_for_the_next():
    rows = [("q", None), ("a", "q")]
    for n in range(5):
        rows += [(f"side {n}", "q"), (f"below {n}", f"side {n}")]
    drawing = drawn(rows, head="a")
    assert max(row.x for row in drawing.rows) <= 11 + 2 * 18


def test_a_hundred_answers_to_one_question_take_two_lines_beside_the_path():
    drawing = drawn([("q", None), *((n, "q") for n in range(100))], head=50)
    assert {row.x for row in drawing.rows} <= {11, 29, 47}


def test_the_picture_is_never_wider_than_a_page():
    # Each message gets a second child, and all of these come at the end.
    rows = [*chain(50), *((f"late {n}", n) for n in range(49))]
    drawing = drawn(rows, head=49)
    assert drawing.width == 11 + 18 * (MOST_PLACES - 1) + 11
    assert all(0 < row.x < drawing.width for row in drawing.rows)


def test_a_window_shows_the_same_lines_as_the_whole():
    rows = [*chain(30), *((f"side {n}", n) for n in range(0, 28, 3))]
    tree = repair(rows, head=29)
    path = tree.path_to(29)
    whole = draw(tree, path, 0, ALL).rows
    assert draw(tree, path, 10, 25).rows == whole[10:25]


@pytest.mark.parametrize(
    "rows",
    [
        [("a", "b"), ("b", "a")],
        [("a", "a")],
        [("a", "gone"), ("b", "a")],
        [("child", "parent"), ("parent", None)],
        [("a", None), ("a", None)],
        [],
    ],
)
def test_damaged_rows_are_drawn_all_the_same(rows):
    drawing = drawn(rows)
    assert len(drawing.rows) == len({message for message, _ in rows})


def test_ten_thousand_messages_are_laid_out_in_a_moment():
    rows = [(n, None if n == 0 else n - 1 if n % 3 else max(0, n - 7)) for n in range(10_000)]
    tree = repair(rows, head=9_999)
    path = tree.path_to(tree.head)
    began = time.process_time()
    draw(tree, path, 9_600, 10_000)
    assert time.process_time() - began < 1


def test_a_chain_of_a_hundred_thousand_does_not_recurse():
    assert len(drawn(chain(100_000)).rows) == 100_000
