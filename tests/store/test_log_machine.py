"""The store against a plain model of it: any writes in any order, with claims of long ago among them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

pytest.importorskip(
    "hypothesis", reason="hypothesis is not installed: the store is not tried with any order of writes"
)

from django.contrib.auth import get_user_model
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from chatapp import store
from chatapp.core.draft import Draft
from chatapp.core.events import Asked, ItemDelta, ItemDone, ItemStarted
from chatapp.core.history import NO_RESULT
from chatapp.core.items import FROM_MODEL, Item, Kind
from chatapp.models import Conversation, Message
from chatapp.models import Draft as DraftRow
from chatapp.models import Item as ItemRow
from chatapp.store import Claim, Fenced, Measured, Refused, Seen

LIVE = ("queued", "running", "waiting")
WENT_WRONG = ("stopped", "interrupted", "failed")
STOPPED = "The call was stopped before it had a result."
COLUMNS = ["key", "kind", "text", "round", "cut", "call_id", "name", "outcome"]
TURNS = 3

FROM_THE_MODEL = st.sampled_from(sorted(FROM_MODEL))
CALL_IDS = st.sampled_from(["a", "b"])
WORDS = st.sampled_from(["", "Hm.", "So it is."])
MS = st.integers(0, 5000)
ANY = st.integers(0, 10**6)


@dataclass
class Turn:
    """What a turn is, without rows."""

    id: UUID
    parent: UUID
    status: str = "queued"
    attempt: int = 0
    tries: int = 0
    runner: str = "first"
    items: list[Item] = field(default_factory=list)
    draft: Seen | None = None
    durations: dict[str, int] = field(default_factory=dict)
    elapsed: int = 0
    rounds: int = 0
    ended: Any = None

    def round(self) -> int:
        return max((item.round + 1 for item in self.items if item.kind in FROM_MODEL), default=0)

    def holds(self, claim: Claim) -> bool:
        return self.status == "running" and self.attempt == claim.attempt

    def open_calls(self) -> list[Item]:
        """Each result answers the first call of its round and id that none has answered before."""
        results = Counter((item.round, item.call_id) for item in self.items if item.kind == "tool_result")
        calls = [item for item in self.items if item.kind == "tool_call"]
        results.subtract(set())
        return [call for call in calls if not _taken(results, (call.round, call.call_id))]

    def append(self, items: list[Item], measured: Measured) -> None:
        self.items += items
        self.durations |= measured.durations
        self.rounds += measured.round is not None
        self.elapsed = max(self.elapsed, round(measured.elapsed))

    def end(self, status: str, ended: Any) -> None:
        self.status, self.ended, self.draft = status, ended, None

    def cut(self, seen: Seen | None, outcome: str, text: str) -> None:
        keys, here = {item.key for item in self.items}, self.round()
        for piece in seen.draft.pieces.values() if seen else ():
            kept = piece.kind in FROM_MODEL and (piece.kind != "assistant_message" or piece.said())
            if kept and piece.key not in keys:
                facts = {"round": here, "cut": True, "call_id": piece.call_id, "name": piece.name}
                self.items.append(Item(key=piece.key, kind=piece.kind, text=piece.said(), **facts))
                self.durations |= seen.draft.durations([piece.key], seen.at)
        for call in self.open_calls():
            facts = {"round": call.round, "call_id": call.call_id, "name": call.name, "outcome": outcome}
            self.items.append(Item(key=f"part-{len(self.items)}", kind=Kind.TOOL_RESULT, text=text, **facts))
        self.elapsed = max(self.elapsed, round(seen.at) if seen else 0)

    def take(self, status: str, seen: Seen | None, ended: Any, outcome: str, text: str) -> None:
        """Somebody else ends it. A draft counts when it is of the newest attempt, else the saved one does."""
        best = seen if seen and seen.attempt == self.attempt else self.draft
        self.attempt, self.runner = self.attempt + 1, ""
        self.cut(best, outcome, text)
        self.end(status, ended)


def _taken(results: Counter[tuple[int, str]], place: tuple[int, str]) -> bool:
    results[place] -= 1
    return results[place] >= 0


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self._example = transaction.atomic()
        self._example.__enter__()
        alice, _ = get_user_model().objects.get_or_create(username="alice")
        self.conversation = store.start_conversation(alice, tools=[])
        self.author, self.turns, self.claims, self.keys = alice, list[Turn](), list[Claim](), 0
        self.messages, self.head = 0, None

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self._example.__exit__(None, None, None)

    def turn(self, pick: int) -> Turn:
        return self.turns[pick % len(self.turns)]

    def claimed(self, pick: int) -> tuple[Claim, Turn]:
        """Any claim there ever was; the newest of them half of the time."""
        claim = self.claims[-1] if pick % 2 else self.claims[pick // 2 % len(self.claims)]
        return claim, next(turn for turn in self.turns if turn.id == claim.message)

    def key(self) -> str:
        self.keys += 1
        return f"key-{self.keys}"

    def started(self, new: store.Started, messages: int) -> None:
        self.turns.append(Turn(new.answer, new.question))
        self.messages, self.head = self.messages + messages, new.answer

    @precondition(lambda self: len(self.turns) < TURNS)
    @rule(below=st.none() | ANY)
    def start_turn(self, below):
        parent = self.turn(below) if below is not None and self.turns else None
        ask = {
            "parent": parent and parent.id,
            "model": "demo:thinker",
            "runner": "first",
            "author": self.author,
        }
        if parent and parent.status in LIVE:
            with pytest.raises(Refused):
                store.start_turn(self.conversation.id, "Why?", **ask)
        else:
            self.started(store.start_turn(self.conversation.id, "Why?", **ask), 2)

    @precondition(lambda self: 0 < len(self.turns) < TURNS)
    @rule(beside=ANY)
    def start_answer(self, beside):
        question = self.turn(beside).parent
        self.started(store.start_answer(question, model="demo:thinker", runner="first"), 1)

    @precondition(lambda self: self.turns)
    @rule(pick=ANY, older=st.sampled_from([0, 0, 0, 1]))
    def claim(self, pick, older):
        turn = self.turn(pick)
        seen = turn.attempt - older
        if older or turn.status not in ("queued", "running"):
            with pytest.raises(Fenced):
                store.claim(turn.id, runner="next", seen=seen)
        else:
            self.claims.append(store.claim(turn.id, runner="next", seen=seen))
            turn.status, turn.attempt, turn.tries, turn.runner = "running", seen + 1, turn.tries + 1, "next"
            assert self.claims[-1] == Claim(turn.id, turn.attempt)

    def write(self, turn: Turn, claim: Claim, write: Any, *args: Any) -> bool:
        if not turn.holds(claim):
            with pytest.raises(Fenced):
                write(claim, *args)
            return False
        write(claim, *args)
        return True

    @precondition(lambda self: self.claims)
    @rule(pick=ANY, kinds=st.lists(FROM_THE_MODEL, max_size=3), words=WORDS, call=CALL_IDS, ms=MS)
    def append_round(self, pick, kinds, words, call, ms):
        claim, turn = self.claimed(pick)
        items = [self.made(turn, kind, words, call) for kind in kinds]
        measured = self.measured(items, ms, {"round": turn.round()})
        if self.write(turn, claim, store.append_round, items, measured):
            turn.append(items, measured)
            turn.tries, turn.draft = 1, None

    @precondition(lambda self: self.claims)
    @rule(pick=ANY, which=ANY, ms=MS)
    def append_result(self, pick, which, ms):
        claim, turn = self.claimed(pick)
        calls = turn.open_calls()
        if turn.holds(claim) and not calls:
            return
        call = calls[which % len(calls)] if calls else Item(key="x", kind=Kind.TOOL_CALL)
        facts = {"round": call.round, "call_id": call.call_id, "name": call.name, "outcome": "done"}
        item = Item(key=self.key(), kind=Kind.TOOL_RESULT, text="noon", **facts)
        measured = self.measured([item], ms)
        if self.write(turn, claim, store.append_result, item, measured):
            turn.append([item], measured)

    @precondition(lambda self: self.claims)
    @rule(
        pick=ANY, kinds=st.lists(st.sampled_from([Kind.REASONING, Kind.ASSISTANT_MESSAGE]), max_size=3), ms=MS
    )
    def finish(self, pick, kinds, ms):
        claim, turn = self.claimed(pick)
        if turn.holds(claim) and turn.open_calls():
            return
        items = [self.made(turn, kind, "Because.", "") for kind in kinds]
        measured = self.measured(items, ms, {"round": turn.round()})
        if self.write(turn, claim, store.finish, items, measured):
            turn.append(items, measured)
            turn.end("complete", None)

    @precondition(lambda self: self.claims)
    @rule(pick=ANY, status=st.sampled_from(["failed", "stopped"]), data=st.data(), ms=MS)
    def give_up(self, pick, status, data, ms):
        claim, turn = self.claimed(pick)
        seen = self.seen(data, turn, claim.attempt)
        measured, ended = Measured(round={"round": turn.round()}, elapsed=ms), {"reason": "busy"}
        if self.write(turn, claim, store.give_up, status, seen, measured, ended):
            turn.cut(seen, "stopped", STOPPED)
            turn.append([], measured)
            turn.end(status, ended)

    @precondition(lambda self: self.claims)
    @rule(pick=ANY, data=st.data())
    def save_draft(self, pick, data):
        claim, turn = self.claimed(pick)
        seen = self.seen(data, turn, claim.attempt)
        if self.write(turn, claim, store.save_draft, seen.draft.to_json(seen.at)):
            turn.draft = seen

    @precondition(lambda self: self.claims)
    @rule(pick=ANY)
    def park(self, pick):
        claim, turn = self.claimed(pick)
        if self.write(turn, claim, store.park):
            turn.status, turn.runner = "waiting", ""

    @precondition(lambda self: self.turns)
    @rule(pick=ANY, older=st.none() | st.sampled_from([0, 1]), data=st.data())
    def stop(self, pick, older, data):
        turn = self.turn(pick)
        seen = None if older is None else self.seen(data, turn, turn.attempt - older)
        assert store.stop(turn.id, seen, by="alice") is (turn.status in LIVE)
        if turn.status in LIVE:
            turn.take("stopped", seen, {"reason": "stopped", "by": "alice"}, "stopped", STOPPED)

    @precondition(lambda self: self.turns)
    @rule(pick=ANY, older=st.sampled_from([0, 0, 1]))
    def interrupt(self, pick, older):
        turn = self.turn(pick)
        may = not older and turn.status in ("queued", "running")
        assert store.interrupt(turn.id, attempt=turn.attempt - older) is may
        if may:
            turn.take("interrupted", None, {"reason": "interrupted"}, "unknown", NO_RESULT)

    @precondition(lambda self: self.turns)
    @rule(pick=ANY)
    def requeue(self, pick):
        turn = self.turn(pick)
        may = turn.status in WENT_WRONG and not (turn.status == "failed" and turn.items)
        assert store.requeue(turn.id, runner="again") is may
        if may:
            turn.status, turn.tries, turn.runner, turn.ended = "queued", 0, "again", None

    def made(self, turn: Turn, kind: Kind, words: str, call: str) -> Item:
        key = self.key()
        names = {"call_id": call, "name": "clock"} if kind is Kind.TOOL_CALL else {}
        return Item(key=key, kind=kind, text=words, wire={"id": key}, round=turn.round(), **names)

    def measured(self, items: list[Item], ms: int, facts: Any = None) -> Measured:
        durations = {item.key: ms for item in items if item.kind is Kind.REASONING}
        timings = {item.key: {"start": 0, "end": ms} for item in items}
        return Measured(durations=durations, timings=timings, round=facts, elapsed=ms)

    def seen(self, data: st.DataObject, turn: Turn, attempt: int) -> Seen:
        """Any draft: pieces open or done, some of them rows already."""
        draft, at = Draft(), float(data.draw(MS))
        draft.apply(Asked(turn.round()), at)
        for kind in data.draw(st.lists(FROM_THE_MODEL | st.just(Kind.TOOL_RESULT), max_size=3)):
            stored = [item.key for item in turn.items]
            key = data.draw(st.sampled_from(stored)) if stored and data.draw(ANY) % 4 == 0 else self.key()
            at += data.draw(MS)
            draft.apply(
                ItemStarted(key, kind, "clock", "a") if kind is Kind.TOOL_CALL else ItemStarted(key, kind), at
            )
            draft.apply(ItemDelta(key, data.draw(WORDS)), at)
            if data.draw(st.booleans()):
                draft.apply(ItemDone(Item(key=key, kind=kind, text="Done.", wire={"id": key})), at + 30)
        return Seen(attempt, draft, draft.at + data.draw(MS))

    @invariant()
    def rows_equal_the_model(self):
        rows = {row["id"]: row for row in Message.objects.filter(role="assistant").values()}
        assert rows.keys() == {turn.id for turn in self.turns}
        items: dict[UUID, list[tuple[Any, ...]]] = {turn.id: [] for turn in self.turns}
        for message, seq, *values in _item_rows():
            assert seq == len(items[message])
            items[message].append(tuple(values))
        for turn in self.turns:
            assert items[turn.id] == [tuple(getattr(item, name) for name in COLUMNS) for item in turn.items]
            _same(rows[turn.id], turn)

    @invariant()
    def the_rest_equals_the_model(self):
        drafts = {turn.id: (turn.draft.attempt, turn.draft.draft.n) for turn in self.turns if turn.draft}
        assert {row.message_id: (row.attempt, row.n) for row in DraftRow.objects.all()} == drafts
        conversation = Conversation.objects.get()
        assert (conversation.next_order, conversation.head_id) == (self.messages, self.head)

    @invariant()
    def the_log_verifies(self):
        assert list(store.verify_log()) == []


def _item_rows() -> list[tuple[Any, ...]]:
    answers = ItemRow.objects.filter(message__role="assistant").order_by("message_id", "seq")
    return list(answers.values_list("message_id", "seq", *COLUMNS))


def _same(row: dict[str, Any], turn: Turn) -> None:
    for name in ("status", "attempt", "tries", "runner"):
        assert row[name] == getattr(turn, name), name
    metadata = row["metadata"]
    assert row["next_seq"] == len(turn.items)
    assert metadata.get("reasoning_durations_ms", {}) == turn.durations
    assert metadata.get("elapsed_ms", 0) == turn.elapsed
    assert len(metadata.get("rounds", [])) == turn.rounds
    assert metadata.get("ended") == turn.ended


@pytest.mark.both
@pytest.mark.django_db
def test_any_order_of_writes_gives_the_rows_that_the_model_says():
    slow_is_fine = [HealthCheck.too_slow, HealthCheck.data_too_large]
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=200, stateful_step_count=20, deadline=None, suppress_health_check=slow_is_fine
        ),
    )
