"""What holds for every answer, error pages included: a line in the log, and headers that keep it private and strict.
Both kinds of `get_response` are taken, because one middleware that is not async would end the tasks of the views."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase, HttpResponseNotAllowed
from django.template.loader import render_to_string
from django.utils.decorators import sync_and_async_middleware
from django.utils.encoding import escape_uri_path

from ..config.logs import without_token
from ..processes.counters import REQUESTS

log = logging.getLogger("chatapp.requests")

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "frame-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_QUIET = (settings.STATIC_URL, "/health/", "/metrics")


def _around(get_response: Callable[..., Any], finish: Callable[..., HttpResponseBase]) -> Callable[..., Any]:
    """`finish` gets the request, its answer, and how many milliseconds that took."""

    async def awaited(request: HttpRequest) -> HttpResponseBase:
        began = time.monotonic()
        response = await get_response(request)
        return finish(request, response, (time.monotonic() - began) * 1000)

    def called(request: HttpRequest) -> HttpResponseBase:
        began = time.monotonic()
        response = get_response(request)
        return finish(request, response, (time.monotonic() - began) * 1000)

    return awaited if iscoroutinefunction(get_response) else called


@sync_and_async_middleware
def request_log(get_response: Callable[..., Any]) -> Callable[..., Any]:
    return _around(get_response, _log)


@sync_and_async_middleware
def private_and_strict(get_response: Callable[..., Any]) -> Callable[..., Any]:
    return _around(get_response, _protected)


def _log(request: HttpRequest, response: HttpResponseBase, ms: float) -> HttpResponseBase:
    REQUESTS[str(response.status_code)] += 1
    facts = {
        "method": request.method,
        "path": without_token(escape_uri_path(request.path)),
        "status": response.status_code,
        "ms": round(ms, 1),
    }
    log.log(logging.DEBUG if request.path.startswith(_QUIET) else logging.INFO, "request", extra=facts)
    return response


def _protected(request: HttpRequest, response: HttpResponseBase, ms: float) -> HttpResponseBase:
    if isinstance(response, HttpResponseNotAllowed) and not response.content:
        response.content = render_to_string("405.html")
        response.headers["Content-Length"] = str(len(response.content))
    response.headers.setdefault("Content-Security-Policy", POLICY)
    response.headers.setdefault("Cache-Control", "no-store")
    return response
