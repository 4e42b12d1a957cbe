"""The way to a server: its name is asked for once, all its addresses are checked, and only these are connected to."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial

import httpcore
import httpx

from ..core.addresses import is_public
from ..tools.base import ToolError
from ..tools.page_urls import is_literal

MOST_TRIED = 4
# Of its own, so that slow name servers keep nobody else waiting.
_THREADS = ThreadPoolExecutor(max_workers=8, thread_name_prefix="resolving")


async def resolved(host: str, port: int) -> Sequence[str]:
    loop = asyncio.get_running_loop()
    ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        rows = await loop.run_in_executor(_THREADS, ask)
    except (OSError, UnicodeError):
        return ()
    return list(dict.fromkeys(str(row[4][0]) for row in rows))


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
        """All of them, or a ToolError: one that is not public makes the others suspicious too."""
        found = (host,) if is_literal(host) else await self.resolve(host, port)
        if not found:
            raise ToolError(f"The name {host} was not found.")
        if not all(map(self.allows, found)):
            raise ToolError(f"{host} does not lead to the public web, and nothing else is read.")
        return found


class OnlyThese(httpcore.AsyncNetworkBackend):
    """Connects to these addresses, whatever it is asked for: there is no second question to a name server."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses[:MOST_TRIED]
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        for address in self._addresses[:-1]:
            try:
                return await self._network.connect_tcp(address, port, timeout)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._network.connect_tcp(self._addresses[-1], port, timeout)
