"""Two processes that serve and two that work, on a PostgreSQL database and a Redis of their own, and pages that are open there."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp
import httpx
import psycopg
from django.db import connection

from bench.own_database import own_database
from tests.browser.served import ROOT, Served, _clean
from tests.support import stage
from tests.support.frames import Frames
from tests.support.patience import PATIENCE
from tests.support.screen import Screen

from .own_redis import own_redis

TOKEN = "a" * 32
WORKS = "Turns run here as "


class Worker:
    """`name`: what it writes on its turns."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._environment = _clean() | {"DATA_DIR": str(folder)} | environment
        self._log = folder / "worker.log"
        self.process: subprocess.Popen[str] | None = None
        self.name = ""

    @property
    def is_there(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Returns when it has said that it works."""
        if self.process:
            self.ends()
        command = [sys.executable, "manage.py", "work"]
        with self._log.open("a") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=self._environment, text=True, stdout=subprocess.PIPE, stderr=log
            )
        assert self.process.stdout
        said = self.process.stdout.readline()
        assert said.startswith(WORKS), said + self._log.read_text()
        self.name = said.removeprefix(WORKS).partition(",")[0]

    def send(self, what: signal.Signals) -> None:
        assert self.process
        self.process.send_signal(what)

    def kill(self) -> None:
        if self.is_there:
            self.send(signal.SIGKILL)
        if self.process:
            self.ends()

    def ends(self) -> int:
        """How it ended, when it has."""
        assert self.process
        assert self.process.stdout
        code = self.process.wait(PATIENCE)
        self.process.stdout.close()
        return code


class Deployed:
    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.environment = environment
        folders = [folder / name for name in ("serves-1", "serves-2", "works-1", "works-2")]
        for each in folders:
            each.mkdir()
        self.webs = [Served(each, **environment) for each in folders[:2]]
        self.workers = [Worker(each, environment) for each in folders[2:]]

    def heal(self) -> None:
        """Whoever is gone comes back; the first one makes the tables."""
        webs = [web for web in self.webs if web._process is None or web._process.poll() is not None]
        workers = [worker for worker in self.workers if not worker.is_there]
        for web in webs[:1]:
            web.start()
        with ThreadPoolExecutor() as others:
            list(others.map(lambda each: each.start(), [*webs[1:], *workers]))

    def end(self) -> None:
        for worker in self.workers:
            worker.kill()
        for web in self.webs:
            web.stop()

    def works_on(self, answer: UUID) -> Worker:
        runner = self.row(answer)["runner"]
        return next(worker for worker in self.workers if worker.name == runner)

    def row(self, answer: UUID) -> dict[str, Any]:
        (row,) = self.read("SELECT * FROM chatapp_message WHERE id = %s", answer)
        return row

    def said(self, answer: UUID) -> list[str]:
        rows = self.read("SELECT * FROM chatapp_item WHERE message_id = %s ORDER BY seq", answer)
        return [row["text"] for row in rows]

    def read(self, query: str, *values: Any) -> list[dict[str, Any]]:
        with psycopg.connect(
            self.environment["DATABASE_URL"], row_factory=psycopg.rows.dict_row
        ) as connected:
            return connected.execute(query, values).fetchall()

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command of manage.py."""
        environment = _clean() | {"DATA_DIR": str(self.webs[0]._log.parent)} | self.environment
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(
            command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True, timeout=PATIENCE
        )


@contextmanager
def deployed(folder: Path, environment: Mapping[str, str]) -> Iterator[Deployed]:
    with ExitStack() as stack:
        redis = stack.enter_context(own_redis(folder))
        database = stack.enter_context(own_database(_server(), "across"))
        places = {"DATABASE_URL": database, "REDIS_URL": redis.url, "SECRET_KEY": "x" * 50}
        made = Deployed(folder, {**environment, **places})
        stack.callback(made.end)
        made.heal()
        yield made


def _server() -> str:
    """Where the tests' database is, by the name of the one that is always there."""
    at = connection.settings_dict
    return f"postgres://{at['USER']}:{at['PASSWORD']}@{at['HOST']}:{at['PORT']}/postgres"


class Person:
    """Somebody's browser, at one process or another."""

    def __init__(self, served: Served) -> None:
        self.name, self.session = served.person()

    @property
    def cookies(self) -> dict[str, str]:
        return {"sessionid": self.session, "csrftoken": TOKEN}

    def at(self, served: Served) -> httpx.Client:
        headers = {"X-CSRFToken": TOKEN, "HX-Request": "true"}
        return httpx.Client(
            base_url=served.url, cookies=self.cookies, headers=headers, trust_env=False, timeout=PATIENCE
        )

    def asks(self, at: Served, model: str) -> tuple[UUID, UUID]:
        """A conversation and its answer."""
        with self.at(at) as client:
            asked = client.post("/ask/", data={"text": "Why?", "model": model}, headers={"HX-Request": ""})
            assert asked.status_code == 302, asked.text
            conversation = UUID(asked.headers["location"].split("/")[2])
        return conversation, UUID(self.page(at, conversation).thread.attributes["data-leaf"])

    def stops(self, at: Served, answer: UUID) -> None:
        with self.at(at) as client:
            assert client.post(f"/m/{answer}/stop/").status_code == 200

    def page(self, at: Served, conversation: UUID) -> Screen:
        with self.at(at) as client:
            return Shown(client.get(f"/c/{conversation}/", headers={"HX-Request": ""}).text)


class Shown(Screen):
    """Of a whole page: what is told of the list beside the thread is not looked at."""

    def do(self, operations: list[list[Any]], after_each: Callable[[], None] = lambda: None) -> None:
        super().do([each for each in operations if each[0] in self._do], after_each)


class OpenPage:
    """A page that was loaded from one process and listens to it, or to another one later."""

    def __init__(self, she: Person, at: Served, conversation: UUID) -> None:
        self.she, self.conversation = she, conversation
        self.screen = she.page(at, conversation)
        self._more = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None
        self.comes_back_to(at)

    def comes_back_to(self, at: Served) -> None:
        self._listening = asyncio.create_task(self._listen(at))
        self._listening.add_done_callback(lambda _: self._more.set())

    async def _listen(self, at: Served) -> None:
        thread = self.screen.thread.attributes
        asked = f"leaf={thread.get('data-leaf', '')}&version={thread.get('data-version', '')}"
        async for operations in listened(self.she, at, f"ws/c/{self.conversation}/?{asked}"):
            self.screen.do(operations)
            self._more.set()

    async def sees(self, words: str) -> None:
        await self.is_so(lambda screen: words in screen.thread.text)

    async def is_so(self, look: Callable[[Screen], Any]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not look(self.screen):
                self._more.clear()
                await self._more.wait()

    async def is_gone(self) -> None:
        assert self._listening
        await asyncio.wait({self._listening}, timeout=PATIENCE)
        assert self._listening.done()

    async def shows_the_end(self, *at: Served) -> None:
        """As each of these loads it."""
        await self.is_so(lambda screen: "data-answering" not in screen.thread.attributes)
        for each in at:
            fresh = await asyncio.to_thread(self.she.page, each, self.conversation)
            assert _drawn(self.screen) == _drawn(fresh)

    def leave(self) -> None:
        if self._listening:
            self._listening.cancel()


class Heard:
    """What a page hears that shows no conversation."""

    def __init__(self, she: Person, at: Served) -> None:
        self.said: list[list[Any]] = []
        self._open = asyncio.Event()
        self._listening = asyncio.create_task(self._listen(she, at))

    async def _listen(self, she: Person, at: Served) -> None:
        async for operations in listened(she, at, "ws/"):
            self._open.set()
            self.said += operations

    async def is_open(self) -> None:
        """From now on it hears everything."""
        await asyncio.wait_for(self._open.wait(), PATIENCE)

    async def hears(self, words: str) -> None:
        await until(lambda: words in str(self.said))

    async def is_gone(self) -> None:
        await asyncio.wait_for(self._listening, PATIENCE)

    def leave(self) -> None:
        self._listening.cancel()


async def listened(she: Person, at: Served, path: str) -> AsyncIterator[list[list[Any]]]:
    """What the socket tells, until it is closed; nothing, as soon as it is open."""
    frames = Frames()
    headers = {
        "Origin": at.url.rstrip("/"),
        "Cookie": "; ".join(f"{name}={value}" for name, value in she.cookies.items()),
    }
    async with (
        aiohttp.ClientSession(cookies=None) as client,
        client.ws_connect(f"{at.url}{path}", headers=headers) as socket,
    ):
        yield []
        async for message in socket:
            yield frames.read(message.data)
            await socket.send_str(str(frames.count))


def _drawn(screen: Screen) -> list[list[str]]:
    return [[*article.lines()] for article in screen.articles]


async def until(look: Callable[[], Any], within: float = PATIENCE) -> None:
    async def looked() -> Any:
        return await asyncio.to_thread(look)

    async with asyncio.timeout(within):
        await stage.until(looked)
