"""Threads of this process that write to SQLite stand in line."""

from __future__ import annotations

from threading import Event

import pytest
from django.db import OperationalError, connection, transaction

from chatapp.config.patience import patience
from chatapp.config.sqlite.base import line
from chatapp.store.database.trouble import DatabaseTrouble, trouble_in
from tests.support.patience import PATIENCE
from tests.support.threads import InThread

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL locks rows"),
]


def ended_well(*threads: InThread) -> None:
    for thread in threads:
        assert thread.finished(PATIENCE) and thread.problem is None


def write() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE chatapp_throttle SET name = name")


def test_whoever_waits_longer_than_may_be_hears_that_it_is_busy_and_comes_in_afterwards():
    writes, may_end = Event(), Event()

    def hold() -> None:
        with transaction.atomic():
            writes.set()
            assert may_end.wait(PATIENCE)

    def late() -> None:
        with patience(0.05), pytest.raises(OperationalError) as caught:
            write()
        assert trouble_in(caught.value) is DatabaseTrouble.BUSY
        may_end.set()

    first = InThread(hold)
    assert writes.wait(PATIENCE)
    ended_well(InThread(late), first, InThread(write))


def test_what_breaks_inside_keeps_nobody_out():
    def broken() -> None:
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            raise ZeroDivisionError

    def left_open() -> None:
        connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
        assert line.locked()
        connection.close()

    for work in (broken, left_open, write):
        ended_well(InThread(work))
        assert not line.locked()
