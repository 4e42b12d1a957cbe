"""Tables are changed without haste, whoever changes them."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models.signals import pre_migrate

pytestmark = [
    pytest.mark.both,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite ends nobody's transaction"),
]


def patience() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        return cursor.fetchone()[0]


def test_who_changes_tables_may_think_for_long_and_nobody_after_them():
    """Each migration is one transaction, and a busy machine may take seconds between two of its statements."""
    seen = []

    def look(**_: object) -> None:
        seen.append(patience())

    pre_migrate.connect(look)
    try:
        call_command("migrate", verbosity=0)
    finally:
        pre_migrate.disconnect(look)
    assert {*seen} == {"0"}
    assert patience() == "5s"
