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
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
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
from chatapp.store import Claim, Fenced, Measured, Refused, Seen
from chatapp.store.models import Conversation, Message
from chatapp.store.models import Draft as DraftRow
from chatapp.store.models import Item as ItemRow
from tests.support.sums import assert_counted, in_all

LIVE = ("queued", "running", "waiting")
WENT_WRONG = ("stopped", "interrupted", "failed")
CALLED = (Kind.TOOL_CALL, Kind.TOOL_RESULT)
STOPPED = "The call was stopped before it had a result."
COLUMNS = ["key", "kind", "text", "round", "cut", "call_id", "name", "outcome"]
ASKED = store.AskedFor(model="demo:thinker", runner="first")
TURNS = 2

FROM_THE_MODEL = st.sampled_from(sorted(FROM_MODEL))
MOSTLY_CALLS = st.sampled_from([Kind.REASONING, Kind.ASSISTANT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_CALL])
SAYING = [Kind.REASONING, Kind.ASSISTANT_MESSAGE]
SELDOM_OLDER = st.sampled_from([0, 0, 0, 1])
CALL_IDS = st.sampled_from(["a", "b"])
WORDS = st.sampled_from(["", "Hm.", "So it is."])
MS = st.integers(0, 5000)
ANY = st.integers(0, 10**6)


@dataclass
class Turn:
    """What a turn is, without rows."""

    id: UUID
    question: UUID
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
    asked_below: bool = False

    def round(self) -> int:
        return max((item.round + 1 for item in self.items if item.kind in FROM_MODEL), default=0)

    def holds(self, claim: Claim) -> bool:
        return self.status == "running" and self.attempt == claim.attempt

    def open_calls(self) -> list[Item]:
        """Each result answers the first call of its round and id that none has answered before."""
        results = Counter((item.round, item.call_id) for item in self.items if item.kind == "tool_result")
        calls = [item for item in self.items if item.kind == "tool_call"]
        return [call for call in calls if not _taken(results, (call.round, call.call_id))]

    def append(self, items: list[Item], measured: Measured) -> None:
        self.items += items
        self.durations |= measured.durations
        self.rounds += measured.round is not None
        self.elapsed = max(self.elapsed, round(measured.elapsed))

    def end(self, status: str, ended: Any) -> None:
        self.status, self.ended, self.draft = status, ended, None

    def cut(self, seen: Seen | None, outcome: str, text: str) -> None:
        """Pieces of the draft that are no rows yet; then a result for every open call, with the key that was shown for it."""
        stored, here = {item.key for item in self.items}, self.round()
        pieces = list(seen.draft.pieces.values()) if seen else []
        dialect = seen.draft.facts["dialect"] if seen and seen.draft.facts else ""
        for piece in pieces:
            kept = piece.kind in FROM_MODEL and (piece.kind != "assistant_message" or piece.said())
            if kept and piece.key not in stored:
                facts = {"round": here, "cut": True, "call_id": piece.call_id, "name": piece.name}
                facts |= {"provider": "demo", "dialect": dialect, "model": "thinker"}
                self.items.append(Item(key=piece.key, kind=piece.kind, text=piece.said(), **facts))
                self.durations |= seen.draft.durations([piece.key], seen.at)
        running = (piece for piece in pieces if piece.kind == "tool_result" and piece.done is None)
        shown = {piece.call_id: piece.key for piece in running}
        used = {item.key for item in self.items} | set(shown.values())
        for call in self.open_calls():
            key = shown.pop(call.call_id, "")
            key = f"part-{len(used)}" if not key or key in stored else key
            used.add(key)
            facts = {"round": call.round, "call_id": call.call_id, "name": call.name, "outcome": outcome}
            self.items.append(Item(key=key, kind=Kind.TOOL_RESULT, text=text, **facts))
        self.elapsed = max(self.elapsed, round(seen.at) if seen else 0)

    def take(self, status: str, seen: Seen | None, ended: Any, outcome: str, text: str) -> None:
        """Somebody else ends it. A draft counts when it is of the newest attempt, else the saved one does."""
        best = seen if seen and seen.attempt == self.attempt else self.draft
        self.attempt, self.runner = self.attempt + 1, ""
        self.cut(best, outcome, text)
        self.rounds += bool(best and best.draft.facts)
        self.end(status, ended)


def _taken(results: Counter[tuple[int, str]], place: tuple[int, str]) -> bool:
    results[place] -= 1
    return results[place] >= 0


def facts_of(turn: Turn) -> dict[str, Any]:
    """What stands in the metadata of the round to come."""
    return {"round": turn.round(), "model": "demo:thinker", "dialect": "demo"}


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self._clean: Any = None
        self._example = transaction.atomic()
        self._example.__enter__()
        alice, _ = get_user_model().objects.get_or_create(username="alice")
        self.conversation = store.start_conversation(alice, tools=[])
        self.author, self.turns, self.claims, self.keys = alice, list[Turn](), list[Claim](), 0
        self.messages, self.head = 0, None

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self._example.__exit__(None, None, None)

    @initialize()
    def begin(self):
        self.start_turn(None)
        self.claim(0, 0)

    def turn(self, pick: int, *statuses: str) -> Turn:
        """Any, but mostly one for which there is something to do."""
        fitting = [turn for turn in self.turns if turn.status in statuses] if pick % 8 else []
        turns = fitting or self.turns
        return turns[pick % len(turns)]

    def owner(self, claim: Claim) -> Turn:
        return next(turn for turn in self.turns if turn.id == claim.message)

    def held(self) -> list[Claim]:
        return [claim for claim in self.claims if self.owner(claim).holds(claim)]

    def lost(self) -> list[Claim]:
        return [claim for claim in self.claims if not self.owner(claim).holds(claim)]

    def key(self) -> str:
        self.keys += 1
        return f"key-{self.keys}"

    def started(self, new: store.Started, messages: int) -> None:
        self.turns.append(Turn(new.answer, new.question))
        self.messages, self.head = self.messages + messages, new.answer

    @precondition(lambda self: len(self.turns) < TURNS)
    @rule(below=st.none() | ANY)
    def start_turn(self, below):
        parent = None if below is None else self.turn(below)
        ask = {
            "parent": parent and parent.id,
            "author": self.author,
            "asked": ASKED,
        }
        if parent and parent.status in LIVE:
            with pytest.raises(Refused):
                store.start_turn(self.conversation.id, "Why?", **ask)
            return
        self.started(store.start_turn(self.conversation.id, "Why?", **ask), 2)
        if parent:
            parent.asked_below = True

    @precondition(lambda self: len(self.turns) < TURNS)
    @rule(beside=ANY)
    def start_answer(self, beside):
        question = self.turn(beside).question
        self.started(store.start_answer(question, author=self.author, asked=ASKED), 1)

    @rule(pick=ANY, older=SELDOM_OLDER)
    def claim(self, pick, older):
        turn = self.turn(pick, "queued", "running")
        seen = turn.attempt - older
        if older or turn.status not in ("queued", "running"):
            with pytest.raises(Fenced):
                store.claim_turn(turn.id, runner="next", seen=seen)
            return
        self.claims.append(store.claim_turn(turn.id, runner="next", seen=seen))
        turn.status, turn.attempt, turn.tries, turn.runner = "running", seen + 1, turn.tries + 1, "next"
        assert self.claims[-1] == Claim(turn.id, turn.attempt)

    @precondition(held)
    @rule(
        pick=ANY,
        kinds=st.lists(MOSTLY_CALLS, min_size=1, max_size=4),
        words=WORDS,
        call=CALL_IDS,
        ms=MS,
        results=st.lists(ANY, max_size=2),
    )
    def append_round(self, pick, kinds, words, call, ms, results):
        claim, turn = self.mine(pick)
        items = [self.made(turn, kind, words, call) for kind in kinds]
        measured = self.measured(items, ms, facts_of(turn))
        store.append_round(claim, items, measured)
        turn.append(items, measured)
        turn.tries, turn.draft = 1, None
        for which in results:
            self.append_result(pick, which, ms)

    @precondition(held)
    @rule(pick=ANY, which=ANY, ms=MS)
    def append_result(self, pick, which, ms):
        claim, turn = self.mine(pick)
        calls = turn.open_calls()
        if calls:
            item = self.result_of(calls[which % len(calls)])
            measured = self.measured([item], ms)
            store.append_result(claim, item, measured)
            turn.append([item], measured)

    @precondition(held)
    @rule(pick=ANY, way=st.sampled_from(["finish", "failed", "stopped", "park"]), data=st.data(), ms=MS)
    def end(self, pick, way, data, ms):
        """The turn ends, or waits, by the hand of its owner."""
        claim, turn = self.mine(pick)
        if way == "park":
            store.park(claim, [], store.Measured())
            turn.status, turn.runner = "waiting", ""
        elif way != "finish":
            self.give_up(claim, turn, way, self.seen(data, turn, claim.attempt), ms)
        elif not turn.open_calls():
            self.finish(claim, turn, data.draw(st.lists(st.sampled_from(SAYING), max_size=3)), ms)

    def finish(self, claim: Claim, turn: Turn, kinds: list[Kind], ms: int) -> None:
        items = [self.made(turn, kind, "Because.", "") for kind in kinds]
        measured = self.measured(items, ms, facts_of(turn))
        store.finish(claim, items, measured)
        turn.append(items, measured)
        turn.end("complete", None)

    def give_up(self, claim: Claim, turn: Turn, status: str, seen: Seen, ms: int) -> None:
        measured, ended = Measured(round=facts_of(turn), elapsed=ms), {"reason": "busy"}
        store.give_up(claim, status, seen, measured, ended)
        turn.cut(seen, "stopped", STOPPED)
        turn.append([], measured)
        turn.end(status, ended)

    @precondition(held)
    @rule(pick=ANY, data=st.data())
    def save_draft(self, pick, data):
        claim, turn = self.mine(pick)
        seen = self.seen(data, turn, claim.attempt)
        store.save_drafts([(claim, seen.draft.to_json(seen.at))])
        turn.draft = seen

    @precondition(lost)
    @rule(pick=ANY, which=ANY, data=st.data())
    def write_late(self, pick, which, data):
        """By a claim that has been lost, however long ago, and to whatever state the turn has come since."""
        claim = self.lost()[pick % len(self.lost())]
        turn = self.owner(claim)
        item, seen = (
            self.made(turn, Kind.ASSISTANT_MESSAGE, "Late.", ""),
            self.seen(data, turn, claim.attempt),
        )
        writes = [
            lambda: store.append_round(claim, [item], Measured()),
            lambda: store.append_result(claim, self.result_of(item), Measured()),
            lambda: store.finish(claim, [item], Measured()),
            lambda: store.give_up(claim, "failed", seen, Measured(), {"reason": "late"}),
            lambda: _save_alone(claim, seen),
            lambda: store.park(claim, [], store.Measured()),
        ]
        with pytest.raises(Fenced):
            writes[which % len(writes)]()

    @rule(
        pick=ANY,
        way=st.sampled_from(["stop", "stop unseen", "interrupt"]),
        older=SELDOM_OLDER,
        data=st.data(),
    )
    def end_elsewhere(self, pick, way, older, data):
        """The turn ends by another's hand, whoever owns it. `older`: by what that one has seen, somebody came between."""
        turn = self.turn(pick, *LIVE)
        if way == "interrupt":
            self.interrupt(turn, turn.attempt - older)
        else:
            self.stop(turn, None if way == "stop unseen" else self.seen(data, turn, turn.attempt - older))

    def stop(self, turn: Turn, seen: Seen | None) -> None:
        assert store.stop(turn.id, seen, by="alice") is (turn.status in LIVE)
        if turn.status in LIVE:
            turn.take("stopped", seen, {"reason": "stopped", "by": "alice"}, "stopped", STOPPED)

    def interrupt(self, turn: Turn, attempt: int) -> None:
        may = attempt == turn.attempt and turn.status in ("queued", "running")
        assert store.interrupt(turn.id, attempt=attempt) is may
        if may:
            turn.take("interrupted", None, {"reason": "interrupted"}, "unknown", NO_RESULT)

    @precondition(lambda self: any(turn.status in WENT_WRONG for turn in self.turns))
    @rule(pick=ANY)
    def requeue(self, pick):
        turn = self.turn(pick, *WENT_WRONG)
        may = turn.status in WENT_WRONG and not turn.asked_below
        may = may and not (turn.status == "failed" and turn.items)
        assert store.requeue(turn.id, runner="again") is may
        if may:
            turn.status, turn.tries, turn.runner, turn.ended = "queued", 0, "again", None

    def mine(self, pick: int) -> tuple[Claim, Turn]:
        claim = self.held()[pick % len(self.held())]
        return claim, self.owner(claim)

    def result_of(self, call: Item) -> Item:
        facts = {"round": call.round, "call_id": call.call_id, "name": call.name, "outcome": "done"}
        return Item(key=self.key(), kind=Kind.TOOL_RESULT, text="noon", **facts)

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
        draft.facts = data.draw(st.sampled_from([None, facts_of(turn)]))
        for kind in data.draw(st.lists(FROM_THE_MODEL | st.just(Kind.TOOL_RESULT), max_size=3)):
            stored = [item.key for item in turn.items]
            key = data.draw(st.sampled_from(stored)) if stored and data.draw(ANY) % 4 == 0 else self.key()
            at += data.draw(MS)
            draft.apply(
                ItemStarted(key, kind, "clock", "a") if kind in CALLED else ItemStarted(key, kind), at
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
        drafts = {turn.id: (turn.draft.attempt, turn.draft.draft.n) for turn in self.turns if turn.draft}
        assert {row.message_id: (row.attempt, row.n) for row in DraftRow.objects.all()} == drafts
        conversation = Conversation.objects.get()
        assert (conversation.next_order, conversation.head_id) == (self.messages, self.head)
        self._verify((rows, items, drafts, self.head))

    def _verify(self, state: Any) -> None:
        """Rows that did not change are as clean as they were."""
        if state != self._clean:
            assert list(store.verify_log()) == []
            assert_counted()
            self._compare_sums()
            self._clean = state

    def _compare_sums(self) -> None:
        """A turn that goes on has the rest of it counted when it ends again."""
        if not any(turn.status in LIVE for turn in self.turns):
            thoughts = [ms for turn in self.turns for ms in turn.durations.values()]
            sums = in_all()
            assert (sums["answers"], sums["thoughts"]) == (len(self.turns), len(thoughts))
            assert sums["thinking_ms"] == sum(thoughts)


def _save_alone(claim: store.Claim, seen: Seen) -> None:
    if not store.save_drafts([(claim, seen.draft.to_json(seen.at))]):
        raise Fenced


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
def test_any_order_of_writes_gives_the_rows_that_the_model_says(request):
    much = request.config.getoption("--whole")
    slow_is_fine = [HealthCheck.too_slow, HealthCheck.data_too_large]
    phases = [Phase.reuse, Phase.generate, Phase.shrink]
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=100 if much else 25,
            stateful_step_count=20,
            deadline=None,
            phases=phases,
            suppress_health_check=slow_is_fine,
        ),
    )
