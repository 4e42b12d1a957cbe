"""The sockets below httpx: encryption, proxies, pauses, and connections that are used again."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpcore
import httpx
import pytest

from chatapp.core.items import KeyMaker
from chatapp.net.guarded_network import READ_AHEAD
from chatapp.providers.base import ProviderError, Trouble
from chatapp.providers.client import transport
from chatapp.providers.http import HttpProvider
from chatapp.providers.transport import Transport
from tests.support.patience import PATIENCE
from tests.support.serving import EVENT_STREAM, Peer, answer, cut, head, piece, raw, serving, silence, stream

from .asking import ask, endpoint, run
from .fake_wire import FakeWire, question, says


def server_side(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@asynccontextmanager
async def trusting(certificate: Path | None = None) -> AsyncIterator[httpx.AsyncClient]:
    context = ssl.create_default_context(cafile=certificate)
    async with httpx.AsyncClient(transport=Transport(context), trust_env=False) as made:
        yield made


def test_an_encrypted_stream_is_read_to_its_end(certificate: Path):
    async def main() -> None:
        frames = [f"data: {n}\n\n".encode() for n in range(200)]
        async with (
            serving(*[stream(*frames)] * 2, tls=server_side(certificate)) as server,
            trusting(certificate) as http,
        ):
            for _ in range(2):
                async with http.stream("POST", server.url, content=b"x" * 500_000) as response:
                    assert b"".join([data async for data in response.aiter_raw()]) == b"".join(frames)
            assert server.connections == 1
            assert len(server.asked[0].body) == 500_000

    run(main)


def test_an_encrypted_stream_is_closed_at_once(certificate: Path):
    async def main() -> None:
        async with serving(stream(b"data: x\n\n", then=silence), tls=server_side(certificate)) as server:
            async with trusting(certificate) as http, http.stream("POST", server.url) as response:
                await anext(response.aiter_raw())
            await asyncio.wait_for(server.gone.wait(), PATIENCE)

    run(main)


def test_a_certificate_that_nobody_vouches_for_is_refused_in_words(certificate: Path):
    async def main() -> None:
        async with serving(stream(*says("ok")), tls=server_side(certificate)) as server:
            events = HttpProvider(endpoint(server.url), FakeWire()).stream(question(), KeyMaker())
            with pytest.raises(ProviderError) as caught:
                await anext(events)
            assert caught.value.trouble is Trouble.UNREACHABLE
            assert caught.value.sentence.endswith("its certificate or encryption was not accepted.")
            assert server.asked == []

    run(main)


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch):
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
        monkeypatch.setenv(name.upper(), "http://127.0.0.1:1")
    assert ask(stream(*says("ok"))).text == "ok"


def test_passwords_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    secrets = tmp_path / "netrc"
    secrets.write_text("machine 127.0.0.1 login somebody password something")
    monkeypatch.setenv("NETRC", str(secrets))
    assert "authorization" not in ask(stream(*says("ok")), key="").server.asked[0].headers


def test_cookies_are_not_kept():
    async def main() -> None:
        setting = answer(200, b"".join(says("ok")), {"set-cookie": "who=you"} | EVENT_STREAM)
        async with serving(setting, setting) as server:
            for _ in range(2):
                events = HttpProvider(endpoint(server.url), FakeWire()).stream(question(), KeyMaker())
                assert [event async for event in events]
            assert "cookie" not in server.asked[1].headers

    run(main)


def test_a_stream_that_nobody_reads_is_held_back():
    async def main() -> None:
        all_sent = asyncio.Event()

        async def script(peer: Peer) -> None:
            await peer.send(head(200, EVENT_STREAM | {"transfer-encoding": "chunked"}))
            for _ in range(100):
                await peer.send(piece(b"x" * READ_AHEAD))
            all_sent.set()

        async with serving(script) as server, trusting() as http, http.stream("POST", server.url) as response:
            await anext(response.aiter_raw())
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(all_sent.wait(), 0.2)

    run(main)


@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "encrypted"])
def test_what_was_held_back_arrives_whole_though_the_server_has_gone(encrypted: bool, certificate: Path):
    async def main() -> None:
        body, held = bytes(range(256)) * 16_384, bytearray()
        whole = raw(head(200, {"content-length": str(len(body))}) + body)
        tls = server_side(certificate) if encrypted else None
        async with (
            serving(whole, tls=tls) as server,
            trusting(certificate) as http,
            http.stream("GET", server.url) as response,
        ):
            async for data in response.aiter_raw():
                held += data
                await asyncio.sleep(0)
        assert bytes(held) == body

    run(main)


HINTS = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("bytewise", [False, True], ids=["at once", "byte by byte"])
@pytest.mark.parametrize(
    "body", [b"5\r\nplain\r\n", b"3\r\npla\r\n2;by=us\r\nin\r\n", b"1\r\np\r\n004\r\nlain\r\n"], ids=str
)
def test_heads_and_chunks_are_told_apart_and_the_connection_is_used_again(bytewise: bool, body: bytes):
    whole = HINTS + HEAD + body + b"0\r\nchecked: yes\r\n\r\n"
    pieces = [whole[at : at + 1] for at in range(len(whole))] if bytewise else [whole]

    async def main() -> None:
        async def script(peer: Peer) -> None:
            for each in pieces:
                await peer.send(each)
                await asyncio.sleep(0)

        async with serving(script, script) as server, trusting() as http:
            for _ in range(2):
                assert (await http.post(server.url)).content == b"plain"
            assert server.connections == 1

    run(main)


@pytest.mark.parametrize("body", [b"2\r\nabc\r\n", b"5\r\nab", b"5\r\nplain\r\n"], ids=str)
def test_a_body_in_chunks_that_is_wrong_or_has_no_end_is_an_error(body: bytes):
    async def main() -> None:
        async with serving(raw(HEAD + body)) as server, trusting() as http:
            with pytest.raises(httpcore.RemoteProtocolError):
                await http.post(server.url)

    run(main)


def test_a_connection_that_the_server_closed_meanwhile_is_not_used_again():
    async def main() -> None:
        async def once(peer: Peer) -> None:
            await answer(200, b"ok")(peer)
            await cut(peer)

        async with serving(once, once) as server, trusting() as http:
            for _ in range(2):
                assert (await http.get(server.url)).text == "ok"
                await asyncio.gather(*filter(None, server.handlers))
                await _loop_turns()
            assert server.connections == 2

    run(main)


def test_what_comes_behind_an_answer_is_taken_for_no_other():
    async def main() -> None:
        one = head(200, {"content-length": "2"}) + b"ok"
        async with serving(raw(one + one.replace(b"ok", b"no")), raw(one)) as server, trusting() as http:
            for _ in range(2):
                assert (await http.get(server.url)).text == "ok"
            assert server.connections == 2

    run(main)


def test_a_connection_that_nobody_uses_is_closed_after_a_while(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("chatapp.providers.transport.KEPT_OPEN", 0.05)

    async def main() -> None:
        async def once(peer: Peer) -> None:
            await answer(200, b"ok")(peer)
            await silence(peer)

        async with serving(once) as server, trusting() as http:
            assert (await http.get(server.url)).text == "ok"
            await asyncio.wait_for(server.gone.wait(), PATIENCE)

    run(main)


def test_a_long_question_goes_out_whole_and_who_says_to_hang_up_is_not_asked_again_on_the_same_line():
    async def main() -> None:
        refused = answer(413, b"too long", {"connection": "close"})
        async with serving(refused, answer(200, b"ok")) as server, trusting() as http:
            response = await http.post(server.url, content=b"x" * 2_000_000)
            assert response.status_code == 413 and response.text == "too long"
            assert (await http.get(server.url)).text == "ok"
            assert len(server.asked[0].body) == 2_000_000 and server.connections == 2

    run(main)


async def _loop_turns() -> None:
    """Lets the loop see what its sockets already hold."""
    for _ in range(3):
        await asyncio.sleep(0)


def test_a_host_that_does_not_answer_is_given_up():
    async def main() -> None:
        async with trusting() as http:
            with pytest.raises(httpcore.ConnectError):
                await http.get("http://127.0.0.1:1/")

    run(main)


def test_every_loop_has_connections_of_its_own():
    seen: list[Transport] = []

    async def main() -> None:
        seen.append(transport())
        assert transport() is seen[-1]
        assert transport(public=True) is not seen[-1]

    run(main)
    run(main)
    assert seen[0] is not seen[1]
