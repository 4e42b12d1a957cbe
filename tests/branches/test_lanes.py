"""The lines beside the map: unbroken from row to row, where they were yesterday, and room given back."""

from __future__ import annotations

import re
import time

import pytest

from chatapp.branches.page.lanes import MOST_PLACES, Drawn, draw
from chatapp.core.tree import repair

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


def test_the_first_answer_goes_straight_on_and_the_next_stands_beside_it():
    # A question with two answers; the older one is open.
    drawing = drawn([("q", None), ("old", "q"), ("new", "q")], head="old")
    assert [row.x for row in drawing.rows] == [11, 11, 29]
    assert drawing.rows[0].off == "M11 22C11 40 29 30 29 44"
    assert drawing.rows[1].on == "M11 0V22" and drawing.rows[1].off == "M29 0V44"
    assert drawing.width == 40


# Two first questions; below one of them three answers, asked on below the second and then below the first.
BRANCHED = [
    ("q", None),
    ("a", "q"),
    ("other q", None),
    ("other a", "other q"),
    ("b", "q"),
    ("c", "q"),
    ("below b", "b"),
    ("below a", "a"),
    ("end of b", "below b"),
    ("end of a", "below a"),
]


def test_going_to_another_branch_moves_no_line_and_lights_another():
    drawings = [drawn(BRANCHED, head=head) for head in ("end of a", "end of b", "c", "other a")]
    xs, strokes, lit = [], [], []
    for drawing in drawings:
        xs.append([row.x for row in drawing.rows])
        strokes.append([sorted(re.findall(r"M[^M]+", row.on + row.off)) for row in drawing.rows])
        lit.append([row.on for row in drawing.rows])
    assert xs == [xs[0]] * 4 and strokes == [strokes[0]] * 4
    assert len({drawing.width for drawing in drawings}) == 1
    assert all(lit.count(one) == 1 for one in lit)


def test_only_the_way_to_the_open_message_is_lit():
    drawing = drawn(BRANCHED, head="c")
    assert [row.x for row in drawing.rows[:6]] == [11, 11, 29, 29, 47, 65]
    assert [row.on for row in drawing.rows[:6]] == [
        "M11 22C11 40 65 30 65 44",
        *["M65 0V44"] * 4,
        "M65 0V22",
    ]
    assert not any(row.on for row in drawing.rows[6:])


def test_a_new_message_moves_none_of_those_before_it():
    xs = [row.x for row in drawn(BRANCHED).rows]
    for parent in (None, *(message for message, _ in BRANCHED)):
        grown = drawn([*BRANCHED, ("new", parent)], head="new")
        assert [row.x for row in grown.rows[:-1]] == xs


def test_a_line_that_ended_makes_room_for_the_next():
    rows = [("q", None), ("a", "q")]
    for n in range(5):
        rows += [(f"side {n}", "q"), (f"below {n}", f"side {n}")]
    drawing = drawn(rows, head="a")
    assert max(row.x for row in drawing.rows) <= 11 + 2 * 18


def test_a_hundred_answers_to_one_question_share_a_line_beside_the_first_ones():
    drawing = drawn([("q", None), *((n, "q") for n in range(100))], head=50)
    assert [row.x for row in drawing.rows[:4]] == [11, 11, 29, 47]
    assert {row.x for row in drawing.rows[4:]} <= {29, 47} and drawing.width == 11 + 3 * 18 + 11
    # The line they share is lit as far as the one that is open.
    assert all("M65 0V44" in row.on for row in drawing.rows[1:51])
    assert drawing.rows[51].on.startswith("M65 0C") and "M65 0V44" in drawing.rows[51].off
    assert not any(row.on for row in drawing.rows[52:])


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
    assert time.process_time() - began < 5


def test_a_chain_of_a_hundred_thousand_does_not_recurse():
    assert len(drawn(chain(100_000)).rows) == 100_000
