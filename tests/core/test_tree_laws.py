"""The tree against a plain model of it, with any rows at all."""

from __future__ import annotations

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed: the laws of the tree are not tested")

from hypothesis import given, settings
from hypothesis import strategies as st

from chatapp.core.tree import Tree, repair

IDS = st.integers(0, 12)
HOSTILE_ROWS = st.lists(st.tuples(IDS, st.none() | IDS), max_size=30)
# Each message answers an earlier one, or none.
SOUND_ROWS = st.lists(st.integers(-1, 40), max_size=25).map(
    lambda picks: [(n, None if n == 0 or pick < 0 else pick % n) for n, pick in enumerate(picks)]
)
PLACES = st.dictionaries(st.none() | IDS, IDS)


class Plain:
    """What a tree means, without a thought for speed or for bad rows."""

    def __init__(self, rows: list[tuple[int, int | None]]) -> None:
        self.rows = rows
        self.parent = dict(rows)

    def children(self, of: int | None) -> list[int]:
        return [message for message, parent in self.rows if parent == of]

    def path(self, message: int | None) -> list[int]:
        return [] if message is None else [*self.path(self.parent[message]), message]

    def below(self, message: int | None) -> list[int]:
        return [found for child in self.children(message) for found in (child, *self.below(child))]

    def leaf(self, message: int | None, places: dict[int | None, int]) -> int | None:
        children = self.children(message)
        if not children:
            return message
        return self.leaf(places[message] if places.get(message) in children else children[-1], places)


@given(SOUND_ROWS, PLACES)
def test_a_sound_tree_is_what_it_says(rows: list[tuple[int, int | None]], places: dict[int | None, int]):
    tree, plain = repair(rows), Plain(rows)
    assert tree.problems == ()
    for message in [None, *plain.parent]:
        assert list(tree.path_to(message)) == plain.path(message)
        assert list(tree.below(message)) == plain.below(message)
        assert tree.newest_leaf(message, places) == plain.leaf(message, places)
        assert tree.depth(message) == len(plain.path(message))
    for message, parent in rows:
        assert list(tree.siblings(message)) == plain.children(parent)


@given(SOUND_ROWS, st.data())
def test_two_branches_share_exactly_their_start(rows: list[tuple[int, int | None]], data: st.DataObject):
    tree, ids = repair(rows), st.sampled_from([message for message, _ in rows] or [None])
    a, b = data.draw(ids), data.draw(ids)
    shared = tree.common_start(a, b)
    rest_a, rest_b = tree.path_to(a)[len(shared) :], tree.path_to(b)[len(shared) :]
    assert tree.path_to(a)[: len(shared)] == tree.path_to(b)[: len(shared)] == shared
    assert not rest_a or not rest_b or rest_a[0] != rest_b[0]


@given(SOUND_ROWS, st.data())
def test_deleting_leaves_a_sound_tree_of_all_the_others(
    rows: list[tuple[int, int | None]], data: st.DataObject
):
    tree = repair(rows)
    for message in data.draw(st.permutations(list(tree.parents))):
        gone = {message, *tree.below(message)} if message in tree.parents else set()
        kept = [row for row in tree.parents.items() if row[0] not in gone]
        tree, before = repair(kept), tree
        assert tree.problems == ()
        assert set(tree.parents) == set(before.parents) - gone
    assert tree == repair([])


@settings(max_examples=400)
@given(HOSTILE_ROWS, st.none() | IDS)
def test_any_rows_become_a_sound_tree(rows: list[tuple[int, int | None]], head: int | None):
    tree = repair(rows, head=head)
    assert list(tree.parents) == list(dict.fromkeys(message for message, _ in rows))
    assert sorted(tree.below(None)) == sorted(tree.parents)
    assert all(Plain(list(tree.parents.items())).path(message) for message in tree.parents)
    assert tree.head == head or tree.head in tree.parents or not rows


@settings(max_examples=400)
@given(HOSTILE_ROWS)
def test_only_what_cannot_stay_is_moved(rows: list[tuple[int, int | None]]):
    first = dict(reversed(rows))
    tree = repair(rows)
    moved = [message for message, parent in tree.parents.items() if parent != first[message]]
    assert all(tree.parents[message] is None for message in moved)
    assert len(tree.problems) == len(moved) + len(rows) - len(first)
    assert all(is_lost(message, first) for message in moved)


@settings(max_examples=400)
@given(HOSTILE_ROWS, st.none() | IDS)
def test_a_mended_tree_needs_no_mending(rows: list[tuple[int, int | None]], head: int | None):
    tree: Tree[int] = repair(rows, head=head)
    again = repair(tree.parents.items(), head=tree.head)
    assert (again.parents, again.children, again.head) == (tree.parents, tree.children, tree.head)
    assert again.problems == ()


def is_lost(message: int, parents: dict[int, int | None]) -> bool:
    """True where a message's parent is missing or the message is above itself."""
    at = parents[message]
    for _ in parents:
        if at == message or at not in parents:
            break
        at = parents[at]
    return parents[message] not in parents or at == message
