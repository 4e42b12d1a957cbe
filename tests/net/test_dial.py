"""Of a name's addresses the one that answers first is taken, and nothing is left of the others."""

from __future__ import annotations

import asyncio
import gc
import socket
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest

from chatapp.net.dial import ANYWHERE, PUBLIC, Guard, NotAllowed, NotFound, dialled, resolved
from chatapp.net.guarded_network import Network
from tests.support.patience import PATIENCE
from tests.support.websites import HERE, Names

SITE, SILENT = "site.example", "127.0.0.9"


@contextmanager
def listening(address: str = HERE, port: int = 0, waiting: int = 100) -> Iterator[socket.socket]:
    with socket.socket() as made:
        made.bind((address, port))
        made.listen(waiting)
        yield made


@contextmanager
def silent(port: int) -> Iterator[None]:
    """So many wait there already that nobody else is answered."""
    with ExitStack() as stack:
        stack.enter_context(listening(SILENT, port, waiting=0))
        for _ in range(4):
            crowd = stack.enter_context(socket.socket())
            crowd.setblocking(False)
            with suppress(BlockingIOError):
                crowd.connect((SILENT, port))
        yield


def leading_to(*addresses: str) -> Guard:
    return Guard(Names({SITE: [addresses]}).resolve, lambda address: True)


async def reached(port: int, *addresses: str) -> str:
    with await asyncio.wait_for(dialled(SITE, port, leading_to(*addresses)), PATIENCE) as line:
        return str(line.getpeername()[0])


def test_an_address_that_stays_silent_holds_nobody_up():
    with listening() as server, silent(port := server.getsockname()[1]):
        assert asyncio.run(reached(port, SILENT, HERE)) == HERE


def test_an_address_that_refuses_is_followed_by_the_next():
    with listening() as server:
        assert asyncio.run(reached(server.getsockname()[1], SILENT, "127.0.0.8", HERE)) == HERE


def test_where_all_refuse_their_refusal_is_told():
    with listening() as server:
        port = server.getsockname()[1]
    with pytest.raises(ConnectionRefusedError):
        asyncio.run(reached(port, SILENT, HERE))


def test_whoever_hangs_up_while_it_rings_leaves_no_line_open():
    async def broken_off(port: int, steps: int) -> None:
        dialling = asyncio.create_task(dialled(SITE, port, leading_to(HERE)))
        for _ in range(steps):
            await asyncio.sleep(0)
        dialling.cancel()
        with suppress(asyncio.CancelledError):
            (await dialling).close()

    with listening() as server, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for steps in range(12):
            asyncio.run(broken_off(server.getsockname()[1], steps))
        gc.collect()
    assert not told


def test_only_what_the_guard_allows_is_dialled():
    with listening() as server:
        port = server.getsockname()[1]
        with pytest.raises(NotAllowed):
            asyncio.run(dialled(HERE, port, PUBLIC))
        asyncio.run(dialled(HERE, port, ANYWHERE)).close()


def test_a_name_that_leads_nowhere_is_not_found():
    with pytest.raises(NotFound):
        asyncio.run(dialled(SITE, 80, leading_to()))


def test_the_machines_own_resolver_gives_all_addresses_of_a_name():
    found = asyncio.run(resolved("localhost", 80))
    assert {HERE, "::1"} & set(found)


@pytest.mark.parametrize("name", ["nobody.invalid", "x" * 70 + ".invalid"])
def test_a_name_that_nobody_knows_is_told_by_the_machines_own_resolver(name: str):
    with pytest.raises((OSError, UnicodeError)):
        asyncio.run(resolved(name, 80))


def test_what_is_written_goes_out_at_once():
    """A request is written in two pieces; the second must not wait until the other side has confirmed the first."""

    async def story(port: int) -> int:
        line = await Network(ANYWHERE).connect_tcp(HERE, port)
        chosen = line.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        await line.aclose()
        return int(chosen)

    with listening() as server:
        assert asyncio.run(story(server.getsockname()[1])) != 0
