"""The connections to PostgreSQL of a process: those that are cut while nobody uses them are no trouble of whoever comes next."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from chatapp.config.patience import SECONDS
from chatapp.store.database.pool import pool_now
from tests.support.faults import beside
from tests.support.patience import PATIENCE

pytestmark = [
    pytest.mark.both,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite is a file"),
]
MANY = 8


def ask() -> int:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return cursor.fetchone()[0]
    finally:
        connection.close()


@pytest.fixture
def crowd():
    """As many connections as people who ask at once, none of them in use."""
    all_at_once = Barrier(MANY, timeout=PATIENCE)

    def ask_together() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        all_at_once.wait()
        return ask()

    with ThreadPoolExecutor(MANY) as people:
        assert len({*people.map(lambda _: ask_together(), range(MANY))}) == MANY
        yield people


def cut_all() -> None:
    connection.close()
    with beside("postgres") as other:
        other.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s",
            [connection.settings_dict["NAME"]],
        )


def test_the_first_who_asks_after_all_were_cut_is_answered_at_once(crowd):
    cut_all()
    began = time.monotonic()
    assert ask()
    assert time.monotonic() - began < SECONDS / 2


def test_so_are_all_who_ask_together(crowd):
    cut_all()
    began = time.monotonic()
    assert len([*crowd.map(lambda _: ask(), range(3 * MANY))]) == 3 * MANY
    assert time.monotonic() - began < SECONDS / 2
    told = pool_now()
    assert told and told.size <= told.most
