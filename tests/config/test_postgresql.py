"""A connection of the pool that has just answered is not asked whether it lives, and one that has ended is given to nobody."""

from __future__ import annotations

import pytest
from django.db import connection

from tests.support.faults import beside

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _server():
    if connection.vendor != "postgresql":
        pytest.skip("a file has no connections")


def process() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def test_one_that_was_ended_a_moment_ago_is_given_to_nobody():
    with beside("postgres") as other:
        for _ in range(20):
            mine = process()
            connection.close()
            other.execute("SELECT pg_terminate_backend(%s)", [mine])
            while other.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [mine]).fetchone():
                pass
            assert process() != mine


def test_who_comes_right_after_another_gets_its_connection_without_a_question():
    asked = "SELECT query FROM pg_stat_activity WHERE pid = %s"
    with beside("postgres") as other:

        def last_words() -> str:
            """Of the connection that is given next."""
            for _ in range(3):
                process()
                connection.close()
            with connection.cursor():
                return str(other.execute(asked, [connection.connection.info.backend_pid]).fetchone()[0])

        # On a machine with much to do, another may take its time in between.
        assert any("pg_backend_pid" in last_words() for _ in range(50))
