"""`manage.py seed_demo`: a world that is whole, in which everybody sees what is theirs, and which is there once."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.support.shell import Shell

LOOK = "from tests.management.seeded import {}; {}()"
STRANGER = "from django.contrib.auth.models import User; User.objects.create(username='alice')"


def facts(shell: Shell, what: str = "count") -> dict[str, Any]:
    ended = shell.run("shell", "--no-imports", "-c", LOOK.format(what, what), LOG_LEVEL="critical")
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@pytest.fixture(scope="module")
def shell(tmp_path_factory) -> Shell:
    return Shell(tmp_path_factory.mktemp("seeded"))


@pytest.fixture(scope="module")
def said(shell) -> str:
    """What the command prints on a database in which nothing is."""
    ended = shell.run("seed_demo")
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


@pytest.fixture(scope="module")
def world(shell, said) -> dict[str, Any]:
    return facts(shell, "tell")


def test_there_are_as_many_conversations_as_the_readme_says(said):
    assert "30 conversations are being made." in said


def test_the_log_of_a_seeded_database_is_whole(world):
    assert world["breaches"] == []


def test_everybody_sees_what_is_theirs_and_nothing_else(world):
    assert world["seen"] == {name: [[200], [404]] for name in ("alice", "bob", "charlie", "dana")}


def test_there_are_a_reviewer_and_an_administrator(world):
    staff_and_reviewer = {"alice": [0, 0], "bob": [0, 1], "charlie": [0, 0], "dana": [1, 0]}
    assert world["roles"] == staff_and_reviewer


def test_thoughts_took_many_seconds_although_nobody_waited(world):
    """Each answer of the thinker has its own, and they add up to less than it took."""
    long = [ms for ms in world["thoughts"] if ms > 10_000]
    assert len(world["thoughts"]) > 100
    assert min(world["thoughts"]) > 300
    assert len(long) > 10
    assert max(world["thoughts"]) < 90_000
    assert all(world["elapsed"])


def test_there_is_something_of_everything(world):
    assert world["statuses"].keys() == {"complete", "stopped", "failed", "waiting"}
    assert world["outcomes"].keys() == {"done", "failed", "denied"}
    assert world["decisions"] == ["conversation", "denied"]
    assert world["models"] == ["demo:talker", "demo:thinker"]
    assert {"high", "low", "medium", "off", ""} == set(world["efforts"])
    assert world["branching"] > 5
    assert (world["pinned"], world["archived"], world["instructed"]) == (1, 1, 1)
    assert world["forks"] == [["alice", "alice"], ["bob", "alice"], ["charlie", "alice"]]
    assert ["dana", "transcript"] in world["looks"]


def test_it_happened_on_many_days_in_its_order_and_before_now(world):
    assert len(world["days"]) > 12
    assert world["counted days"] > 12
    assert (world["still to come"], world["out of order"]) == (0, 0)


def test_reviews_stand_at_each_step_from_the_queue_to_the_verdict(world):
    assert world["reviews"] == [
        ["branch", "bob", "", 1],
        ["branch", "bob", "approved", 0],
        ["branch", "bob", "needs work", 2],
        ["tree", "", "", 0],
    ]
    assert world["wishes"] == [["dana", "alice"]]
    assert world["noted too early"] == 0


def test_its_links_open_except_for_one_that_was_revoked(world):
    assert world["shared"] == [[True, False, 14, 200], [False, True, 3, 200], [True, False, 1, 404]]


def test_the_second_time_nothing_is_added(shell, world):
    again = shell.run("seed_demo")
    assert (again.returncode, again.stdout.startswith("It is there already")) == (0, True)
    assert facts(shell)["messages"] == world["messages"]


def test_what_a_first_run_did_not_come_to_is_added(shell, world):
    gone = "from chatapp.models import *; Conversation.objects.filter(title='Asking the router').delete()"
    assert shell.run("shell", "--no-imports", "-c", gone).returncode == 0
    assert shell.run("seed_demo").stdout.splitlines()[1] == "1 conversation is being made."
    assert facts(shell)["messages"] == world["messages"]


def test_a_weak_password_is_refused_before_anything_is_there(tmp_path):
    shell = Shell(tmp_path)
    ended = shell.run("seed_demo", "--password", "alice")
    assert ended.returncode == 1
    assert "too short" in ended.stderr
    assert facts(shell)["people"] == []


def password(words: str) -> str:
    found = re.search(r"signs in with the password (\S{16,})$", words, re.MULTILINE)
    assert found
    return found[1]


def test_conversations_of_others_are_not_joined_unless_it_is_wanted(said, tmp_path):
    """Nor does anybody sign in there with a password that is known from elsewhere."""
    shell = Shell(tmp_path)
    shell.lines("What is 12 * 13?", "--model", "demo:thinker")
    ended = shell.run("seed_demo")
    assert ended.returncode == 1
    assert "--beside" in ended.stderr
    assert facts(shell)["messages"] == 2
    ended = shell.run("seed_demo", "--beside", PUBLIC_URL="https://chat.example.org")
    assert password(ended.stdout) != password(said)
    assert "administrator" in said and "administrator" not in ended.stdout
    assert facts(shell)["messages"] > 100


def test_an_account_of_somebody_else_stays_theirs(tmp_path):
    shell = Shell(tmp_path)
    shell.run("verify_log")
    shell.run("shell", "--no-imports", "-c", STRANGER)
    for more in ([], ["--beside"]):
        ended = shell.run("seed_demo", *more)
        assert ended.returncode == 1
        assert "The name alice is taken" in ended.stderr
    assert facts(shell)["people"] == ["alice"]
