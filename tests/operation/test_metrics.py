"""What Prometheus is told."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chatapp import store
from chatapp.operation.models import TakeOver
from chatapp.store.changes import turn_lost
from chatapp.store.models import Conversation, Message, Status
from tests.operation.beside import beside, said_by
from tests.support.turns import begun, ended


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
        assert re.fullmatch(r'# (HELP|TYPE) \w+ .+|\w+(\{\w+="[\w.]+"\})? \d+(\.\d+)?', line)


@pytest.mark.both
@pytest.mark.django_db
def test_figures_tell_what_waits_and_for_how_long(client, alice):
    for status in (Status.QUEUED, Status.WAITING, Status.WAITING):
        Message.objects.filter(pk=begun(alice).answer).update(status=status)
    program = begun(alice)
    Message.objects.filter(pk=program.answer).update(status=Status.WAITING)
    Conversation.objects.filter(pk=program.conversation).update(program="Zed")
    now = figures(client)
    waiting = {
        what: now[f'thoughtline_turns_waiting{{for="{what}"}}'] for what in ("slot", "person", "program")
    }
    assert waiting == {"slot": 1, "person": 2, "program": 1}
    assert 0 < now['thoughtline_turns_waiting_oldest_seconds{for="person"}'] < 60


@pytest.mark.both
@pytest.mark.django_db
def test_figures_cost_as_much_however_much_was_ever_said(client, alice):
    """No statement goes through messages that have ended."""

    def asked() -> list[str]:
        with CaptureQueriesContext(connection) as captured:
            figures(client)
        return [each["sql"] for each in captured if "chatapp_message" in each["sql"]]

    few = asked()
    for _ in range(5):
        ended(alice)
    many = asked()
    assert len(many) == len(few) > 0
    if connection.vendor == "sqlite":
        for sql in many:
            plan = " ".join(
                row[3] for row in connection.cursor().execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
            )
            assert "live_turns" in plan


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_turns_that_end_here_are_counted_by_how_they_do(client, claimed):
    before = figures(client).get('thoughtline_turns_ended_total{status="complete"}', 0)
    store.finish(claimed, [], store.Measured())
    assert figures(client)['thoughtline_turns_ended_total{status="complete"}'] == before + 1


@pytest.mark.both
@pytest.mark.django_db
def test_take_overs_of_the_last_day_are_counted_once(client, claimed):
    (turn,) = store.load_live_turns()
    for _ in range(3):
        turn_lost.send(sender=None, turn=turn, goes_on=True)
    assert figures(client)["thoughtline_turns_taken_over_day"] == TakeOver.objects.count() == 1


@pytest.mark.both
@pytest.mark.django_db
def test_a_turn_that_nobody_had_begun_was_taken_from_nobody(ask):
    ask()
    (turn,) = store.load_live_turns()
    turn_lost.send(sender=None, turn=turn, goes_on=True)
    assert not TakeOver.objects.exists()


@pytest.mark.both
@pytest.mark.django_db
def test_processes_beside_this_one_are_counted(client, settings):
    beside(settings)
    for name in "abc":
        said_by(name, task="work")
    said_by("d", task="web", silent_for=60)
    said_by("e", task="web", fingerprints={"SECRET_KEY": "other"})
    now = figures(client)
    assert now['thoughtline_processes{task="work"}'] == 3
    assert now['thoughtline_processes{task="web"}'] == 1
    assert (now["thoughtline_processes_silent"], now["thoughtline_processes_different"]) == (1, 1)
