"""The listening socket of a real server, from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.browser.served import Served, serving

aiohttp = pytest.importorskip("aiohttp")

PATIENCE = 20


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("house"), {}) as served:
        yield served
        log = served.new_log()
        assert "Traceback" not in log and " ERROR " not in log, log


def own_origin(served: Served) -> str:
    return served.url.rstrip("/")


@asynccontextmanager
async def connected(served: Served, path: str = "ws/", *, origin: str | None = None, session: str = ""):
    headers = {"Cookie": f"sessionid={session}"} | ({"Origin": origin} if origin is not None else {})
    async with (
        aiohttp.ClientSession() as client,
        client.ws_connect(served.url + path, headers=headers) as line,
    ):
        yield line


async def closed(line: Any) -> int:
    async with asyncio.timeout(PATIENCE):
        while not line.closed:
            await line.receive()
    return int(line.close_code)


@pytest.mark.parametrize("path", ["ws/", "ws/no/such/", "c/"])
@pytest.mark.parametrize(
    "origin", [None, "null", "http://elsewhere.example", "{scheme}://{host}:1", "http://["]
)
def test_a_page_from_elsewhere_does_not_even_connect(served, origin, path):
    ours = urlsplit(served.url)

    async def story():
        said = origin and origin.format(scheme=ours.scheme, host=ours.hostname)
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            async with connected(served, path, origin=said):
                pass
        assert refused.value.status == 403

    asyncio.run(story())


def test_a_stranger_is_told_to_sign_in(served):
    async def story():
        async with connected(served, origin=own_origin(served)) as line:
            assert await closed(line) == 4401

    asyncio.run(story())


@pytest.mark.parametrize(
    "sent",
    ["x", "9" * 13, "\ud83d\ude00", "9" * 200_000, b"", b"\xff\xfe", b"0" * 200_000],
    ids=lambda it: repr(it[:3]),
)
def test_nonsense_ends_the_socket_and_nobody_elses(served, sent):
    async def story():
        name, session = served.person()
        conversation = served.clerk("conversation", owner=name, turns=1)
        there = {"origin": own_origin(served), "session": session}
        async with (
            connected(served, f"ws/c/{conversation}/", **there) as line,
            connected(served, f"ws/c/{conversation}/", **there) as other,
        ):
            await (line.send_bytes if isinstance(sent, bytes) else line.send_str)(sent)
            assert await closed(line) == 4400
            assert not other.closed
            await other.send_str("1")
            await asyncio.wait_for(other.receive_str(), PATIENCE)

    asyncio.run(story())


def test_the_conversation_of_somebody_else_is_not_there(served):
    async def story():
        owner, _ = served.person()
        conversation = served.clerk("conversation", owner=owner, turns=1)
        _, session = served.person()
        async with connected(
            served, f"ws/c/{conversation}/", origin=own_origin(served), session=session
        ) as line:
            assert await closed(line) == 4404

    asyncio.run(story())
