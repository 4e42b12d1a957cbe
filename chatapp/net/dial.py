"""Whom we speak to: a name is asked for once, all its addresses are checked, and only these are connected to."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import httpx

from .addresses import is_number, is_public

MOST_TRIED = 4
# After this long the host's next address is tried too.
NEXT_ADDRESS = 0.25
# Of its own, so that slow name servers keep nobody else waiting.
_THREADS = ThreadPoolExecutor(max_workers=8, thread_name_prefix="resolving")


class NotReached(Exception):
    """Nobody is there of whom one could ask anything."""


class NotFound(NotReached):
    """The name leads nowhere."""


class NotAllowed(NotReached):
    """The name leads where one may not be."""


class NotSecure(NotReached):
    """Somebody is there, but not provably who was asked for."""


async def resolved(host: str, port: int) -> Sequence[str]:
    if is_number(host):
        return [host]
    ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    rows = await asyncio.get_running_loop().run_in_executor(_THREADS, ask)
    return list(dict.fromkeys(_in_digits(row[4]) for row in rows))


def _in_digits(address: tuple[Any, ...]) -> str:
    """With the network's name behind it where it means something in that network alone."""
    return socket.getnameinfo(address, socket.NI_NUMERICHOST | socket.NI_NUMERICSERV)[0]


@cache
def public_trust() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


@dataclass(frozen=True, slots=True)
class Guard:
    """What is asked before anybody is connected to: where a name leads, whether one may go there, and whom to trust."""

    resolve: Callable[[str, int], Awaitable[Sequence[str]]] = resolved
    allows: Callable[[str], bool] = is_public
    trust: Callable[[], ssl.SSLContext] = public_trust

    async def addresses(self, host: str, port: int) -> Sequence[str]:
        """One that is not allowed makes the others suspicious too."""
        found = await self.resolve(host, port)
        if not found:
            raise NotFound("not found")
        if not all(map(self.allows, found)):
            raise NotAllowed("not in the public web")
        return found[:MOST_TRIED]


PUBLIC = Guard()
ANYWHERE = Guard(allows=lambda address: True)


async def dialled(host: str, port: int, guard: Guard) -> socket.socket:
    """Connected to whichever of the addresses answers first; each is tried a little after the one before it."""
    left = list(await guard.addresses(host, port))
    if len(left) == 1:
        return await _connected(left[0], port)
    tries: set[asyncio.Task[socket.socket]] = set()
    try:
        while True:
            if left:
                tries.add(asyncio.create_task(_connected(left.pop(0), port)))
            wait = NEXT_ADDRESS if left else None
            done, _ = await asyncio.wait(tries, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                tries.discard(each)
                failure = each.exception()
                if failure is None:
                    return each.result()
                if not left and not tries:
                    raise failure
    finally:
        for each in tries:
            each.cancel()
            each.add_done_callback(_hang_up)


async def _connected(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # Only where the protocol is named does asyncio send what follows at once: else a body waits until its head is confirmed.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(made, (address, port))
    except BaseException:
        made.close()
        raise
    return made


def _hang_up(late: asyncio.Task[socket.socket]) -> None:
    """It answered as well, or when nobody waited any more."""
    if not late.cancelled() and late.exception() is None:
        late.result().close()
