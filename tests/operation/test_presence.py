"""Who is there: processes take names, keep them, leave, and are replaced."""

from __future__ import annotations

import pytest

from chatapp.operation.models import FingerprintSalt, KnownProcess
from chatapp.operation.store import fingerprints as prints
from chatapp.operation.store import presence
from chatapp.operation.store.fingerprints import Difference, differences
from chatapp.store.database.pool import ask_database
from tests.operation.beside import said_by

pytestmark = [pytest.mark.both, pytest.mark.django_db]


def names() -> list[str]:
    return [each.name for each in presence.load_present(ask_database().now)]


def test_each_has_a_name_that_it_keeps_and_that_is_free_again_when_it_left():
    for runner in ("a/1", "b/1", "c/1"):
        said_by(runner)
    said_by("d/1", task="work")
    assert names() == ["web-1", "web-2", "web-3", "work-1"]
    presence.leave("b/1")
    said_by("c/1")
    assert names() == ["web-1", "web-3", "work-1"]
    said_by("e/1")
    assert str(KnownProcess.objects.get(runner="e/1")) == "web-2"


def test_whoever_says_nothing_for_long_is_silent_and_forgotten_after_a_day():
    said_by("a/1", silent_for=20)
    said_by("b/1", silent_for=60)
    said_by("c/1", silent_for=100_000)
    now = ask_database().now
    assert {each.runner: each.silent_since is not None for each in presence.load_present(now)} == {
        "a/1": False,
        "b/1": True,
    }
    said_by("d/1")
    assert not KnownProcess.objects.filter(runner="c/1").exists()


def test_whoever_comes_back_into_a_folder_takes_the_place_of_the_one_that_died_there():
    said_by("home/dead", silent_for=60)
    said_by("home/alive")
    said_by("elsewhere/dead", silent_for=60)
    presence.replace_lost("home/dead".__eq__)
    assert set(KnownProcess.objects.values_list("runner", flat=True)) == {"home/alive", "elsewhere/dead"}


def test_the_salt_is_made_once():
    assert prints.load_salt() == prints.load_salt() == FingerprintSalt.objects.get().salt


def test_a_fingerprint_says_whether_two_are_the_same_and_nothing_else(settings):
    settings.SECRET_KEY = "one" * 20
    mine = prints.fingerprints("salt")
    assert mine == prints.fingerprints("salt")
    assert mine["OPENAI_API_KEY"] == ""
    assert mine["SECRET_KEY"] != prints.fingerprints("other salt")["SECRET_KEY"]
    settings.SECRET_KEY = "two" * 20
    assert mine["SECRET_KEY"] != prints.fingerprints("salt")["SECRET_KEY"]
    assert len(mine["SECRET_KEY"]) == prints.LETTERS


def test_variables_that_only_others_have_heard_of_count_here_too_and_no_others():
    mine = prints.fingerprints("salt", [{"ACME_API_KEY": "12345678", "PATH": "12345678"}])
    assert mine["ACME_API_KEY"] == "" and "PATH" not in mine


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (("x", "x", "x"), []),
        (("x", "x", "y"), [Difference("c", "KEY")]),
        (("y", "x", "x"), [Difference("a", "KEY")]),
        (("x", "x", ""), [Difference("c", "KEY", is_missing=True)]),
        (("", "", "x"), [Difference("c", "KEY", is_extra=True)]),
        (("x", "y", "z"), [Difference("b", "KEY"), Difference("c", "KEY")]),
    ],
)
def test_whoever_differs_from_most_is_named(values, found):
    known = {who: {"KEY": value} for who, value in zip("abc", values, strict=True)}
    assert differences(known) == found


def test_what_one_has_not_heard_of_is_as_good_as_not_set():
    assert differences({"a": {"KEY": ""}, "b": {}}) == []
    assert [each.who for each in differences({"a": {"KEY": "x"}, "b": {"KEY": "x"}, "c": {}})] == ["c"]
