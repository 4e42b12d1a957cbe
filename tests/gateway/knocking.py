"""Requests of programs as a server hands them over, piece by piece, what goes back, and when whoever asked hangs up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from ipaddress import IPv4Address
from random import randrange
from typing import Any
from urllib.parse import unquote

from django.contrib.auth.models import User

from chatapp.asgi import http
from chatapp.core import verbatim
from chatapp.gateway.models import ApiKey
from chatapp.gateway.store import keys
from chatapp.gateway.store.keys import KeyChoices
from chatapp.limits.models import DailyLimit
from chatapp.providers.configured import Catalog
from chatapp.providers.demo import DemoProvider
from chatapp.store import in_thread
from chatapp.turns.engine import Engine
from tests.support.front import house
from tests.support.patience import PATIENCE
from tests.support.providers import at_once

Json = dict[str, Any]
CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
ASKING = (CHAT, RESPONSES, MESSAGES)
THINKER = "demo:thinker"
HERE = "203.0.113.1"


def somewhere() -> str:
    """An address from which nobody has come yet."""
    return str(IPv4Address(randrange(2**32)))


def asking(path: str, model: str = THINKER, words: str = "Why?", **more: Any) -> Json:
    """The shortest request that this door takes."""
    if path.startswith(RESPONSES):
        return {"model": model, "input": words, **more}
    beside = {"max_tokens": 500} if path.startswith(MESSAGES) else {}
    return {"model": model, "messages": [{"role": "user", "content": words}], **beside, **more}


@asynccontextmanager
async def open_house() -> AsyncIterator[Engine]:
    """Nobody is limited, and the demo does not pause."""
    async with house() as engine:
        engine.catalog = Catalog([], demo=DemoProvider(sleep=at_once))
        await in_thread(DailyLimit.objects.all().delete)()
        yield engine


async def key_of(owner: User, **said: Any) -> str:
    return (await made_key(owner, **said))[1]


async def made_key(owner: User, **said: Any) -> tuple[ApiKey, str]:
    return await in_thread(keys.create_key)(owner, KeyChoices(name="Editor", **said))


class Knock:
    """One request. It is over when all of the answer has come, or when the house has let go of it."""

    def __init__(
        self,
        method: str,
        path: str,
        body: Any = b"",
        *,
        key: str = "",
        headers: Mapping[str, str] = {},
        here: str = HERE,
        application: Any = http,
    ) -> None:
        self.method, self._body, self._application = method, encoded(body), application
        self.status, self.headers, self.pieces = 0, list[tuple[str, str]](), list[bytes]()
        self.is_over = False
        bearer = {"authorization": f"Bearer {key}"} if key else {}
        said = {"host": "localhost", "content-length": str(len(self._body)), **bearer, **headers}
        place, _, query = path.partition("?")
        self.scope: Json = {
            "type": "http",
            "method": method,
            "path": unquote(place),
            "raw_path": place.encode(),
            "query_string": query.encode(),
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in said.items()],
            "client": (here, 50_000),
            "http_version": "1.1",
        }
        self._coming = asyncio.Queue[Json]()
        self._more = asyncio.Event()
        self._work: asyncio.Task[None] | None = None

    def begin(self, *, whole: bool = True) -> Knock:
        """`whole`: its body has come."""
        if whole:
            self.say(self._body)
        self._work = asyncio.create_task(self._application(self.scope, self._coming.get, self._sent))
        self._work.add_done_callback(lambda _: self._more.set())
        return self

    def say(self, piece: bytes, *, more: bool = False) -> None:
        self._coming.put_nowait({"type": "http.request", "body": piece, "more_body": more})

    def hang_up(self) -> None:
        self._coming.put_nowait({"type": "http.disconnect"})

    async def _sent(self, message: Json) -> None:
        if message["type"] == "http.response.start":
            assert not self.status, "An answer has begun already."
            self.status = message["status"]
            self.headers = [(name.decode(), value.decode("latin-1")) for name, value in message["headers"]]
        else:
            assert self.status and not self.is_over
            self.pieces.append(message.get("body", b""))
            self.is_over = not message.get("more_body", False)
        self._more.set()

    async def hears(self, look: Callable[[Knock], Any]) -> Knock:
        """Returns when this is true of what has come."""
        async with asyncio.timeout(PATIENCE):
            while not look(self):
                assert self._work and not self._work.done(), (self.status, self.body)
                self._more.clear()
                await self._more.wait()
        return self

    async def left(self) -> None:
        """Returns when the house has let go of it. What broke there is raised."""
        assert self._work
        async with asyncio.timeout(PATIENCE):
            await self._work

    async def answered(self) -> Knock:
        if self._work is None:
            self.begin()
        await self.left()
        assert self.is_over, (self.status, self.body)
        return self

    async def gives_up(self) -> None:
        self.hang_up()
        with suppress(AssertionError):
            await self.left()

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return verbatim.loads(self.text)

    def header(self, name: str) -> str:
        return next((value for each, value in self.headers if each == name), "")

    @property
    def error(self) -> Json:
        return error_in(self.json(), self.scope["path"])


def encoded(body: Any) -> bytes:
    return body if isinstance(body, bytes) else verbatim.encode(body)


def error_in(body: Json, path: str) -> Json:
    """The error of an answer that is none, in the shape of the door that this address belongs to."""
    error: Json = body["error"]
    assert error["message"].strip().endswith((".", "?", "!")) and error["type"], body
    if path.startswith(MESSAGES):
        assert body.keys() == {"type", "error", "request_id"} and body["type"] == "error", body
        assert error.keys() == {"type", "message"} and body["request_id"].startswith("req_"), body
    else:
        assert body.keys() == {"error"} and error.keys() == {"message", "type", "param", "code"}, body
    return error


async def knock(method: str, path: str, body: Any = b"", **more: Any) -> Knock:
    return await Knock(method, path, body, **more).answered()


def frames(text: str) -> list[tuple[str, Any]]:
    """The events of a stream, each with its name."""
    found = []
    for each in text.split("\n\n")[:-1]:
        lines = dict(line.split(": ", 1) for line in each.split("\n"))
        data = lines["data"]
        found.append((lines.get("event", ""), data if data == "[DONE]" else json.loads(data)))
    return found
