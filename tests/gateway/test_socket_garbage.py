"""Garbage over the WebSocket of programs: each message is answered or refused for itself, nothing is left behind when it is closed, and
whoever has no key gets none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from django.contrib.auth.models import User

from chatapp.asgi import socket_application
from chatapp.gateway.asking.answering import all_written
from chatapp.gateway.models import KeyDay, KeyRequest
from chatapp.gateway.part import WatchedKeys
from chatapp.gateway.served import remembered, waiting
from chatapp.gateway.served import socket as gateway_socket
from chatapp.gateway.store import keys
from chatapp.store import in_thread
from tests.support.patience import PATIENCE
from tests.support.stage import play, until

from .knocking import HERE, RESPONSES, THINKER, Json, asking, key_of, made_key, open_house
from .test_hung_up import WORDS, Slow

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("as_often_as_they_like")]


class Socket:
    """One connection as a server hands it over."""

    def __init__(self, key: str = "", headers: dict[str, str] | None = None, path: str = RESPONSES) -> None:
        said = ({"authorization": f"Bearer {key}"} if key else {}) | (headers or {})
        self.scope: Json = {
            "type": "websocket",
            "path": path,
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in said.items()],
            "client": (HERE, 50_000),
            "subprotocols": [],
            "query_string": b"",
        }
        self.heard: list[Json] = []
        self.code = 0
        self.is_open = False
        self._coming = asyncio.Queue[Json]()
        self._more = asyncio.Event()
        self._work = asyncio.ensure_future(socket_application(self.scope, self._coming.get, self._sent))
        self._coming.put_nowait({"type": "websocket.connect"})

    async def _sent(self, message: Json) -> None:
        match message["type"]:
            case "websocket.accept":
                self.is_open = True
            case "websocket.close":
                self.is_open, self.code = False, message.get("code", 1000)
            case _:
                self.heard.append(json.loads(message["text"]))
        self._more.set()

    @property
    def refused(self) -> list[Json]:
        return [each for each in self.heard if each["type"] == "error"]

    def say(self, message: Any) -> None:
        kind = "bytes" if isinstance(message, bytes) else "text"
        text = message if isinstance(message, bytes | str) else json.dumps(message)
        self._coming.put_nowait({"type": "websocket.receive", kind: text})

    async def sees(self, look: Any) -> None:
        async with asyncio.timeout(PATIENCE):
            while not look(self):
                self._more.clear()
                await self._more.wait()

    async def hears(self, kind: str) -> Json:
        """The first message of this kind that comes from now on."""
        before = len(self.heard)
        await self.sees(lambda it: any(each["type"] == kind for each in it.heard[before:]))
        return next(each for each in self.heard[before:] if each["type"] == kind)

    async def says(self, message: Any, kind: str) -> Json:
        self.say(message)
        return await self.hears(kind)

    async def leave(self) -> None:
        self._coming.put_nowait({"type": "websocket.disconnect", "code": 1001})
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(self._work, return_exceptions=True)


@asynccontextmanager
async def connected(key: str) -> AsyncIterator[Socket]:
    socket = Socket(key)
    await socket.sees(lambda it: it.is_open)
    yield socket
    await socket.leave()


def create(model: str = THINKER, words: str = "Why?", **more: Any) -> Json:
    return {"type": "response.create", **asking(RESPONSES, model, words), **more}


GARBAGE: dict[str, Any] = {
    "nothing": "",
    "binary": b"\x00\xff" * 100,
    "empty binary": b"",
    "no JSON": "{",
    "another value": "[]",
    "a word": "null",
    "no type": {},
    "another type": {"type": "response.cancel"},
    "a type of another type": {"type": ["response.create"]},
    "nothing asked": {"type": "response.create"},
    "a megabyte": "x" * 2**20,
    "a megabyte of JSON": json.dumps({"type": "x", "y": "x" * 2**20}),
    "deep": "[" * 100_000,
    "deep JSON": json.dumps(create(input=[])).replace("[]", "[" * 5_000 + "]" * 5_000),
    "NaN": '{"type": "response.create", "temperature": NaN}',
    "a lone surrogate": json.dumps(create("\ud800")),
    "no such model": create("nobody:gone"),
    "wrong types": create(temperature="hot"),
    "background": create(background=True),
    "an id of others": create(previous_response_id="resp_" + "0" * 26),
}


def left() -> tuple[int, int]:
    return KeyRequest.objects.count(), sum(day.turns for day in KeyDay.objects.all())


def test_garbage_is_refused_message_by_message_and_the_next_request_is_answered(alice: User) -> None:
    async def story() -> None:
        async with open_house(), connected(await key_of(alice)) as socket:
            for message in GARBAGE.values():
                told = await socket.says(message, "error")
                assert 400 <= told["status"] < 500, told
                assert told["error"]["message"].endswith(".") and told["error"]["code"]
            assert (await socket.says(create(), "response.completed"))["response"]["output"]
            assert await in_thread(left)() == (0, 1)

    play(story())


@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer tl_" + "x" * 43}, {"cookie": "sessionid=x"}, {"x-api-key": "\xff\xfe"}],
)
def test_without_a_key_it_is_not_opened(alice: User, headers: dict[str, str]) -> None:
    async def story() -> None:
        async with open_house():
            socket = Socket(headers=headers)
            await socket.sees(lambda it: it.code)
            assert socket.code == gateway_socket.NOT_LET_IN and not socket.heard
            await socket.leave()

    play(story())


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", "http://localhost:9999", "http://localhost.evil.example"]
)
def test_no_page_of_another_site_opens_it(alice: User, origin: str) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice)
            socket = Socket(secret, {"host": "localhost", "origin": origin})
            await socket.sees(lambda it: it.code or it.is_open)
            assert socket.code == gateway_socket.NOT_LET_IN and not socket.is_open
            ours = Socket(secret, {"host": "localhost", "origin": "http://localhost"})
            await ours.sees(lambda it: it.is_open)
            for each in (socket, ours):
                await each.leave()

    play(story())


@pytest.mark.parametrize("path", ["/v1/", "/v1/responses/", "/v1/chat/completions", "/v1/responses/none"])
def test_elsewhere_there_is_none(alice: User, path: str) -> None:
    async def story() -> None:
        async with open_house():
            socket = Socket(await key_of(alice), path=path)
            await socket.sees(lambda it: it.code)
            assert not socket.is_open
            await socket.leave()

    play(story())


def test_a_key_that_is_revoked_opens_nothing_more_on_what_is_open(alice: User) -> None:
    async def story() -> None:
        async with open_house():
            row, secret = await made_key(alice)
            async with connected(secret) as socket:
                await socket.says(create(), "response.completed")
                await in_thread(keys.revoke_key)(alice, row.pk)
                told = await socket.says(create(), "error")
                assert told["status"] == 401 and "revoked" in told["error"]["message"]
                assert await in_thread(left)() == (0, 1)
                await socket.sees(lambda it: not it.is_open)
                assert socket.code == gateway_socket.NOT_LET_IN

    play(story())


def test_what_is_open_and_idle_is_closed_when_its_key_is_revoked(alice: User) -> None:
    async def story() -> None:
        async with open_house():
            row, secret = await made_key(alice)
            async with connected(secret) as socket, connected(await key_of(alice)) as other:
                await in_thread(keys.revoke_key)(alice, row.pk)
                watching = asyncio.create_task(WatchedKeys(every=0.01).keep())
                await socket.sees(lambda it: not it.is_open)
                watching.cancel()
                assert [each["status"] for each in socket.heard] == [401]
                assert socket.code == gateway_socket.NOT_LET_IN
                assert (await other.says(create(), "response.completed"))["response"]["output"]

    play(story())


def test_of_many_messages_at_once_as_many_wait_as_may_and_the_others_are_refused(alice: User) -> None:
    async def story() -> None:
        async with open_house() as engine:
            model = Slow(engine, WORDS)
            async with connected(await key_of(alice)) as socket:
                for _ in range(60):
                    socket.say(create("scripted:model"))
                least = 60 - waiting.MOST_WAITING - 1
                await socket.sees(lambda it: len(it.refused) >= least)
                assert {each["status"] for each in socket.refused} == {429}
                await until(in_thread(lambda: model.asked == 1))
            await all_written()
            assert model.let_go == model.asked == 1
            assert await in_thread(left)() == (0, 1)

    play(story())


def test_many_long_messages_do_not_wait_in_memory(alice: User) -> None:
    long = json.dumps(create("scripted:model", "x" * 2**20 * 9))

    async def story() -> None:
        async with open_house() as engine:
            Slow(engine, WORDS)
            async with connected(await key_of(alice)) as socket:
                for _ in range(8):
                    socket.say(long)
                await socket.sees(lambda it: len(it.refused) >= 3)
                assert {each["status"] for each in socket.refused} == {429}

    play(story())


def test_what_waits_is_bounded_over_all_connections_of_a_person_and_in_all(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for bound in ("LONGEST_OF_ONE", "LONGEST_OF_ALL"):
        monkeypatch.setattr(waiting, bound, 3 * 2**19)
    long = json.dumps(create("scripted:model", "x" * 2**20))

    async def one_waits() -> bool:
        return bool(waiting.lengths)

    async def story() -> None:
        async with open_house() as engine:
            Slow(engine, WORDS)
            async with connected(await key_of(alice)) as one, connected(await key_of(alice)) as two:
                for socket in (one, two):
                    await socket.says(create("scripted:model"), "response.output_text.delta")
                one.say(long)
                await until(one_waits)
                told = await two.says(long, "error")
                assert told["status"] == 429 and "too long together" in told["error"]["message"]
                async with connected(await key_of(bob)) as other:
                    other.say(long)
                    await other.hears("response.output_text.delta")
                    told = await other.says(long, "error")
                    assert told["status"] == 503
            assert not waiting.lengths

    play(story())


def test_what_is_remembered_is_bounded_over_all_connections_of_a_person_and_goes_with_them(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "LONGEST_OF_ONE", 3 * 2**19)
    long = "x" * 2**20

    async def story() -> None:
        async with open_house():
            secret = await key_of(alice)
            async with connected(secret) as one, connected(secret) as two:
                first = (await one.says(create(words=long), "response.completed"))["response"]["id"]
                short = (await one.says(create(), "response.completed"))["response"]["id"]
                await two.says(create(words=long), "response.completed")
                told = await one.says(create(previous_response_id=first), "error")
                assert told["error"]["code"] == "previous_response_not_found"
                await one.says(create(previous_response_id=short), "response.completed")
                assert 0 < remembered.lengths[alice.pk] <= 3 * 2**19
            await all_written()
            assert not remembered.lengths

    play(story())


def test_a_person_has_so_many_open_and_no_more(alice: User, bob: User) -> None:
    async def story() -> None:
        async with open_house():
            secrets = [await key_of(alice) for _ in range(2)]
            sockets = [Socket(secrets[n % 2]) for n in range(gateway_socket.MOST_OPEN)]
            for socket in sockets:
                await socket.sees(lambda it: it.is_open)
            more = Socket(secrets[0])
            await more.sees(lambda it: it.code)
            assert more.code == gateway_socket.TOO_MUCH
            async with connected(await key_of(bob)) as other:
                assert other.is_open
            await sockets[0].leave()
            async with connected(secrets[0]) as again:
                assert again.is_open
            for socket in (*sockets[1:], more):
                await socket.leave()
            assert not gateway_socket.OPEN

    play(story())


def test_a_connection_ends_when_it_is_as_old_as_it_may_be_and_says_so(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway_socket, "MINUTES", 0)

    async def story() -> None:
        async with open_house():
            socket = Socket(await key_of(alice))
            await socket.sees(lambda it: it.code)
            assert socket.refused[0]["error"]["code"] == "websocket_connection_limit_reached"
            await socket.leave()

    play(story())


def test_whoever_closes_it_midway_lets_the_model_go_and_is_counted(alice: User) -> None:
    async def story() -> None:
        async with open_house() as engine:
            model = Slow(engine, WORDS)
            async with connected(await key_of(alice)) as socket:
                await socket.says(create("scripted:model"), "response.output_text.delta")
            await all_written()
            assert (model.asked, model.let_go) == (1, 1)
            assert await in_thread(left)() == (0, 1)

    play(story())


def test_at_whatever_moment_it_is_closed_nothing_is_left(alice: User) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice, keeps_responses=True)
            for moment in (*range(0, 60, 4), *range(60, 4_000, 211)):
                socket = Socket(secret)
                socket.say(create())
                for _ in range(moment):
                    await asyncio.sleep(0)
                await socket.leave()
            await all_written()
            assert (await in_thread(left)())[0] == 0 and not gateway_socket.OPEN

    play(story())


def test_one_goes_on_from_what_its_own_connection_heard_and_no_other(alice: User) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice)
            async with connected(secret) as socket, connected(secret) as beside:
                made = (await socket.says(create(), "response.completed"))["response"]["id"]
                told = await beside.says(create(previous_response_id=made), "error")
                assert told["error"]["code"] == "previous_response_not_found"
                await socket.says(create(previous_response_id=made), "response.completed")

    play(story())
