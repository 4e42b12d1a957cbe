"""A writer that freezes between its check and its write, while another takes the turn over."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import F

from chatapp import store
from chatapp.models import Item, Message, Status
from chatapp.store import Claim, Fenced, Measured

from .make import text, thought

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]
PATIENCE = 10


class InThread:
    """Runs a function in a thread of its own; optionally frozen at its first statement that begins with `at`."""

    def __init__(self, work: Callable[[], Any], *, at: str = "") -> None:
        self.frozen, self.thaw, self.problem = Event(), Event(), None
        self._work, self._at = work, at
        self._thread = Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            with connection.execute_wrapper(self._freeze):
                self._work()
        except Exception as problem:
            self.problem = problem
        finally:
            connection.close()

    def _freeze(self, execute, sql, params, many, context):
        if self._at and sql.startswith(self._at) and not self.thaw.is_set():
            self.frozen.set()
            assert self.thaw.wait(PATIENCE)
        return execute(sql, params, many, context)

    def finished(self, within: float) -> bool:
        self._thread.join(within)
        return not self._thread.is_alive()


INSERT = 'INSERT INTO "chatapp_item"'


def takeover(claim: Claim) -> None:
    store.claim(claim.message, runner="successor", seen=claim.attempt)


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


def test_a_writer_that_wakes_after_the_takeover_writes_nothing(claimed):
    writer = InThread(
        lambda: store.append_round(claimed, [text()], Measured()), at='UPDATE "chatapp_message"'
    )
    if connection.vendor == "sqlite":
        # Its transaction has begun and holds the only writer's place: nobody can take over before it ends.
        assert writer.frozen.wait(PATIENCE)
        writer.thaw.set()
        assert writer.finished(PATIENCE)
        assert items(claimed) == 1
        return
    assert writer.frozen.wait(PATIENCE)
    takeover(claimed)
    writer.thaw.set()
    assert writer.finished(PATIENCE)
    assert isinstance(writer.problem, Fenced)
    assert items(claimed) == 0
    assert Message.objects.get(pk=claimed.message).next_seq == 0


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
    writer = InThread(lambda: unfenced_append(claimed), at=INSERT)
    if connection.vendor == "sqlite":
        # The transaction of the insert begins before the statement that freezes; let it begin late instead.
        writer.thaw.set()
        assert writer.finished(PATIENCE)
        writer = InThread(
            lambda: unfenced_in_two_steps(claimed), at='SELECT COUNT(*) AS "__count" FROM "chatapp_item"'
        )
    assert writer.frozen.wait(PATIENCE)
    takeover(claimed)
    writer.thaw.set()
    assert writer.finished(PATIENCE)
    assert writer.problem is None
    assert Item.objects.filter(message=claimed.message, key="late").exists(), "the late item slips in"


def unfenced_in_two_steps(claim: Claim) -> None:
    Item.objects.filter(message=claim.message).delete()
    if not Message.objects.filter(pk=claim.message, attempt=claim.attempt, status=Status.RUNNING).exists():
        raise Fenced
    items(claim)
    Item.objects.create(message_id=claim.message, seq=0, key="late", kind="assistant_message")


@pytest.mark.parametrize("rival", ["stop", "claim"])
def test_finish_against_a_rival_has_one_winner(claimed, rival):
    """Both at once, again and again: exactly one of them holds, and the rows say which."""
    finisher = InThread(lambda: store.finish(claimed, [text()], Measured()))
    other = (lambda: store.stop(claimed.message, None)) if rival == "stop" else (lambda: takeover(claimed))
    challenger = InThread(other)
    assert finisher.finished(PATIENCE) and challenger.finished(PATIENCE)
    row = Message.objects.get(pk=claimed.message)
    if finisher.problem is None:
        assert (row.status, items(claimed)) == (Status.COMPLETE, 1)
    else:
        assert isinstance(finisher.problem, Fenced)
        assert (row.status, items(claimed)) == ({"stop": "stopped", "claim": "running"}[rival], 0)
