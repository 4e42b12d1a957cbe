"""A backup of a server at work, and a move to another database: what was said goes on there."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from threading import Event, Thread
from typing import Any

import httpx
import pytest

from tests.browser.served import Served, serving
from tests.support.patience import PATIENCE
from tests.support.places import OWN, PAIRS, SQLITE, Place, a_place

pytestmark = pytest.mark.both

TOKEN = "t" * 32
HTMX = {"HX-Request": "true", "X-CSRFToken": TOKEN}
STATUS = re.compile(r'data-status="(\w+)"')
BACKUPS = 3


def visitor(served: Served, session: str) -> httpx.Client:
    cookies = {"sessionid": session, "csrftoken": TOKEN}
    return httpx.Client(base_url=served.url, cookies=cookies, timeout=PATIENCE)


def ask(who: httpx.Client, text: str) -> str:
    """The page of the conversation that it begins."""
    answered = who.post("/ask/", data={"text": text, "model": "demo:thinker"}, headers=HTMX)
    assert answered.status_code == 200, answered.text
    place = re.search(r"/c/[0-9a-f-]{36}/", str(answered.headers) + answered.text)
    assert place
    return place[0]


def statuses(who: httpx.Client, page: str) -> set[str]:
    return set(STATUS.findall(who.get(page).text))


def until(so: Callable[[], Any]) -> None:
    began = time.monotonic()
    while not so():
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.05)


class Talk:
    """Somebody who asks one question after the other while the block lasts."""

    def __init__(self, served: Served, session: str) -> None:
        self.asked, self._ended = 0, Event()
        self._who = visitor(served, session)
        self._thread = Thread(target=self._talk)

    def __enter__(self) -> Talk:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(PATIENCE)
        self._who.close()

    def _talk(self) -> None:
        for n in count():
            if self._ended.wait(0.01):
                return
            # Eight answers at once are all that one person has.
            with suppress(AssertionError):
                ask(self._who, f"Tell me about branches, for the {n}th time")
                self.asked += 1


def test_what_is_saved_under_load_is_of_one_moment_and_goes_on(tmp_path):
    """Each is whole, and each knows more; the last one goes on with what was being answered."""
    with a_place(OWN, tmp_path / "from") as here, a_place(OWN, tmp_path / "to") as there:
        with serving(here.folder, here.named) as served:
            _, session = served.person()
            with Talk(served, session) as talk:
                sizes = [saved(here, tmp_path / f"{n}.backup", talk) for n in range(BACKUPS)]
            running = here.sql("SELECT count(*) FROM chatapp_message WHERE status = 'running'")
        assert sorted(sizes) == sizes
        assert running != [(0,)]
        there.does("restore", str(tmp_path / f"{BACKUPS - 1}.backup"))
        live = there.sql("SELECT id FROM chatapp_message WHERE status IN ('queued', 'running')")
        assert live
        with serving(there.folder, there.named) as again:
            until(lambda: not again.clerk("running"))
            assert again.clerk("breaches") == []


def saved(here: Place, file, talk: Talk) -> int:
    before = talk.asked
    until(lambda: talk.asked > before)
    here.does("backup", str(file))
    return int(here.does("restore", str(file), "--check").split()[3].replace(",", ""))


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_what_was_moved_is_served_there_and_an_answer_goes_on(tmp_path, source, target):
    with a_place(source, tmp_path / "from") as here, a_place(target, tmp_path / "to") as there:
        with serving(here.folder, here.named) as served:
            _, session = served.person()
            with visitor(served, session) as who:
                page = ask(who, "Tell me about branches")
                ended = here.run("move", "--to", address(there))
                assert (ended.returncode, "Stop it first" in ended.stderr) == (1, True), ended.stderr
                served.kill()
        before = here.sql("SELECT count(*), max(id) FROM chatapp_item")
        said = here.does("move", "--to", address(there))
        assert "counted and compared" in said
        assert "From now on start the server with DATABASE_URL" in said
        assert here.sql("SELECT count(*), max(id) FROM chatapp_item") == before
        with (
            serving(here.folder, {"DATABASE_URL": address(there)}) as served,
            visitor(served, session) as who,
        ):
            assert "Tell me about branches" in who.get(page).text
            until(lambda: statuses(who, page) == {"complete"})
            assert served.clerk("breaches") == []
        again = here.run("move", "--to", address(there))
        assert (again.returncode, "This database is not empty" in again.stderr) == (1, True)


def test_what_was_only_restored_is_moved_before_any_server_ran_there(tmp_path):
    source, target = PAIRS[0]
    with a_place(source, tmp_path / "from") as here, a_place(target, tmp_path / "to") as there:
        session = here.tells("person", name="alice")
        here.does("move", "--to", address(there))
        assert there.sql("SELECT session_key FROM django_session") == [(session,)]


def address(place: Place) -> str:
    return place.address or f"sqlite:///{place.file}"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("mysql://x/y", "--to must begin with sqlite:/// or postgres://."),
        ("sqlite:////nowhere/at/all.sqlite3", "that folder is not there"),
    ],
)
def test_what_cannot_be_moved_to_is_told(tmp_path, words, sentence):
    with a_place(SQLITE, tmp_path / "from") as here:
        ended = here.run("move", "--to", words)
    assert ended.returncode == 1
    assert sentence in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
