"""The page of operation: whether all is well in a sentence, then who serves, who works, what runs and what waits."""

from __future__ import annotations

import json
import time

import pytest
from django.db import connection
from django.test.html import Element
from django.test.utils import CaptureQueriesContext

from chatapp import store
from chatapp.operation.models import KnownProcess
from chatapp.operation.part import figures
from chatapp.pages.door.open_sockets import OpenSockets
from chatapp.pages.staff.password_given import GIVEN_AT
from chatapp.store.changes import turn_lost
from chatapp.store.models import Conversation, Message, Status
from tests.operation.beside import beside, said_by
from tests.support.front import HTMX
from tests.support.page import Page, attribute, words
from tests.support.patience import PATIENCE
from tests.support.turns import begun, ended

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]

WHERE = "/insight/operation/"


@pytest.fixture
def her(client, dana):
    client.force_login(dana)
    return client


@pytest.fixture
def many(settings):
    beside(settings)


def verdict(page) -> str:
    return words(Page(page).one("h2", id="operation-verdict"))


def well(her):
    """A machine that is busy just now is told to be slow, and then no more."""
    ends = time.monotonic() + PATIENCE
    while verdict(page := her.get(WHERE)) != "It runs well":
        assert time.monotonic() < ends, said(page)
    return page


def said(page) -> str:
    return words(Page(page).root)


def rows(page, of: str) -> list[list[str]]:
    (table,) = (each for each in Page(page).all("table") if attribute(each, "aria-label") == of)
    lines = [line for part in table.children if isinstance(part, Element) for line in part.children]
    cells = [
        [cell for cell in line.children if isinstance(cell, Element)]
        for line in lines
        if isinstance(line, Element)
    ]
    return [list(map(words, line)) for line in cells[1:]]


def test_it_is_led_to_from_the_figures_and_from_the_administration(her):
    for path in ("/insight/", "/insight/cache/", "/admin/"):
        assert f'href="{WHERE}"' in her.get(path).text


@pytest.mark.one_process("it is the only one")
def test_one_process_that_does_everything_is_told_as_that(her, monkeypatch):
    # What sockets of other tests this process has not seen go.
    monkeypatch.setattr(figures, "OPEN", OpenSockets())
    page = well(her)
    assert (
        "One process does everything: it serves 0 open pages and has nothing to answer; nothing waits."
        in said(page)
    )
    assert rows(page, "Who works")[0][0].startswith("this process")
    assert rows(page, "Who serves")[0][0].startswith("this process")
    assert "Redis" not in said(page) and connection.display_name in said(page)
    assert "Nothing is being answered at the moment." in said(page)
    assert "No process died at its work." in said(page)
    assert not KnownProcess.objects.exists()


def test_what_waits_is_told_with_for_whom(her, alice):
    for status in (Status.QUEUED, Status.WAITING, Status.WAITING):
        Message.objects.filter(pk=begun(alice).answer).update(status=status)
    program = begun(alice)
    Message.objects.filter(pk=program.answer).update(status=Status.WAITING)
    Conversation.objects.filter(pk=program.conversation).update(program="Zed")
    page = her.get(WHERE)
    assert [row[1] for row in rows(page, "What waits")] == ["1", "2", "1", "0"]
    assert "; 4 wait." in said(page)


def test_what_runs_is_told_with_whose_it_is_and_not_what_it_says(her, alice, many):
    started = begun(alice, "A canary question")
    Message.objects.filter(pk=started.answer).update(
        status=Status.RUNNING, runner="far/1", model="demo:thinker"
    )
    doing = [started.answer.hex, 61_000, "calls", 2_000, "read_page"]
    said_by("far/1", task="work", at_work={"calls": 1}, turns=[doing])
    page = her.get(WHERE)
    (row,) = rows(page, "What runs longest")
    assert row[0].startswith("alice") and row[1].startswith("1 min") and row[4] == "work-1"
    assert row[3] == "callsread_page"
    assert "canary" not in page.text


def test_four_that_are_well_are_told_as_well(her, many):
    for runner in ("a/1", "b/1"):
        said_by(runner, sockets=200)
    for runner in ("c/1", "d/1"):
        said_by(runner, task="work", at_work={"thinks": 3, "writes": 1}, places=500)
    page = well(her)
    assert "2 web processes serve 400 open pages, 2 workers have nothing to do" in said(page)
    assert [row[0].split()[0] for row in rows(page, "Who works")] == ["work-1machine", "work-2machine"]
    assert rows(page, "Who works")[0][3] == "3 think, 1 writes"


def test_where_nobody_works_it_says_how_one_starts(her, many):
    said_by("a/1")
    page = her.get(WHERE)
    assert verdict(page) == "Something is wrong"
    assert "No worker is there: questions will wait until one is started, with ./start --work." in said(page)


def test_whoever_fell_silent_is_named_with_since_when(her, many):
    said_by("a/1")
    said_by("b/1", task="work")
    said_by("c/1", task="work", machine="south", silent_for=240)
    page = her.get(WHERE)
    assert verdict(page) == "Something is wrong"
    assert "work-2 on south fell silent 4 minutes ago, at " in said(page)
    assert rows(page, "Who works")[1][2].startswith("silent since ")
    KnownProcess.objects.filter(runner="c/1").delete()
    said_by("c/1", task="work", silent_for=7_200)
    well(her)


def test_a_machine_that_differs_is_named_with_what_differs_and_never_with_its_value(her, many):
    said_by("a/1", fingerprints={"SECRET_KEY": "11111111", "OPENAI_API_KEY": "33333333"})
    said_by("b/1", task="work", fingerprints={"SECRET_KEY": "11111111", "OPENAI_API_KEY": "33333333"})
    said_by(
        "c/1", task="work", machine="south", fingerprints={"SECRET_KEY": "22222222", "OPENAI_API_KEY": ""}
    )
    page = her.get(WHERE)
    assert "work-2 on south has another SECRET_KEY than the others." in said(page)
    assert "work-2 on south has no OPENAI_API_KEY, which the others have." in said(page)
    assert not any(value in page.text for value in ("11111111", "22222222", "33333333"))


def test_redis_away_is_told_with_whom_it_does_not_answer(her, many):
    said_by("a/1", redis_away_since=time.time() - 90)
    said_by("b/1", task="work")
    page = her.get(WHERE)
    assert "Redis has not answered web-1 for 1 minute." in said(page)
    assert "Redisaway" in said(page).replace(" ", "")


def test_machines_that_share_a_folder_are_named(her, many):
    said_by("folder/1", machine="north")
    said_by("folder/2", task="work", machine="south")
    said_by("own/3", task="work", machine="south")
    assert "DATA_DIR is one folder for north and south: each machine needs one of its own." in said(
        her.get(WHERE)
    )


SMALLER = {
    "another version": ({"code": "fff0000"}, "Different versions run beside each other."),
    "a clock": ({"ahead_ms": -12_000}, "The clock of north is 12 s behind the database’s."),
    "a busy loop": ({"late_ms": 700}, "had more to do than time, and came up to 0.7 s late."),
    "a full pool": ({"pool": [10, 10, 10, 3]}, "All connections to the database are in use at web-2."),
    "a busy provider": ({"busy": {"openai": [2, 9_000]}}, "2 answers try again, for 9 s"),
}


@pytest.mark.parametrize("what", SMALLER)
def test_smaller_troubles_are_something_to_know(her, many, what):
    changes, sentence = SMALLER[what]
    said_by("a/1")
    said_by("b/1", task="work")
    said_by("c/1", **changes)
    if what == "a busy provider":
        assert sentence in said(well(her))
        return
    page = her.get(WHERE)
    assert sentence in said(page)
    assert verdict(page) == "It runs, with something to know"


def test_figures_of_another_version_or_of_nobody_break_nothing(her, many):
    strange = {
        "turns": [["x"], 7, None],
        "at_work": ["thinks"],
        "pool": "full",
        "lags": {"a": 1},
        "waited": [3],
    }
    said_by("a/1", **strange, busy={"openai": "much"}, redis_was_away=["x"], late_ms=None, places="many")
    said_by("b/1", task="work", **strange, fetches=True)
    assert her.get(WHERE).status_code == 200


def test_take_overs_of_the_last_day_are_listed_with_where_from(her, alice, many):
    said_by("far/1", task="work", machine="south")
    started = begun(alice)
    store.claim_turn(started.answer, runner="far/1", seen=0)
    (turn,) = store.load_live_turns()
    turn_lost.send(sender=None, turn=turn, goes_on=True)
    (row,) = rows(her.get(WHERE), "Taken over in the last day")
    assert row[0].startswith("alice") and row[2] == "work-1 on south" and row[4] == "went on elsewhere"


def test_names_that_deceive_are_told_by_their_signs(her, many):
    said_by("a/1", machine="nor\u202eth")
    page = her.get(WHERE).text
    assert "\u202e" not in page and "U+202E" in page


def test_a_page_that_is_open_is_told_what_became_of_each_part(her, many):
    said_by("a/1")
    said_by("b/1", task="work")
    asked = her.get(WHERE, headers=HTMX)
    page = her.get(WHERE)
    told = json.loads(asked.content)
    assert [each[0] for each in told] == ["put"] * len(told)
    for _, html in told:
        name = html.partition('id="')[2].partition('"')[0]
        assert f'id="{name}"' in page.text
        if name not in ("operation-head", "operation-cards"):
            assert " ".join(html.split()) in " ".join(page.text.split())


def test_a_page_that_is_open_for_long_is_loaded_anew_to_ask_for_the_password(her, dana):
    session = her.session
    session[GIVEN_AT] = 0
    session.save()
    asked = her.get(WHERE, headers=HTMX)
    assert asked.headers["HX-Refresh"] == "true"
    assert her.get(WHERE)["Location"].startswith("/accounts/again/")


def test_it_asks_as_little_of_much_as_of_little(her, alice, many, as_many_as_they_like):
    def statements() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert her.get(WHERE, headers=HTMX).status_code == 200
        return len(asked)

    said_by("a/1")
    statements()
    few = statements()
    for n in range(12):
        said_by(f"b/{n}", task="work")
        ended(alice)
        Message.objects.filter(pk=begun(alice).answer).update(status=Status.RUNNING, runner=f"b/{n}")
    assert statements() == few
