"""Real processes beside each other on PostgreSQL and Redis: what each tells of itself and of the others, while they live, end and die."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.request import Request, urlopen

import pytest

from tests.operation.machines import Machine, Machines, machines
from tests.support.patience import PATIENCE

SECRET = "canary-0123456789-canary"
QUESTION = ("ask", "How much is 14 * 60 * 0.8?", "--model", "demo:thinker", "--user", "dana")


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> Iterator[Machines]:
    with machines(tmp_path_factory.mktemp("machines")) as made:
        assert made.run("migrate", "--no-input", "--verbosity=0").returncode == 0
        yield made


@pytest.fixture
def worker(many) -> Machine:
    return many.workers(1)[0]


@pytest.fixture(scope="module")
def web(many) -> Machine:
    return many.start("serve")


@pytest.fixture(scope="module")
def dana(many) -> None:
    """Whom questions on the terminal are asked for."""
    made = many.run(
        "createsuperuser", "--no-input", "--username=dana", "--email=", DJANGO_SUPERUSER_PASSWORD="x"
    )
    assert made.returncode == 0, made.stderr


def test_a_worker_says_that_it_lives_is_ready_and_how_it_is(worker):
    assert worker.get("/health/live") == (200, '{"live": true}')
    status, facts = worker.ready()
    assert (status, facts["ready"], facts["fetches"], facts["redis"], facts["ending"]) == (
        200,
        True,
        True,
        True,
        False,
    )
    figures = worker.figures()
    assert (figures["fetches"], figures["redis_answers"], figures["database_answers"]) == (1, 1, 1)
    assert figures["places"] > 0
    assert worker.get("/admin/")[0] == worker.get("/")[0] == 404


def test_each_is_known_to_the_others(many, worker, web):
    web.until(lambda: web.figures()['processes{task="web"}'] == 1)
    number = len(many.workers(1))
    worker.until(lambda: worker.figures()['processes{task="work"}'] == number)
    assert web.figures()["processes_different"] == 0
    assert web.ready()[1]["redis"] is True


def test_check_finds_nothing_where_all_is_well(many, worker):
    ended = many.run("check")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_check_says_of_a_machine_what_is_different_and_never_its_value(many, worker):
    ended = many.run("check", OPENAI_API_KEY=SECRET)
    assert ended.returncode == 1
    assert "This machine has a OPENAI_API_KEY, which the others have not." in ended.stderr
    assert SECRET not in ended.stderr + ended.stdout


def test_check_says_who_does_not_answer(many):
    away = {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1"}
    ended = many.run("check", **away)
    assert ended.returncode == 1
    assert "PostgreSQL cannot be used: " in ended.stderr
    assert "Redis does not answer at 127.0.0.1:1: pages pause until it does." in ended.stderr


def test_a_machine_that_is_different_says_so_and_is_counted(many, worker):
    other = many.start("work", DEEPSEEK_API_KEY=SECRET)
    other.until(lambda: "This process has a DEEPSEEK_API_KEY, which the others have not." in other.log)
    assert SECRET not in other.log
    assert worker.figures()["processes_different"] == 1
    other.tell_to_end()
    assert other.ended() == 0
    assert worker.figures()["processes_different"] == 0


def test_a_worker_that_is_told_to_end_is_not_ready_lets_its_answer_end_and_leaves(many, dana):
    workers = many.workers(2)
    before = workers[0].figures()["turns_taken_over_day"]
    with many.begin(*QUESTION) as asking:
        busy = _at_work(workers)
        busy.tell_to_end()
        busy.until(lambda: busy.ready()[0] == 503)
        assert busy.ready()[1]["ending"] is True
        assert busy.ended() == 0
        assert "672" in asking.communicate(timeout=PATIENCE)[0]
    assert many.workers(1)[0].figures()["turns_taken_over_day"] == before


def test_a_worker_that_dies_at_its_work_is_missed_and_its_turn_is_counted_as_taken_over(many, dana):
    workers = many.workers(2)
    before = workers[0].figures()["turns_taken_over_day"]
    with many.begin(*QUESTION) as asking:
        _at_work(workers).kill()
        left = many.workers(1)[0]
        left.until(lambda: left.figures()["turns_taken_over_day"] == before + 1)
        assert "672" in asking.communicate(timeout=PATIENCE)[0]


KEY = """
from django.contrib.auth.models import User
from chatapp.gateway.store.keys import KeyChoices, create_key
print(create_key(User.objects.get(username="dana"), KeyChoices(name="A program"))[1])
"""


def test_a_web_process_that_is_told_to_end_takes_nobody_in_lets_a_program_hear_its_answer_and_leaves(
    many, web, worker, dana
):
    secret = many.run("shell", "--no-imports", "-c", KEY).stdout.strip()
    asked = {
        "model": "demo:thinker",
        "stream": True,
        "messages": [{"role": "user", "content": "Show me a table."}],
    }
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    where = f"http://127.0.0.1:{web.port}/v1/chat/completions"
    with urlopen(Request(where, json.dumps(asked).encode(), headers), timeout=PATIENCE) as answer:
        assert answer.readline()
        web.tell_to_end()
        web.until(lambda: web.ready()[0] == 0)
        assert b"data: [DONE]" in answer.read()
    assert web.ended() == 0
    assert worker.figures()['processes{task="web"}'] == 0


def _at_work(workers: list[Machine]) -> Machine:
    """Whichever of them took the turn."""
    workers[0].until(lambda: any(each.turns for each in workers))
    return next(each for each in workers if each.turns)
