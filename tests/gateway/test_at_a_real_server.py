"""The doors at a real server: octets that no client would send, bodies that never end, and programs that hang up."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import pytest

aiohttp = pytest.importorskip("aiohttp")
httpx = pytest.importorskip("httpx")

from chatapp.gateway.served.refused import LONGEST_BODY  # noqa: E402
from tests.browser.served import Served, serving, with_tables  # noqa: E402
from tests.browser.steered import Upstream, Write, running  # noqa: E402
from tests.support.patience import PATIENCE  # noqa: E402
from tests.support.wire import answers, chunked, connected, status  # noqa: E402

from .knocking import ASKING, MESSAGES, Json, asking, encoded, error_in  # noqa: E402

CANARY = "canary-91c2"
MODEL = "openai:gpt-5"
MAKE = """
from django.contrib.auth.models import User
from chatapp.gateway.store import keys
print(keys.create_key(User.objects.get(username="{name}"), keys.KeyChoices(name="Editor"))[1])
"""
COUNT = """
from chatapp.gateway.models import KeyDay, KeyRequest
print(KeyRequest.objects.count(), sum(day.turns for day in KeyDay.objects.all()))
"""


class Doors(NamedTuple):
    served: Served
    upstream: Upstream
    key: str

    def says(self, octets: bytes) -> str:
        with connected(self.served.url) as line:
            line.sendall(octets)
            return answers(line)

    def head(self, path: str, method: str = "POST", key: str | None = None, **said: str) -> bytes:
        headers = {"Host": "localhost", "Connection": "close", "Authorization": f"Bearer {key or self.key}"}
        headers |= {name.replace("_", "-"): value for name, value in said.items()}
        lines = [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode("latin-1")

    def left(self) -> tuple[int, int]:
        running, turns = shell(self.served, COUNT).split()
        return int(running), int(turns)


def shell(served: Served, code: str) -> str:
    process = served._run(
        [sys.executable, "manage.py", "shell", "--no-imports", "--command", code], stdout=subprocess.PIPE
    )
    said, _ = process.communicate(timeout=PATIENCE)
    return str(said).strip()


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    with running() as upstream:
        environment = upstream.environment | {"OPENAI_API_KEY": "sk-canary-91c2-key", "LOG_LEVEL": "debug"}
        with serving(with_tables(tmp_path_factory.mktemp("doors")), environment) as served:
            name, _ = served.person()
            yield Doors(served, upstream, shell(served, MAKE.format(name=name)))
            log = served.new_log()
            assert CANARY not in log and "Traceback" not in log and "ERROR" not in log, log[-3000:]


def whole(path: str, **more: Any) -> Json:
    return asking(path, MODEL, CANARY, **more)


ODD = {
    "no method": b"\xff\xfe /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "another method": b"CANARY-91c2 /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "bytes in the path": b"GET /v1/models/\xff\xfe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "bytes in the query": b"GET /v1/models?a=\xff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "many fields": b"GET /v1/models?" + b"a=1&" * 500 + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "no host": b"GET /v1/models HTTP/1.0\r\n\r\n",
    "a whole address": b"GET http://elsewhere/v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "two lengths": b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "a negative length": b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "a length and pieces": b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
    b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n",
    "pieces of no length": b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "a header that is none": b"GET /v1/models HTTP/1.1\r\nHost: x\r\nno colon\r\nConnection: close\r\n\r\n",
}


@pytest.mark.parametrize("octets", ODD.values(), ids=list(ODD))
def test_octets_that_no_client_would_send_break_nothing(doors: Doors, octets: bytes) -> None:
    assert 400 <= status(doors.says(octets)) < 500


@pytest.mark.parametrize("path", ASKING)
def test_a_body_in_pieces_is_a_body(doors: Doors, path: str) -> None:
    doors.upstream.plays(Write("So."))
    body = encoded(whole(path))
    pieces = [body[at : at + 7] for at in range(0, len(body), 7)]
    told = doors.says(doors.head(path, Transfer_Encoding="chunked") + chunked(*pieces, b""))
    assert status(told) == 200 and "So." in told


@pytest.mark.parametrize("path", ASKING)
def test_what_is_too_long_is_refused_before_it_is_sent(doors: Doors, path: str) -> None:
    told = doors.says(doors.head(path, Content_Length=str(40 * 2**20)))
    assert status(told) == 413 and "32 MB" in told
    assert error_in(json.loads(told.partition("\r\n\r\n")[2]), path)


@pytest.mark.parametrize("path", ASKING)
def test_without_a_key_little_is_taken_and_the_door_says_what_is_missing(doors: Doors, path: str) -> None:
    told = doors.says(doors.head(path, key="tl_" + "x" * 43, Content_Length=str(2**20)))
    assert status(told) == 401
    assert error_in(json.loads(told.partition("\r\n\r\n")[2]), path)


def test_long_histories_are_taken(doors: Doors) -> None:
    doors.upstream.plays(Write("So."))
    body = encoded(whole(MESSAGES) | {"system": "x" * 5_000_000})
    answer = httpx.post(
        f"{doors.served.url}v1/messages", content=body, headers={"x-api-key": doors.key}, timeout=PATIENCE
    )
    assert answer.status_code == 200 and len(body) < LONGEST_BODY


def test_whoever_asks_only_for_the_head_gets_no_body(doors: Doors) -> None:
    head, _, body = doors.says(doors.head("/v1/models", "HEAD")).partition("\r\n\r\n")
    assert " 200 " in head and not body


@pytest.mark.parametrize("path", ASKING)
def test_a_program_that_hangs_up_ends_the_providers_work(doors: Doors, path: str) -> None:
    """Before the model says anything, and in the middle of it."""
    for has_begun in (False, True):
        with connected(doors.served.url) as line:
            body = encoded(whole(path, stream=True))
            line.sendall(doors.head(path, Content_Length=str(len(body))) + body)
            answer = doors.upstream.next_answer()
            if has_begun:
                answer.write(CANARY)
                assert b"200" in line.recv(100)
        answer.until_gone()
    assert doors.left()[0] == 0


async def talk(doors: Doors, *messages: str | bytes, key: str = "") -> list[Any]:
    heard = []
    headers = {"x-api-key": key or doors.key}
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{doors.served.url}v1/responses", headers=headers) as socket,
    ):
        for message in messages:
            await (socket.send_bytes if isinstance(message, bytes) else socket.send_str)(message)
            heard.append(await socket.receive(timeout=PATIENCE))
    return heard


def test_garbage_over_a_socket_is_answered_and_what_is_over_long_closes_it(doors: Doors) -> None:
    garbage = (b"\x00\xff" * 1000, "x" * 2**20, "{}", json.dumps({"type": CANARY}))
    heard = asyncio.run(talk(doors, *garbage))
    assert all(json.loads(each.data)["type"] == "error" for each in heard)
    with suppress(ConnectionError):
        # It may be closed while it is still being sent to.
        (closed,) = asyncio.run(talk(doors, "x" * (LONGEST_BODY + 1)))
        assert closed.type is aiohttp.WSMsgType.CLOSE and closed.data == 1009
    assert asyncio.run(talk(doors, "{}"))


def test_a_wrong_key_opens_no_socket_however_often_and_keeps_no_right_one_out(doors: Doors) -> None:
    async def story() -> None:
        for key in (*("tl_" + "x" * 43 for _ in range(90)), "", "x"):
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await talk(doors, key=key or "none")
            assert refused.value.status in (403, 429)
        assert await talk(doors, "{}")

    asyncio.run(story())
