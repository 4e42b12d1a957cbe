"""A writer that freezes between its check and its write, while another takes the turn over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import F

from chatapp import store
from chatapp.store import Claim, Fenced, Measured
from chatapp.store.models import Item, Message, Status, ToolRun
from tests.support.make import call, result, seen, text, thought
from tests.support.patience import PATIENCE
from tests.support.threads import InThread

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]


INSERT = 'INSERT INTO "chatapp_item"'


def takeover(claim: Claim) -> None:
    store.claim_turn(claim.message, runner="successor", seen=claim.attempt)


def items(claim: Claim) -> int:
    return Item.objects.filter(message=claim.message).count()


def test_a_successor_waits_for_a_writer_inside_its_transaction_and_then_sees_what_was_written(claimed):
    writer = InThread(lambda: store.append_round(claimed, [thought(), text()], Measured()), at=INSERT)
    assert writer.frozen.wait(PATIENCE)
    found: list[int] = []
    successor = InThread(lambda: (takeover(claimed), found.append(items(claimed))))
    assert not successor.finished(0.3)
    writer.thaw.set()
    assert writer.finished(PATIENCE) and successor.finished(PATIENCE)
    assert (writer.problem, successor.problem, found) == (None, None, [2])


# Where a fence can be too late: SQLite lets one writer in at a time, so there it is before the transaction begins.
BEGIN = "BEGIN"


def test_a_writer_that_wakes_after_the_takeover_writes_nothing(claimed):
    at = BEGIN if connection.vendor == "sqlite" else 'UPDATE "chatapp_message"'
    writer = InThread(lambda: store.append_round(claimed, [text()], Measured()), at=at)
    assert writer.frozen.wait(PATIENCE)
    takeover(claimed)
    writer.thaw.set()
    assert writer.finished(PATIENCE)
    assert isinstance(writer.problem, Fenced)
    assert items(claimed) == 0
    row = Message.objects.get(pk=claimed.message)
    assert (row.next_seq, row.attempt, row.runner) == (0, claimed.attempt + 1, "successor")


WRITES: dict[str, Callable[[Claim], object]] = {
    "append_round": lambda claim: store.append_round(claim, [text()], Measured()),
    "begin_call": lambda claim: store.begin_call(claim, call()),
    "append_result": lambda claim: store.append_result(claim, result(), Measured()),
    "park": lambda claim: store.park(claim, [call()], Measured()),
    "finish": lambda claim: store.finish(claim, [text()], Measured()),
    "give_up": lambda claim: store.give_up(claim, Status.FAILED, seen(claim.attempt), Measured(), {}),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize(
    "lost", [takeover, lambda claim: store.stop(claim.message, None)], ids=["takeover", "stop"]
)
def test_whoever_lost_a_turn_writes_nothing_to_it(claimed, write, lost):
    lost(claimed)
    row = Message.objects.values().get(pk=claimed.message)
    with pytest.raises(Fenced):
        write(claimed)
    assert Message.objects.values().get(pk=claimed.message) == row
    assert (items(claimed), ToolRun.objects.count()) == (0, 0)


def unfenced_append(claim: Claim) -> None:
    """What looks right and is wrong: the check is a transaction of its own."""
    rows = Message.objects.filter(pk=claim.message, attempt=claim.attempt, status=Status.RUNNING)
    if not rows.update(next_seq=F("next_seq") + 1):
        raise Fenced
    with transaction.atomic():
        Item.objects.bulk_create(
            [Item(message_id=claim.message, seq=0, key="late", kind="assistant_message")]
        )


def test_the_harness_catches_a_writer_without_a_fence(claimed):
    at = BEGIN if connection.vendor == "sqlite" else INSERT
    writer = InThread(lambda: unfenced_append(claimed), at=at)
    assert writer.frozen.wait(PATIENCE)
    takeover(claimed)
    writer.thaw.set()
    assert writer.finished(PATIENCE)
    assert writer.problem is None
    assert Item.objects.filter(message=claimed.message, key="late").exists(), "the late item slips in"


ROUNDS = 100


def race(claim: Claim, round: int) -> dict[str, Any]:
    """Three rivals let go at the same moment; what became of each: True, False or what it raised."""
    rivals = [
        ("finish", lambda: store.finish(claim, [text()], Measured())),
        ("stop", lambda: store.stop(claim.message, None)),
        ("claim", lambda: takeover(claim)),
    ]
    line, outcomes = Barrier(len(rivals)), dict.fromkeys((name for name, _ in rivals), False)

    def run(name: str, work: Callable[[], Any]) -> None:
        line.wait(PATIENCE)
        outcomes[name] = work() is not False

    # Who comes to the line last is often the first to leave it, so that is somebody else each time.
    turned = rivals[round % 3 :] + rivals[: round % 3]
    racers = {name: InThread(partial(run, name, work)) for name, work in turned}
    assert all(racer.finished(PATIENCE) for racer in racers.values())
    return outcomes | {name: racer.problem for name, racer in racers.items() if racer.problem}


def test_finish_against_a_rival_has_one_winner(ask):
    """Finish, stop and a takeover at once, again and again: the first one holds, and the rows say which."""
    winners: Counter[str] = Counter()
    for round in range(ROUNDS):
        claim = store.claim_turn(ask().answer, runner="here", seen=0)
        outcomes = race(claim, round)
        row = Message.objects.get(pk=claim.message)
        lost = {name for name, outcome in outcomes.items() if isinstance(outcome, Fenced)}
        if outcomes["finish"] is True:
            winner, after = "finish", (Status.COMPLETE, 1, 1)
            assert (outcomes["stop"], lost) == (False, {"claim"})
        elif outcomes["claim"] is True:
            # A turn that has only changed hands can still be stopped.
            winner, after = "claim", (Status.STOPPED, 3, 0)
            assert (outcomes["stop"], lost) == (True, {"finish"})
        else:
            winner, after = "stop", (Status.STOPPED, 2, 0)
            assert (outcomes["stop"], lost) == (True, {"finish", "claim"})
        assert (row.status, row.attempt, items(claim)) == after
        winners[winner] += 1
    assert list(store.verify_log()) == []
    assert len(winners) >= 2, f"no race: {winners}"
