"""Fetches one page of the public web: every step of the way is checked anew, and everything has an end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from http import HTTPStatus

import httpcore
import httpx

from ...net.dial import Guard, NotAllowed, NotFound, NotSecure
from ...net.guarded_network import Network
from ..base import ToolError
from .checked_url import checked_url, host_of, port_of
from .kinds import check_kind
from .whole_body import whole_body

MOST_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
ACCEPT = "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8, application/xml;q=0.8"


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """`size` in bytes, on the wire and unpacked; the others in seconds."""

    size: int = 2 * 1024 * 1024
    connect: float = 5.0
    silence: float = 10.0
    total: float = 20.0


@dataclass(frozen=True, slots=True)
class Fetched:
    """`content_type` as the server wrote it."""

    url: str
    content_type: str
    data: bytes


async def fetched(url: str, guard: Guard, limits: FetchLimits) -> Fetched:
    """The page and where it was found in the end, or a ToolError that says in words why there is none."""
    try:
        async with asyncio.timeout(limits.total):
            return await _followed(checked_url(url), guard, limits)
    except TimeoutError:
        raise ToolError(f"The page did not arrive within {limits.total:g} seconds.") from None


async def _followed(page: httpx.URL, guard: Guard, limits: FetchLimits) -> Fetched:
    for _ in range(MOST_REDIRECTS + 1):
        async with _answered(page, guard, limits) as answer:
            headers = _answer_headers(answer)
            if answer.status not in REDIRECTS or "location" not in headers:
                return await _whole_page(page, answer, headers, limits)
        page = _leads_on_to(page, headers["location"])
    raise ToolError(f"The address leads on to others more than {MOST_REDIRECTS} times.")


@asynccontextmanager
async def _answered(page: httpx.URL, guard: Guard, limits: FetchLimits) -> AsyncIterator[httpcore.Response]:
    host, port = host_of(page), port_of(page)
    trust = await asyncio.to_thread(guard.trust) if page.scheme == "https" else None
    target = httpcore.URL(scheme=page.raw_scheme, host=page.raw_host, port=port, target=page.raw_path)
    timeout = {"connect": limits.connect, "read": limits.silence, "write": limits.silence}
    connection = httpcore.AsyncHTTPConnection(
        target.origin, ssl_context=trust, network_backend=Network(guard)
    )
    with _trouble_in_words(host):
        async with (
            connection,
            connection.stream(
                "GET", target, headers=_request_headers(page), extensions={"timeout": timeout}
            ) as answer,
        ):
            yield answer


def _request_headers(page: httpx.URL) -> list[tuple[bytes, bytes]]:
    """The same for everybody: no cookies, no language, nothing about where one comes from."""
    return [
        (b"Host", page.netloc),
        (b"User-Agent", b"thoughtline"),
        (b"Accept", ACCEPT.encode()),
        (b"Accept-Encoding", b"gzip"),
        (b"Connection", b"close"),
    ]


def _answer_headers(answer: httpcore.Response) -> Mapping[str, str]:
    return {
        name.decode("latin-1").lower(): value.decode(errors="replace").strip()
        for name, value in answer.headers
    }


def _leads_on_to(page: httpx.URL, location: str) -> httpx.URL:
    try:
        target = checked_url(str(page.join(location)))
    except (httpx.InvalidURL, ValueError):
        raise ToolError("The address leads on to something that is not a web address.") from None
    except ToolError as error:
        raise ToolError(f"The address leads on to another that is not read. {error}") from None
    if page.scheme == "https" and target.scheme != "https":
        raise ToolError("The address leads from https on to http, where anybody may change what is read.")
    return target


async def _whole_page(
    page: httpx.URL, answer: httpcore.Response, headers: Mapping[str, str], limits: FetchLimits
) -> Fetched:
    if not 200 <= answer.status < 300:
        raise ToolError(f"{host_of(page)} answered {_status_in_words(answer.status)}.")
    content_type = headers.get("content-type", "")
    check_kind(content_type)
    return Fetched(str(page), content_type, await whole_body(answer, headers, limits.size))


def _status_in_words(code: int) -> str:
    """With the words of the standard, since those of the server could say anything."""
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)


@contextmanager
def _trouble_in_words(host: str) -> Iterator[None]:
    try:
        yield
    except NotFound:
        raise ToolError(f"The name {host} was not found.") from None
    except NotAllowed:
        raise ToolError(f"{host} does not lead to the public web, and nothing else is read.") from None
    except NotSecure:
        raise ToolError(f"{host} could not prove that it is {host}, so it was not read.") from None
    except httpcore.ConnectError:
        raise ToolError(f"{host} could not be connected to.") from None
    except httpcore.TimeoutException:
        raise ToolError(f"{host} did not answer in time.") from None
    except httpcore.ProtocolError:
        raise ToolError(f"What {host} answered is not whole, or is no HTTP.") from None
    except httpcore.NetworkError:
        raise ToolError(f"The connection to {host} broke off.") from None
