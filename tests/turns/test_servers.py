"""Real servers whose database takes nothing, or which share one: nothing is asked twice, and what was stopped stays stopped."""

from __future__ import annotations

import resource
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.browser.served import DATABASE, Served, serving, with_tables
from tests.support.patience import PATIENCE

pytest.importorskip(
    "aiohttp", reason="SKIPPED LOUDLY: aiohttp is not installed, so no server was tried at its edges."
)

MODEL = "compatible:gpt-5-mini"
TOKEN = "a" * 32


@pytest.fixture(scope="module")
def steered() -> Iterator[Any]:
    from tests.browser.steered import running

    with running() as upstream:
        yield upstream


@pytest.fixture
def upstream(steered) -> Iterator[Any]:
    steered.open_again()
    steered.requests.clear()
    yield steered
    steered.settle()


class Person:
    """Somebody's browser, at one server or another."""

    def __init__(self, served: Served) -> None:
        _, self._session = served.person()

    def at(self, served: Served) -> httpx.Client:
        cookies = {"sessionid": self._session, "csrftoken": TOKEN}
        headers = {"X-CSRFToken": TOKEN}
        return httpx.Client(
            base_url=served.url, cookies=cookies, headers=headers, trust_env=False, timeout=PATIENCE
        )


class Answer:
    """The only answer of a database: what its rows say, read from the file itself."""

    def __init__(self, database: Path) -> None:
        self._database = database

    def row(self) -> dict[str, Any]:
        return self._read("SELECT * FROM chatapp_message WHERE role = 'assistant'")[0]

    @property
    def status(self) -> str:
        return str(self.row()["status"])

    @property
    def words(self) -> str:
        return "".join(
            row["text"] for row in self._read("SELECT * FROM chatapp_item WHERE kind = 'assistant_message'")
        )

    def beats(self) -> dict[str, int]:
        return {row["runner"]: row["beats"] for row in self._read("SELECT * FROM chatapp_heartbeat")}

    def _read(self, query: str) -> list[dict[str, Any]]:
        with closing(sqlite3.connect(self._database, timeout=PATIENCE)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(query)]


def until(look: Callable[[], Any], within: float = PATIENCE) -> float:
    """How long it took until this was true."""
    began = time.monotonic()
    while not look():
        assert time.monotonic() - began < within, "It never came."
        time.sleep(0.02)
    return time.monotonic() - began


@contextmanager
def locked(database: Path) -> Iterator[None]:
    with closing(sqlite3.connect(database, isolation_level=None, timeout=PATIENCE)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        yield
        holder.execute("ROLLBACK")


def ask(client: httpx.Client) -> None:
    asked = client.post("/ask/", data={"text": "Why?", "model": MODEL})
    assert asked.status_code in (200, 302), asked.text


def words_of(upstream: Any, answer: Answer) -> Any:
    """The provider begins to speak, and a draft of that is saved."""
    script = upstream.next_answer()
    script.write("Because of this")
    until(lambda: answer._read("SELECT * FROM chatapp_draft"))
    return script


def stop(client: httpx.Client, answer: Answer) -> float:
    began = time.monotonic()
    stopped = client.post(f"/m/{UUID(answer.row()['id'])}/stop/", headers={"HX-Request": "true"})
    assert stopped.status_code == 200, stopped.text
    return time.monotonic() - began


@pytest.fixture
def one(tmp_path, upstream) -> Iterator[Served]:
    with serving(with_tables(tmp_path), upstream.environment) as served:
        yield served


def test_stop_stops_a_server_whose_database_is_locked_and_a_death_undoes_nothing(tmp_path, upstream, one):
    answer, she = Answer(tmp_path / DATABASE), Person(one)
    with she.at(one) as client:
        ask(client)
        script = words_of(upstream, answer)
        with locked(tmp_path / DATABASE):
            assert stop(client, answer) < 2
            script.until_gone()
            assert "Stopped by you" in _page(client, answer)
            one.kill()
    one.start()
    until(lambda: answer.status == "stopped")
    assert answer.words == "Because of this"
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("dies", [False, True], ids=["it lives", "it dies"])
def test_an_answer_that_ends_on_a_full_disk_is_kept_and_is_not_asked_again(tmp_path, upstream, one, dies):
    """A file that may not grow is how a full disk looks from inside."""
    answer, she = Answer(tmp_path / DATABASE), Person(one)
    with she.at(one) as client:
        ask(client)
        script = words_of(upstream, answer)
        assert one._process
        resource.prlimit(one._process.pid, resource.RLIMIT_FSIZE, (8192, resource.RLIM_INFINITY))
        script.write(", and that.")
        script.finish()
        script.until_gone()
        until(lambda: "the database takes nothing" in one.new_log())
        assert answer.status == "running"
        if dies:
            one.kill()
            one.start()
        else:
            unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            resource.prlimit(one._process.pid, resource.RLIMIT_FSIZE, unlimited)
        until(lambda: answer.status == "complete")
    assert answer.words == "Because of this, and that."
    assert len(upstream.requests) == 1


def _page(client: httpx.Client, answer: Answer) -> str:
    return client.get(f"/c/{UUID(answer.row()['conversation_id'])}/").text


@pytest.fixture
def two(tmp_path, upstream) -> Iterator[list[Served]]:
    """On one database, with folders of their own, on one host."""
    with_tables(tmp_path)
    environment = {
        **upstream.environment,
        "DATABASE_URL": f"sqlite:///{tmp_path / DATABASE}",
        "SECRET_KEY": "x" * 50,
    }
    with ExitStack() as stack:
        folders = [tmp_path / name for name in ("one", "two")]
        for folder in folders:
            folder.mkdir()
        yield [stack.enter_context(serving(folder, environment)) for folder in folders]


def test_two_servers_on_one_database_ask_once(tmp_path, upstream, two):
    answer, she = Answer(tmp_path / DATABASE), Person(two[0])
    with she.at(two[0]) as client:
        ask(client)
        script = words_of(upstream, answer)
        # The other has looked around, as it does at its start too.
        two[1].stop()
        two[1]._clerk = None
        two[1].start()
        until(lambda: len(answer.beats()) == 3)
        script.finish()
        until(lambda: answer.status == "complete")
    assert (answer.row()["attempt"], len(upstream.requests)) == (1, 1)


@pytest.mark.whole
def test_of_two_servers_on_one_database_one_goes_on_when_the_other_is_dead(tmp_path, upstream, two):
    answer, she = Answer(tmp_path / DATABASE), Person(two[0])
    with she.at(two[0]) as client:
        ask(client)
        words_of(upstream, answer)
        until(lambda: len(answer.beats()) == 2)
        two[0].kill()
        took = until(lambda: answer.row()["attempt"] == 2)
        assert 6 < took < 15
        script = upstream.next_answer()
        script.write("Here.")
        script.finish()
        until(lambda: answer.status == "complete")
    assert len(upstream.requests) == 2
