"""What supervisors and load balancers are told."""

from __future__ import annotations

import pytest
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

from chatapp.operation.part.noticed import NOTICED
from chatapp.processes.itself import ITSELF
from chatapp.store.database import probing
from chatapp.store.running_models import Throttle
from tests.support.faults import locked, read_only, short_patience


@pytest.fixture
def lost_database(settings, tmp_path):
    """A database file in a folder that is gone."""
    usual = connections["default"].settings_dict["NAME"]
    connections["default"].close()
    connections["default"].settings_dict["NAME"] = str(tmp_path / "gone" / "file.sqlite3")
    yield
    connections["default"].close()
    connections["default"].settings_dict["NAME"] = usual


def test_the_process_lives_without_asking_anybody(client):
    response = client.get("/health/live")
    assert (response.status_code, response.json()) == (200, {"live": True})


@pytest.mark.both
@pytest.mark.one_process("beside others there is more to tell")
@pytest.mark.django_db
def test_it_is_ready_when_the_database_answers_and_fits(client):
    response = client.get("/health/ready")
    assert (response.status_code, response.json()) == (
        200,
        {"ready": True, "database": True, "migrated": True, "writable": True},
    )


@pytest.mark.both
@pytest.mark.one_process("beside others there is more to tell")
@pytest.mark.django_db
def test_it_is_not_ready_while_a_migration_is_missing(client):
    MigrationRecorder.Migration.objects.filter(app="chatapp").delete()
    response = client.get("/health/ready")
    assert (response.status_code, response.json()) == (
        503,
        {"ready": False, "database": True, "migrated": False, "writable": False},
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("lost_database")
def test_it_is_not_ready_without_a_database_and_lives_all_the_same(client):
    response = client.get("/health/ready")
    assert (response.status_code, response.json()["database"]) == (503, False)
    assert client.get("/health/live").status_code == 200
    assert "thoughtline_database_answers 0" in client.get("/metrics").text


@pytest.mark.both
@pytest.mark.one_process("beside others there is more to tell")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fault", [locked, read_only])
def test_it_is_not_ready_while_nothing_can_be_written_and_is_when_that_is_over(client, fault, monkeypatch):
    monkeypatch.setattr(probing, "SECONDS", 0)
    with short_patience(), fault():
        response = client.get("/health/ready")
    assert (response.status_code, response.json()) == (
        503,
        {"ready": False, "database": True, "migrated": True, "writable": False},
    )
    assert client.get("/health/ready").status_code == 200


@pytest.mark.django_db
def test_whoever_asks_often_makes_it_write_once(client, monkeypatch):
    monkeypatch.setattr(probing, "_found", (0.0, False))
    client.get("/health/ready")
    before = Throttle.objects.get(name="probe").since
    for _ in range(3):
        assert client.get("/health/ready").status_code == 200
    assert Throttle.objects.get(name="probe").since == before


@pytest.fixture
def beside_others(settings, monkeypatch):
    """Nobody asks Redis here: what was noticed of it is told."""
    settings.REDIS_URL = "redis://cache.invalid"
    monkeypatch.setattr(NOTICED, "redis_away_since", None)


@pytest.mark.both
@pytest.mark.django_db
@pytest.mark.usefixtures("beside_others")
def test_redis_being_away_is_told_and_keeps_nobody_from_serving(client):
    assert client.get("/health/ready").json()["redis"] is True
    NOTICED.note_redis(answers=False)
    response = client.get("/health/ready")
    assert (response.status_code, response.json()["ready"], response.json()["redis"]) == (200, True, False)


@pytest.mark.both
@pytest.mark.django_db
@pytest.mark.usefixtures("beside_others")
def test_whoever_was_told_to_end_is_not_ready_and_lives(client, monkeypatch):
    monkeypatch.setattr(ITSELF, "is_ending", True)
    response = client.get("/health/ready")
    assert (response.status_code, response.json()["ready"], response.json()["ending"]) == (503, False, True)
    assert client.get("/health/live").status_code == 200


@pytest.mark.both
@pytest.mark.django_db
@pytest.mark.usefixtures("beside_others")
@pytest.mark.parametrize("fetches", [True, False])
def test_whoever_works_is_ready_while_it_fetches_turns(client, monkeypatch, fetches):
    monkeypatch.setattr(ITSELF, "fetches", lambda: fetches)
    response = client.get("/health/ready")
    assert (response.status_code, response.json()["fetches"]) == (200 if fetches else 503, fetches)
