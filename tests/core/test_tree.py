"""Branches from (id, parent id) pairs: ordinary trees, broken ones, and very large ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import pytest

from chatapp.core.tree import Tree, repair

#      q1
#     /  \
#   a1    a2
#   |    /  \
#   q2  q3   q4
#   |   |
#   a3  a4
TWO_ANSWERS = [
    ("q1", None),
    ("a1", "q1"),
    ("q2", "a1"),
    ("a3", "q2"),
    ("a2", "q1"),
    ("q3", "a2"),
    ("a4", "q3"),
    ("q4", "a2"),
]


def many() -> Tree[str]:
    return repair(TWO_ANSWERS)


def test_a_branch_runs_from_the_root_to_its_leaf():
    assert many().path_to("a4") == ("q1", "a2", "q3", "a4")


def test_siblings_stand_in_the_order_of_their_rows():
    assert many().siblings("a2") == ("a1", "a2")
    assert repair(reversed(TWO_ANSWERS)).siblings("a2") == ("a2", "a1")


def test_one_answer_has_no_other_to_choose():
    assert many().siblings("q2") == ("q2",)


def test_edited_first_questions_are_sibling_roots():
    tree = repair([("q1", None), ("a1", "q1"), ("q1b", None)])
    assert tree.siblings("q1") == ("q1", "q1b")


def test_six_siblings_stay_six():
    tree = repair([("q", None), *((f"a{n}", "q") for n in range(6))])
    assert tree.siblings("a0") == ("a0", "a1", "a2", "a3", "a4", "a5")


def test_without_memory_one_goes_down_to_the_newest():
    assert many().newest_leaf("q1") == "q4"
    assert many().newest_leaf("a1") == "a3"
    assert many().newest_leaf() == "q4"


def test_going_back_returns_to_the_leaf_one_left():
    assert many().newest_leaf("q1", {"q1": "a1"}) == "a3"
    assert many().newest_leaf("q1", {"q1": "a2", "a2": "q3"}) == "a4"


def test_a_remembered_child_that_is_not_one_is_passed_over():
    for wrong in ("gone", "q2", "q1", "a2"):
        assert many().newest_leaf("a2", {"a2": wrong}) == "q4"


def test_roots_are_remembered_too():
    tree = repair([("q1", None), ("q1b", None)])
    assert tree.newest_leaf() == "q1b"
    assert tree.newest_leaf(None, {None: "q1"}) == "q1"


def test_what_is_remembered_of_a_branch_leads_back_to_its_leaf():
    tree = many()
    for leaf in ("a3", "a4", "q4"):
        assert tree.newest_leaf(None, tree.places_on(leaf)) == leaf
    assert tree.places_on("a4") == {"q1": "a2", "a2": "q3"}


def test_a_nested_choice_survives_a_visit_elsewhere():
    tree = many()
    places = tree.places_on("a4")
    places |= tree.places_on("a3")
    assert tree.newest_leaf("a2", places) == "a4"


def test_below_is_everything_that_goes_with_a_message_and_nothing_else():
    assert many().below("a2") == ("q3", "a4", "q4")
    assert many().below("a4") == ()
    assert many().below(None) == ("q1", "a1", "q2", "a3", "a2", "q3", "a4", "q4")


def test_depth_counts_from_the_root():
    assert [many().depth(message) for message in ("q1", "a1", "a4", "unknown", None)] == [1, 2, 4, 0, 0]


def test_two_branches_share_a_start_and_part_after_it():
    tree = many()
    assert tree.common_start("a3", "a4") == ("q1",)
    assert tree.common_start("a4", "q4") == ("q1", "a2")
    assert tree.common_start("a4", "a2") == ("q1", "a2")
    assert tree.common_start("a4", "a4") == ("q1", "a2", "q3", "a4")


def test_branches_of_different_roots_share_nothing():
    assert repair([("q1", None), ("q2", None)]).common_start("q1", "q2") == ()


def test_what_is_not_in_the_tree_has_nothing():
    tree = many()
    assert tree.path_to("unknown") == tree.path_to(None) == ()
    assert tree.siblings("unknown") == ()
    assert tree.below("unknown") == ()
    assert tree.places_on("unknown") == {}
    assert tree.common_start("unknown", "a1") == ()
    assert tree.newest_leaf("unknown") == "q4"


def test_an_empty_tree_is_a_tree():
    tree = repair([])
    assert (tree.head, tree.problems) == (None, ())
    assert tree.newest_leaf() is None
    assert tree.below(None) == ()


def test_ids_may_be_anything_hashable():
    tree = repair([((1, 2), None), (0, (1, 2)), (b"x", 0), ("", 0)])
    assert tree.problems == ()
    assert tree.path_to("") == ((1, 2), 0, "")


# Heads


def test_a_head_that_exists_is_opened_even_in_the_middle():
    assert many().head == "q4"
    tree = repair(TWO_ANSWERS, head="a1")
    assert (tree.head, tree.problems) == ("a1", ())
    assert len(tree.parents) == len(TWO_ANSWERS)


def test_an_unknown_head_falls_back_to_the_newest_leaf_and_says_so():
    tree = repair([*TWO_ANSWERS, ("a1b", "q1"), ("late", "a3")], head="gone")
    assert tree.head == "late"
    assert tree.problems == ("The message to open, gone, does not exist; the newest one is opened.",)


def test_no_head_is_no_problem():
    assert many().problems == ()


# Bad rows


def test_an_orphan_becomes_a_root():
    tree = repair([("q1", None), ("lost", "gone"), ("below", "lost")])
    assert tree.siblings("lost") == ("q1", "lost")
    assert tree.path_to("below") == ("lost", "below")
    assert tree.problems == ("Message lost answers one that does not exist; it is a root now.",)


def test_a_message_below_itself_becomes_a_root():
    tree = repair([("a", "a"), ("b", "a")])
    assert tree.problems == ("Message a is below itself; it is a root now.",)
    assert tree.path_to("b") == ("a", "b")


def test_a_cycle_is_opened_at_its_earliest_row_however_it_is_entered():
    tree = repair([("tail", "c"), ("b", "a"), ("c", "b"), ("a", "c")])
    assert tree.problems == ("Message b is below itself; it is a root now.",)
    assert tree.path_to("a") == ("b", "c", "a")
    assert tree.path_to("tail") == ("b", "c", "tail")


def test_each_cycle_is_opened_once():
    tree = repair([("a", "b"), ("b", "a"), ("c", "d"), ("d", "c"), ("e", "d")])
    assert len(tree.problems) == 2
    assert tree.below(None) == ("a", "b", "c", "d", "e")


def test_of_the_same_id_twice_the_first_place_counts():
    tree = repair([("q", None), ("a", "q"), ("b", "a"), ("a", "b"), ("a", "q")])
    assert tree.problems == ("Message a came twice; its first place counts.",) * 2
    assert tree.path_to("b") == ("q", "a", "b")


def test_a_child_may_come_before_its_parent():
    tree = repair([("a", "q"), ("q", None)])
    assert tree.path_to("a") == ("q", "a")
    assert tree.problems == ()


def test_a_message_without_an_id_is_left_out():
    tree = repair([(None, None), ("a", None), (None, "a")])
    assert tree.below(None) == ("a",)
    assert tree.problems == ("A message without an id was left out.",) * 2


def test_a_huge_id_is_not_told_in_full():
    assert len(repair([("x" * 1_000_000, "gone")]).problems[0]) < 200


# Size

MANY = 100_000
SHAPES: dict[str, Callable[[], list[tuple[int, int | None]]]] = {
    "deep": lambda: [(n, n - 1 if n else None) for n in range(MANY)],
    "deep, children first": lambda: [(n, n - 1 if n else None) for n in reversed(range(MANY))],
    "wide": lambda: [(n, 0 if n else None) for n in range(MANY)],
    "all roots": lambda: [(n, None) for n in range(MANY)],
    "all orphans": lambda: [(n, -1) for n in range(MANY)],
    "one cycle": lambda: [(n, (n + 1) % MANY) for n in range(MANY)],
    "a tail on a cycle": lambda: [(n, max(n - 1, 1)) for n in range(MANY)],
    "cycles of two": lambda: [(n, n ^ 1) for n in range(MANY)],
    "all below themselves": lambda: [(n, n) for n in range(MANY)],
    "a comb": lambda: [(n, max(n - 1 - n % 2, 0) if n else None) for n in range(MANY)],
    "all the same": lambda: [(0, None)] * MANY,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hundred_thousand_messages_open_in_a_moment(shape: str):
    rows = SHAPES[shape]()
    began = time.process_time()
    tree = repair(rows, head=-2)
    leaf = tree.newest_leaf()
    tree.path_to(leaf)
    tree.below(None)
    tree.places_on(leaf)
    tree.common_start(leaf, tree.head)
    tree.newest_leaf(None, dict.fromkeys([None, *tree.parents], -3))
    assert time.process_time() - began < 1
    assert_sound(tree, len(set(rows)))


def assert_sound(tree: Tree[int], size: int) -> None:
    """Every message is reached from a root exactly once, after its parent."""
    below = tree.below(None)
    assert len(below) == len(set(below)) == len(tree.parents) == size
    place = {message: n for n, message in enumerate(below)}
    assert all(parent is None or place[parent] < place[message] for message, parent in tree.parents.items())
    assert all(tree.parents[b] == a for a, b in pairwise(tree.path_to(tree.head)))
