"""One request out, one answer in: checked addresses and headers, failures in words.

Requests are httpx's own and go straight to the transport: what a client of httpx does around that, for cookies, redirects and hooks
which nobody here wants, took as long as the request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache

import anyio
import httpx

from ..net.dial import ANYWHERE, PUBLIC, public_trust
from .base import Endpoint, ProviderError, Trouble
from .failures import failing_in_words
from .reader import StreamLimits
from .transport import AnswerBody, Transport

# Of every request.
_HEADERS = {"accept-encoding": "identity", "user-agent": "thoughtline"}
# Those who may go everywhere, and those of the public web alone: no connection of the first ones is used for the others.
_transports: dict[tuple[asyncio.AbstractEventLoop, bool], Transport] = {}


def transport(*, public: bool = False) -> Transport:
    """The one of this event loop, since connections belong to the loop that made them; another for the `public` web."""
    loop = asyncio.get_running_loop()
    if (loop, public) not in _transports:
        for old in [old for old in list(_transports) if old[0].is_closed()]:
            _transports.pop(old, None)
        _transports[loop, public] = Transport(public_trust(), guard=PUBLIC if public else ANYWHERE)
    return _transports[loop, public]


async def warm_up() -> None:
    """Loads now what the first request of a process would load within the time of somebody's thought."""
    await asyncio.to_thread(public_trust)
    transport()
    anyio.Lock()


async def close_connections() -> None:
    """Those of this event loop."""
    loop = asyncio.get_running_loop()
    for old in [_transports.pop((loop, public), None) for public in (False, True)]:
        if old is not None:
            await old.aclose()


def request(
    endpoint: Endpoint,
    path: str,
    headers: dict[str, str],
    limits: StreamLimits,
    content: bytes | None = None,
) -> httpx.Request:
    """A GET, or a POST where there is content; refused here where the endpoint itself is wrong."""
    if endpoint.problem:
        raise ProviderError(Trouble.KEY, endpoint.problem)
    if not all(_fits_a_header(value) for value in headers.values()):
        sentence = (
            f"The API key of {endpoint.who} holds characters that no key has. Check it in the settings."
        )
        raise ProviderError(Trouble.KEY, sentence)
    url = _url_below(endpoint.base_url, path)
    if url is None:
        raise ProviderError(Trouble.UNREACHABLE, f"The base URL of {endpoint.who} is not a web address.")
    method = "GET" if content is None else "POST"
    patience = {"connect": limits.connect, "read": limits.silence, "write": limits.silence, "pool": None}
    extensions = {"timeout": patience}
    return httpx.Request(method, url, headers=_HEADERS | headers, content=content, extensions=extensions)


def _fits_a_header(value: str) -> bool:
    return value.isascii() and value.isprintable() and value == value.strip()


@lru_cache(256)
def _url_below(base: str, path: str) -> httpx.URL | None:
    try:
        url = httpx.URL(f"{base.rstrip('/')}/{path.lstrip('/')}")
    except (httpx.InvalidURL, ValueError):
        return None
    is_address = url.scheme in ("http", "https") and url.host and 0 < (url.port or 80) < 65536
    return url if is_address else None


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    status: int
    headers: Mapping[str, str]
    body: AnswerBody


@asynccontextmanager
async def answered(endpoint: Endpoint, question: httpx.Request) -> AsyncIterator[HttpAnswer]:
    """The answer while it is read; the connection is given back, or closed where something is left unread."""
    with failing_in_words(endpoint):
        response = await transport(public=endpoint.public).handle_async_request(question)
        body: AnswerBody = response.extensions["body"]
        try:
            yield HttpAnswer(response.status_code, response.headers, body)
        finally:
            await body.aclose()
