"""Sites of the tests: names that lead to a server of this machine, through a guard that allows its address for once."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chatapp.net.addresses import is_public
from chatapp.net.dial import Guard
from chatapp.tools.page.checked_url import is_literal

from .serving import Script, Server, answer

HERE = "127.0.0.1"


@dataclass
class Names:
    """A name server: each answer to a name in its turn, the last one for ever. A number leads to itself."""

    answers: Mapping[str, Sequence[Sequence[str]]]
    asked: list[str] = field(default_factory=list)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        await asyncio.sleep(0)
        self.asked.append(host)
        known = self.answers.get(host, [[host]] if is_literal(host) else [[]])
        return known[min(self.asked.count(host), len(known)) - 1]


def leading(*hosts: str, trust: ssl.SSLContext | None = None) -> Guard:
    """These names lead here, which is public for once; everything else is as it really is."""
    return guarded(Names({host: [[HERE]] for host in hosts}), trust)


def guarded(names: Names, trust: ssl.SSLContext | None = None) -> Guard:
    return Guard(
        resolve=names.resolve,
        allows=lambda address: address == HERE or is_public(address),
        trust=lambda: trust or ssl.create_default_context(),
    )


def at(server: Server, host: str, path: str = "/") -> str:
    scheme, _, rest = server.url.partition("://")
    port = rest.partition(":")[2].partition("/")[0]
    return f"{scheme}://{host}:{port}{path}"


def page(body: bytes | str, kind: str = "text/html; charset=utf-8", **headers: str) -> Script:
    data = body.encode() if isinstance(body, str) else body
    return answer(200, data, {name.replace("_", "-"): value for name, value in headers.items()}, kind)


def leads_to(location: str, status: int = 302) -> Script:
    return answer(status, b"", {"location": location})
