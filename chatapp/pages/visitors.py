"""Where a request comes from, for those who count by it."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host

# What programs between a browser and a server add, as a request's META spells it: hyphens and underscores are one there.
PASSED_ON = (
    *("HTTP_X_FORWARDED", "HTTP_FORWARDED", "HTTP_VIA", "HTTP_X_REAL_", "HTTP_X_ORIGINAL_", "HTTP_X_CLIENT_"),
    *(
        "HTTP_X_CLUSTER_",
        "HTTP_X_PROXY",
        "HTTP_X_HOST",
        "HTTP_X_ENVOY_",
        "HTTP_X_AMZN_",
        "HTTP_X_AZURE_",
        "HTTP_X_ARR_",
    ),
    *(
        "HTTP_CF_",
        "HTTP_CDN_LOOP",
        "HTTP_TRUE_CLIENT_",
        "HTTP_CLIENT_IP",
        "HTTP_FASTLY_",
        "HTTP_FLY_",
        "HTTP_TAILSCALE_",
    ),
)


def visitor_address(request: HttpRequest) -> str:
    return address_seen(request.META.get("REMOTE_ADDR", ""), request.headers.get("X-Forwarded-For", ""))


def address_seen(peer: str, forwarded: str) -> str:
    """As the proxy in front saw it, where the settings say that there is one, else as we see it. `forwarded`: what X-Forwarded-For says."""
    if not settings.PUBLIC_URL.startswith("https:"):
        return _as_counted(peer)
    # What stands before the last comma was written by whoever came to the proxy.
    last = forwarded.rpartition(",")[2]
    return _as_counted(last.strip()) or _as_counted(peer)


def site_of(request: HttpRequest) -> str:
    """With what a link begins that is handed over."""
    return settings.PUBLIC_URL or f"{request.scheme}://{request.get_host()}"


def same_origin(headers: dict[bytes, bytes]) -> bool:
    """Only our own pages may listen; browsers say truly which page it is."""
    origin = headers.get(b"origin", b"").decode("latin-1")
    if settings.PUBLIC_URL.startswith("https:"):
        return origin == settings.PUBLIC_URL
    host = headers.get(b"host", b"").decode("latin-1")
    name, _ = split_domain_port(host)
    return bool(name) and validate_host(name, settings.ALLOWED_HOSTS) and origin == f"http://{host}"


def is_of_this_machine(request: HttpRequest) -> bool:
    """Whether it certainly comes from a browser on the machine of this server. Behind a proxy everybody's connection seems to."""
    name = split_domain_port(request.META.get("HTTP_HOST", ""))[0]
    here = _is_loopback(request.META.get("REMOTE_ADDR", "")) and (
        name == "localhost" or _is_loopback(name.strip("[]"))
    )
    return here and not settings.PUBLIC_URL and not _is_passed_on(request)


def _is_passed_on(request: HttpRequest) -> bool:
    """No browser speaks HTTP/1.0, and proxies that say nothing of themselves do."""
    old = getattr(request, "scope", {}).get("http_version") == "1.0"
    return old or any(name.startswith(PASSED_ON) for name in request.META)


def _is_loopback(text: str) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def _as_counted(text: str) -> str:
    """One visitor has a whole network of 2^64 addresses in IPv6, so that is what counts."""
    try:
        address = ip_address(text)
    except ValueError:
        return ""
    if not isinstance(address, IPv6Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Network((int(address), 64), strict=False))
