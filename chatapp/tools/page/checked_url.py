"""Which web addresses may be read at all, as they are written; where they lead is looked at afterwards."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address

import httpx

from ..base import ToolError

LONGEST = 2000
PORTS = {"http": 80, "https": 443}
OWN_NETWORK = frozenset(
    {
        "arpa",
        "corp",
        "home",
        "internal",
        "intranet",
        "lan",
        "local",
        "localdomain",
        "localhost",
        "onion",
        "private",
    }
)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def checked_url(text: str) -> httpx.URL:
    """The address, or a ToolError that says why it is not read. Its host is a name or a plainly written IP address."""
    url = _url_in(text)
    if url.scheme not in PORTS:
        raise ToolError("Only addresses that begin with https:// or http:// are read.")
    if url.userinfo:
        raise ToolError("Addresses with a name or a password in them are not read.")
    if url.port is not None and url.port not in PORTS.values() and not 1024 <= url.port <= 65535:
        raise ToolError(f"Port {url.port} is not one where web pages are.")
    _check_host(host_of(url))
    return url.copy_with(fragment=None)


def host_of(url: httpx.URL) -> str:
    """As it goes over the wire: small ASCII letters."""
    return url.raw_host.decode("ascii")


def port_of(url: httpx.URL) -> int:
    return url.port or PORTS[url.scheme]


def is_literal(host: str) -> bool:
    """Whether this is an IP address in its plain form."""
    return _is_address(IPv4Address, host) or (_is_address(IPv6Address, host) and "%" not in host)


def _url_in(text: str) -> httpx.URL:
    if len(text) > LONGEST:
        raise ToolError(f"The address is longer than {LONGEST:,} characters.")
    if not text.isprintable() or " " in text or "\\" in text:
        raise _no_address()
    try:
        return httpx.URL(text)
    except (httpx.InvalidURL, ValueError):
        raise _no_address() from None


def _no_address() -> ToolError:
    return ToolError("This is not a web address. One looks like https://example.com/page.")


def _check_host(host: str) -> None:
    if is_literal(host):
        return
    labels = host.split(".")
    if len(host) > 253 or not all(map(_LABEL.fullmatch, labels)) or _NUMBER.fullmatch(labels[-1]):
        raise _no_address()
    if len(labels) == 1 or labels[-1] in OWN_NETWORK:
        raise ToolError(f"{host} is a name of a private network, and only the public web is read.")


def _is_address(kind: type[IPv4Address] | type[IPv6Address], host: str) -> bool:
    try:
        kind(host)
    except ValueError:
        return False
    return True
