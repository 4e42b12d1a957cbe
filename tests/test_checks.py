"""Settings that can be read but will not do what was meant are told in words."""

from __future__ import annotations

import pytest
from django.db import connection

from chatapp import checks


def test_one_process_on_a_database_for_many_is_told(settings):
    settings.REDIS_URL = ""
    told = [each.msg for each in checks.one_process()]
    assert [("REDIS_URL" in sentence) for sentence in told] == [True] * (connection.vendor == "postgresql")
    settings.REDIS_URL = "redis://localhost"
    assert checks.one_process() == []


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("", False),
        ("https://example.org", False),
        ("http://localhost:8000", False),
        ("http://example.org", True),
    ],
)
def test_passwords_on_an_open_road_are_told(settings, address, told):
    settings.PUBLIC_URL = address
    assert len(checks.unencrypted_address()) == told


def test_the_installed_packages_are_new_enough_and_older_ones_are_not(monkeypatch):
    assert checks.old_packages() == []
    monkeypatch.setitem(checks.FLOORS, "daphne", (99,))
    assert "Daphne" in checks.old_packages()[0].msg.title()


def test_a_python_with_an_old_sqlite_is_told_in_words(monkeypatch):
    assert checks.old_sqlite() == []
    monkeypatch.setattr("sqlite3.sqlite_version_info", (3, 34, 1))
    assert [error.id for error in checks.old_sqlite()] == ["chatapp.E002"] * (connection.vendor == "sqlite")
