"""Two branches, and the place where they part: in one conversation by their messages, across two by what these say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from ...core.items import Item, Kind
from ...core.recorded import Recorded
from ...core.tree import Tree
from ...store.branches import Answer
from ...store.models import Item as ItemRow
from ...store.models import Message
from ...store.places import load_places, load_trees
from .copying import NOT_SHARED

FIRST_STEP, NEXT_STEPS = 20, 1000
# What is left of these where a fork was made without them.
_WITHHELD = {Kind.REASONING: "", Kind.TOOL_CALL: "{}", Kind.TOOL_RESULT: NOT_SHARED}


@dataclass(frozen=True, slots=True)
class Path:
    """A branch from its root to its leaf. `beside`: the messages that stand where it parts from the other, its own among them."""

    messages: tuple[UUID, ...]
    beside: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Parting:
    """`common`: with so many messages both begin."""

    a: Path
    b: Path
    common: int


def load_parting(viewer: User, a: Message, b: Message) -> Parting:
    """Of the branches through these messages, each down to the leaf where the viewer last was."""
    here = {a.conversation_id, b.conversation_id}
    trees, places = load_trees(here), load_places(viewer, here)
    mine, other = (trees[row.conversation_id] for row in (a, b))
    one, two = (_path(row, trees[row.conversation_id], places[row.conversation_id]) for row in (a, b))
    common = len(mine.common_start(one[-1], two[-1])) if mine is other else _load_alike(one, two)
    return Parting(_beside(one, common, mine), _beside(two, common, other), common)


def load_measures(messages: Sequence[UUID]) -> dict[UUID, Answer]:
    """What was noted of these, and their items without a word of them."""
    fields = ("role", "status", "model", "effort", "metadata")
    rows = Message.objects.only(*fields).in_bulk(messages)
    names = ("message", "key", "kind", "round", "cut", "call_id", "name", "outcome")
    items: dict[UUID, list[Item]] = defaultdict(list)
    for message, *facts in ItemRow.objects.filter(message__in=messages).values_list(*names):
        found = Item(**dict(zip(names[1:], facts, strict=True)))
        items[message].append(replace(found, kind=Kind(found.kind)))
    return {pk: Answer(rows[pk], items[pk]) for pk in messages if pk in rows}


def _path(row: Message, tree: Tree[UUID], places: Mapping[UUID | None, UUID]) -> tuple[UUID, ...]:
    return tree.path_to(tree.newest_leaf(row.pk, places) or row.pk) or (row.pk,)


def _beside(path: tuple[UUID, ...], common: int, tree: Tree[UUID]) -> Path:
    return Path(path, tree.siblings(path[common]) if common < len(path) else ())


def _load_alike(a: Sequence[UUID], b: Sequence[UUID]) -> int:
    """How far both say the same: a copy is like its source until one of them was changed or went on otherwise. A short
    stretch is read first and then long ones, so that neither an early nor a late parting costs much."""
    alike, step = 0, FIRST_STEP
    while pairs := list(zip(a[alike : alike + step], b[alike : alike + step], strict=False)):
        said = _load_said([pk for pair in pairs for pk in pair])
        same = next((n for n, (one, two) in enumerate(pairs) if not _same(said[one], said[two])), len(pairs))
        alike, step = alike + same, NEXT_STEPS
        if same < len(pairs):
            break
    return alike


@dataclass(slots=True)
class _Said:
    """A message as far as a copy has it too: facts about all of it, and of each item its facts and its words."""

    facts: tuple[Any, ...]
    items: list[tuple[tuple[Any, ...], str]]


def _load_said(messages: Sequence[UUID]) -> dict[UUID, _Said]:
    found = {}
    for row in Message.objects.only("role", "model", "effort", "status", "metadata").filter(pk__in=messages):
        noted = Recorded(row.metadata)
        facts = (row.role, row.model, row.effort, row.status, noted.elapsed, tuple(noted.thoughts.items()))
        found[row.pk] = _Said(facts, [])
    names = ("message", "kind", "key", "cut", "call_id", "name", "outcome", "text")
    for message, *facts_of_item, text in ItemRow.objects.filter(message__in=messages).values_list(*names):
        found[message].items.append((tuple(facts_of_item), text))
    return found


def _same(one: _Said, other: _Said) -> bool:
    if one.facts != other.facts or len(one.items) != len(other.items):
        return False
    pairs = zip(one.items, other.items, strict=True)
    return all(mine == its and _same_words(mine[0], a, b) for (mine, a), (its, b) in pairs)


def _same_words(kind: str, a: str, b: str) -> bool:
    return a == b or _WITHHELD.get(Kind(kind)) in (a, b)
