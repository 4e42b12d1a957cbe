"""Whatever is forked, thoughts go back from the fork as they would have from its source, and took as long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed: not any tree is forked")

from django.contrib.auth import get_user_model
from django.db import transaction
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from chatapp import store
from chatapp.branches.store.forking import Extent, fork
from chatapp.core.contracts import Contract, Repair, ReplayScope
from chatapp.core.history import Target, fold
from chatapp.store import Refused
from chatapp.store.models import LIVE, Conversation, Item, Message

from .test_forking import rows_of_all_tables, untouched

MAKERS = [("openai", "responses", "gpt-5"), ("deepseek", "chat", "r1"), ("openai", "responses", "o4")]
TARGETS = [
    Target(*maker, Contract(where="", dialect=maker[1], since="", source="", **more))
    for maker in MAKERS
    for more in ({}, {"scope": ReplayScope.TOOL_TURNS, "blank_text": True}, {"sealed": True, "signed": True})
]
IDS = st.sampled_from(["rs_1", "rs_2", "x"])
WORDS = st.sampled_from(["Hm.", "So it is.", ""])
VALUES = st.one_of(st.none(), st.integers(), st.text(max_size=3), st.lists(st.booleans(), max_size=2))


@dataclass(frozen=True)
class Piece:
    kind: str
    id: str
    words: str
    wire: dict[str, Any] | None
    cut: bool
    ms: int


@dataclass(frozen=True)
class Round:
    maker: tuple[str, str, str]
    pieces: list[Piece]
    repaired: list[str]


@dataclass(frozen=True)
class Node:
    """`above`: which of the messages before it, counted back; `sent_from`: which of those of the other role."""

    above: int
    rounds: list[Round]
    status: str
    deleted: bool
    sent_from: int | None


def wires() -> st.SearchStrategy[dict[str, Any]]:
    extra = st.dictionaries(st.sampled_from(["z", "a", "encrypted_content", "\x00", "\ud800"]), VALUES)
    return st.builds(lambda given, more: {**more, "id": given}, IDS, extra)


def piece(kind: str, name: str, words: str, wire: dict[str, Any], state: str, ms: int) -> Piece:
    return Piece(kind, name, words, wire if state == "whole" else None, state == "cut", ms)


KINDS = st.sampled_from(["reasoning", "reasoning", "assistant_message", "tool_call"])
STATES = st.sampled_from(["whole"] * 8 + ["without wire", "cut"])
PIECES = st.builds(piece, KINDS, IDS, WORDS, wires(), STATES, st.integers(0, 90_000))
ROUNDS = st.builds(
    Round,
    st.sampled_from(MAKERS),
    st.lists(PIECES, min_size=2, max_size=4),
    st.sampled_from([[]] * 8 + [[how.value] for how in Repair]),
)
NODES = st.builds(
    Node,
    st.sampled_from([0, 0, 0, 0, 0, 1, 2, 3, 9]),
    st.lists(ROUNDS, min_size=1, max_size=3),
    st.sampled_from(["complete"] * 5 + ["stopped", "failed", "interrupted", "queued", "running"]),
    st.sampled_from([False] * 9 + [True]),
    st.sampled_from([None, None, None, 0, 1, 2]),
)


def build(nodes: list[Node], alice: Any) -> list[Message]:
    """Rows as turns would have written them; a question is below nothing or an answer, an answer below a question."""
    conversation = store.start_conversation(alice, tools=["clock"], instructions="Be brief.")
    rows: list[Message] = []
    items: list[Item] = []
    for n, node in enumerate(nodes):
        above = rows[-1 - node.above] if node.above < len(rows) else None
        role = "assistant" if above and above.role == "user" else "user"
        row = Message(conversation=conversation, parent=above, order=3 * n, role=role)
        gone = bool(above and above.deletion) or node.deleted
        row.deletion = uuid4() if gone else None
        if role == "user":
            mine = [Item(message=row, seq=0, key="part-0", kind="user_message", text=f"Question {n}")]
        else:
            row.status, row.model = node.status, "openai:gpt-5"
            starts = [other for other in rows if other.role == "user"]
            row.sent_from = starts[node.sent_from % len(starts)] if node.sent_from is not None else None
            mine, row.metadata = answer(row, node.rounds)
        row.next_seq = len(mine)
        rows.append(row)
        items += mine
    Message.objects.bulk_create(rows)
    Item.objects.bulk_create(items)
    head = next((row for row in reversed(rows) if not row.deletion), None)
    Conversation.objects.filter(pk=conversation.pk).update(next_order=3 * len(rows), head=head)
    return rows


def answer(row: Message, rounds: list[Round]) -> tuple[list[Item], dict[str, Any]]:
    items: list[Item] = []
    durations: dict[str, int] = {}

    def add(kind: str, key: str, **more: Any) -> None:
        taken = {item.key for item in items}
        name = key if key not in taken else f"part-{len(items)}"
        items.append(Item(message=row, seq=len(items), key=name, kind=kind, **more))

    for number, each in enumerate(rounds):
        provider, dialect, model = each.maker
        said = {"round": number, "provider": provider, "dialect": dialect, "model": model}
        for piece in each.pieces:
            call = {"call_id": f"call_{piece.id}", "name": "clock"} if piece.kind == "tool_call" else {}
            add(piece.kind, piece.id, text=piece.words, wire=piece.wire, cut=piece.cut, **said, **call)
            if piece.kind == "reasoning":
                durations[items[-1].key] = piece.ms
        for piece in each.pieces:
            if piece.kind == "tool_call":
                call = {"call_id": f"call_{piece.id}", "name": "clock", "outcome": "done"}
                add("tool_result", f"part-{len(items)}", round=number, text="noon", **call)
    timings = {key: {"start": 0, "end": ms} for key, ms in durations.items()}
    facts = [
        {"round": n, "model": f"{each.maker[0]}:{each.maker[2]}", "repaired": each.repaired}
        for n, each in enumerate(rounds)
    ]
    return items, {"reasoning_durations_ms": durations, "timings_ms": timings, "rounds": facts}


def expected(rows: list[Message], source: Message, extent: Extent) -> list[UUID]:
    """Said once more, and slowly."""
    alive = [row for row in rows if not row.deletion]
    path = [source]
    while path[-1].parent:
        path.append(path[-1].parent)

    def root(row: Message) -> Message:
        return root(row.parent) if row.parent else row

    match extent:
        case Extent.BRANCH:
            wanted = [row for row in alive if row in path]
        case Extent.WITH_SIDES:
            wanted = [row for row in alive if root(row) == path[-1]]
        case Extent.EVERYTHING:
            wanted = alive

    def ended(row: Message) -> bool:
        return row.status not in LIVE and (row.parent is None or ended(row.parent))

    kept = [row for row in wanted if ended(row)]
    asked_live = {row.parent_id for row in alive if row.status in LIVE}
    answered = {row.parent_id for row in kept}
    return [row.pk for row in kept if row == source or row.pk in answered or row.pk not in asked_live]


def same_branch(leaf: UUID, copy: UUID) -> None:
    theirs, mine = store.load_branch(leaf), store.load_branch(copy)
    assert mine.log() == theirs.log()
    assert len(mine.sent) == len(theirs.sent)
    assert [row.metadata for row in mine.messages] == [row.metadata for row in theirs.messages]
    for target in TARGETS:
        for cap in (None, 1):
            assert fold(mine.log(), target, cap=cap) == fold(theirs.log(), target, cap=cap)


@pytest.mark.both
@pytest.mark.django_db
@settings(
    max_examples=40,
    deadline=None,
    phases=[Phase.reuse, Phase.generate, Phase.shrink],
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)
@given(
    nodes=st.lists(NODES, min_size=2, max_size=12), pick=st.integers(0, 11), extent=st.sampled_from(Extent)
)
def test_a_fork_verifies_and_sends_what_its_source_would_send(nodes, pick, extent):
    with transaction.atomic():
        alice, bob = (get_user_model().objects.get_or_create(username=name)[0] for name in ("alice", "bob"))
        rows = build(nodes, alice)
        alive = [row for row in rows if not row.deletion]
        if alive:
            _fork_and_compare(rows, alive[pick % len(alive)], extent, bob)
        transaction.set_rollback(True)


def _fork_and_compare(rows: list[Message], source: Message, extent: Extent, bob: Any) -> None:
    assert [line for line in store.verify_log() if "draft" not in line] == []
    before = rows_of_all_tables()
    kept = expected(rows, source, extent)
    if not kept:
        with pytest.raises(Refused):
            fork(source, by=bob, extent=extent)
        return
    made = fork(source, by=bob, extent=extent)
    assert untouched(before)
    assert list(store.verify_log()) == []
    copies = list(Message.objects.filter(conversation=made.conversation).order_by("order"))
    assert [copy.order for copy in copies] == list(range(len(kept)))
    assert made.conversation.next_order == made.messages == len(kept)
    parents = {row.pk: row.parent_id for row in rows}
    source_of = {copy.pk: pk for copy, pk in zip(copies, kept, strict=True)}
    for copy in copies:
        assert source_of.get(copy.parent_id) == parents[source_of[copy.pk]]
        if copy.role == "assistant":
            same_branch(source_of[copy.pk], copy.pk)
    log = store.load_branch(made.conversation.head_id).log()
    event("thoughts go back" if any(fold(log, to).replayed for to in TARGETS) else "none goes back")
    head = source_of[made.conversation.head_id]
    assert head not in {parents[pk] for pk in kept}
