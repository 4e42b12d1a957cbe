"""What supervisors, load balancers and Prometheus are told."""

from __future__ import annotations

import re

import pytest
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

from chatapp import store
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
@pytest.mark.django_db
def test_it_is_ready_when_the_database_answers_and_fits(client):
    response = client.get("/health/ready")
    assert (response.status_code, response.json()) == (
        200,
        {"ready": True, "database": True, "migrated": True, "writable": True},
    )


@pytest.mark.both
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


def figures(client) -> dict[str, float]:
    response = client.get("/metrics")
    assert response["Content-Type"].startswith("text/plain")
    return {
        name: float(value)
        for name, value in re.findall(r"^(thoughtline\S+) (\S+)$", response.text, re.MULTILINE)
    }


@pytest.mark.both
def test_figures_count_turns_and_name_nobody(client, alice):
    conversation = store.start_conversation(alice, tools=[])
    store.start_turn(
        conversation.id,
        "a canary question",
        parent=None,
        author=alice,
        asked=store.AskedFor(model="demo:thinker"),
    )
    now = figures(client)
    assert now['thoughtline_turns{status="queued"}'] == 1
    assert now["thoughtline_turns_live"] == 1
    assert now["thoughtline_process_memory_bytes"] > 10_000_000
    text = client.get("/metrics").text
    assert not any(word in text for word in ("canary", "alice", str(conversation.id)))


@pytest.mark.django_db
def test_figures_count_answers_by_status(client):
    before = figures(client).get('thoughtline_http_responses_total{status="404"}', 0)
    client.get("/no/such/page")
    assert figures(client)['thoughtline_http_responses_total{status="404"}'] == before + 1


@pytest.mark.django_db
def test_every_line_is_one_that_prometheus_can_read(client):
    for line in client.get("/metrics").text.splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) \w+ .+|\w+(\{\w+="\w+"\})? \d+(\.\d+)?', line)
