"""A provider that staff added is reached in the public web alone, by the address that was looked up and checked."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import httpcore
import httpx
import pytest

from chatapp.core.items import KeyMaker
from chatapp.net.addresses import is_public
from chatapp.net.dial import Guard, NotAllowed, NotFound, NotReached, NotSecure
from chatapp.providers import WIRES
from chatapp.providers.base import Endpoint, ProviderError, Trouble
from chatapp.providers.http import HttpProvider
from chatapp.providers.transport import Transport
from tests.support.serving import answer, cut, serving, stream
from tests.support.websites import HERE, Names, at, leads_to
from tests.tools.test_checked_url import SPELLINGS

from .asking import KEY, endpoint, run
from .fake_wire import FakeWire, question, says
from .test_transport import server_side

SITE = "site.example"
OK = answer(200, b"ok")


def guarded(names: Names) -> Guard:
    """The address of this machine is public for once."""
    return Guard(names.resolve, lambda address: address == HERE or is_public(address))


@asynccontextmanager
async def through(guard: Guard, trust: ssl.SSLContext | None = None) -> AsyncIterator[httpx.AsyncClient]:
    transport = Transport(trust or ssl.create_default_context(), guard=guard)
    async with httpx.AsyncClient(transport=transport, trust_env=False) as made:
        yield made


async def refusal(where: Endpoint) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await anext(HttpProvider(where, FakeWire()).stream(question(), KeyMaker()))
    return caught.value


@pytest.mark.parametrize(
    "host", [HERE, "localhost", "[::ffff:127.0.0.1]", "127.1", "2130706433", "0x7f000001"]
)
def test_this_machine_is_refused_in_words_and_nothing_is_sent(host: str):
    async def main() -> None:
        async with serving(stream(*says("ok"))) as server:
            error = await refusal(replace(endpoint(at(server, host)), public=True))
            assert error.trouble is Trouble.UNREACHABLE
            assert error.sentence == (
                "Fake is not in the public web, and it was not allowed to be in a private network."
            )
            assert not error.again and KEY not in str(error) + error.raw
            assert server.connections == 0

    run(main)


def test_where_it_is_allowed_this_machine_is_reached():
    async def main() -> None:
        async with serving(stream(*says("ok"))) as server:
            provider = HttpProvider(endpoint(server.url), FakeWire())
            assert [event async for event in provider.stream(question(), KeyMaker())]

    run(main)


def test_a_connection_of_one_that_may_is_not_used_for_one_that_may_not():
    async def main() -> None:
        async with serving(*[stream(*says("ok"))] * 2) as server:
            may = HttpProvider(endpoint(server.url), FakeWire())
            assert [event async for event in may.stream(question(), KeyMaker())]
            await refusal(replace(endpoint(server.url), public=True))
            assert len(server.asked) == 1
            assert [event async for event in may.stream(question(), KeyMaker())]
            assert server.connections == 1

    run(main)


def test_a_name_is_asked_for_once_and_its_second_answer_is_never_used():
    """Names that lead outside when they are checked, and inside when they are used."""

    async def main() -> None:
        names = Names({SITE: [[HERE], ["10.0.0.1"]]})
        async with serving(OK) as server, through(guarded(names)) as http:
            assert (await http.get(at(server, SITE))).text == "ok"
            assert names.asked == [SITE]

    run(main)


def test_every_new_connection_asks_anew():
    async def main() -> None:
        async def once(peer) -> None:
            await OK(peer)
            await cut(peer)

        names = Names({SITE: [[HERE], ["10.0.0.1"]]})
        async with serving(once) as server, through(guarded(names)) as http:
            await http.get(at(server, SITE))
            await asyncio.gather(*filter(None, server.handlers))
            await asyncio.sleep(0)
            with pytest.raises((NotAllowed, httpcore.NetworkError, httpcore.RemoteProtocolError)):
                while True:
                    await http.get(at(server, SITE))
            assert server.connections == 1

    run(main)


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.2"], [HERE, "10.0.0.1"], ["::1", HERE], [HERE] * 9 + ["169.254.169.254"], ["no address"]],
)
def test_one_address_that_is_not_public_is_enough_for_a_refusal(addresses: list[str]):
    async def main() -> None:
        async with serving(OK) as server, through(guarded(Names({SITE: [addresses]}))) as http:
            with pytest.raises(NotAllowed) as caught:
                await http.get(at(server, SITE))
            assert not any(address in str(caught.value) for address in addresses)
            assert server.connections == 0

    run(main)


def test_the_next_address_is_tried_where_the_first_does_not_answer():
    async def main() -> None:
        both = Guard(Names({SITE: [["127.0.0.9", HERE]]}).resolve, lambda address: True)
        async with serving(OK) as server, through(both) as http:
            assert (await http.get(at(server, SITE))).text == "ok"

    run(main)


def test_a_name_that_nobody_knows_is_not_found():
    async def main() -> None:
        async with serving() as server, through(guarded(Names({}))) as http:
            with pytest.raises(NotFound, match="not found"):
                await http.get(at(server, SITE))

    run(main)


async def _numbers_alone(host: str, port: int) -> Sequence[str]:
    """What the machine's own resolver makes of a number, without asking anybody."""
    rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    return [str(row[4][0]) for row in rows]


@pytest.mark.parametrize("host", SPELLINGS.split(), ids=ascii)
def test_no_spelling_of_a_number_leads_inside(host: str):
    """Those that mean a number of the public web would be connected to, and are left out."""

    async def main() -> None:
        async with serving(*[OK] * 4) as server, through(Guard(_numbers_alone)) as http:
            with suppress(OSError, UnicodeError):
                if all(map(is_public, await _numbers_alone(host.strip("[]"), 80))):
                    return
            with suppress(
                httpx.InvalidURL, httpcore.ConnectError, NotReached, httpcore.UnsupportedProtocol, ValueError
            ):
                await http.get(at(server, host))
            assert server.connections == 0

    run(main)


@pytest.mark.parametrize("location", ["http://169.254.169.254/latest/", "/v1/other", "//10.0.0.1/"])
def test_a_redirect_is_not_followed_and_told(location: str):
    async def main() -> None:
        async with serving(leads_to(location, 307), leads_to(location)) as server:
            error = await refusal(endpoint(server.url))
            assert error.sentence == "Fake is at another address now. Correct its base URL."
            with pytest.raises(ProviderError, match="is at another address now"):
                await HttpProvider(endpoint(server.url), FakeWire()).list_models()
            assert len(server.asked) == 2

    run(main)


def test_encryption_is_with_the_name_that_was_asked_for(certificate: Path):
    """The certificate is one of the number, not of the name that leads there."""

    async def main() -> None:
        trust = ssl.create_default_context(cafile=certificate)
        tls = server_side(certificate)
        async with serving(OK, tls=tls) as server, through(guarded(Names({SITE: [[HERE]]})), trust) as http:
            with pytest.raises(NotSecure):
                await http.get(at(server, SITE))

    run(main)


def test_an_endpoint_with_a_problem_says_it_and_asks_nobody():
    async def main() -> None:
        async with serving(OK) as server:
            error = await refusal(
                replace(endpoint(server.url), problem="Fake has no key: X_API_KEY is not set.")
            )
            assert (error.trouble, error.sentence) == (Trouble.KEY, "Fake has no key: X_API_KEY is not set.")
            assert server.connections == 0

    run(main)


@pytest.mark.parametrize(
    "name", ["openai", "openai-eu", "ollama", "groq", "local", "openrouter", "my-vllm", "acme"]
)
@pytest.mark.parametrize("dialect", WIRES)
@pytest.mark.parametrize("model", ["deepseek-chat", "kimi-k2", "m", "gpt-5"])
def test_whatever_staff_call_it_its_contract_is_that_of_a_compatible_server(
    name: str, dialect: str, model: str
):
    url = "http://10.0.0.3:8000/v1"
    added = HttpProvider(Endpoint(name=name, dialect=dialect, base_url=url), WIRES[dialect])
    usual = HttpProvider(Endpoint(name="compatible", dialect=dialect, base_url=url), WIRES[dialect])
    spec = added.model(model)
    assert added.contract(spec) == usual.contract(usual.model(model))
    assert (spec.efforts, spec.thinking) == (usual.model(model).efforts, usual.model(model).thinking)
    assert spec.provider == name


def test_its_host_counts_as_it_does_for_a_compatible_server():
    where = Endpoint(name="acme", dialect="chat", base_url="https://api.groq.com/openai/v1")
    provider = HttpProvider(where, WIRES["chat"])
    assert "groq" in provider.contract(provider.model("m")).where
