"""Where a request comes from, for those who count by it."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest


def visitor_address(request: HttpRequest) -> str:
    """As the proxy in front saw it, where the settings say that there is one, else as we see it."""
    peer = _as_counted(request.META.get("REMOTE_ADDR", ""))
    if not settings.PUBLIC_URL.startswith("https:"):
        return peer
    # What stands before the last comma was written by whoever came to the proxy.
    last = request.headers.get("X-Forwarded-For", "").rpartition(",")[2]
    return _as_counted(last.strip()) or peer


def _as_counted(text: str) -> str:
    """One visitor has a whole network of 2^64 addresses in IPv6, so that is what counts."""
    try:
        address = ip_address(text)
    except ValueError:
        return ""
    if not isinstance(address, IPv6Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Network((int(address), 64), strict=False))
