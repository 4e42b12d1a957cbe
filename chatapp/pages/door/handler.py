"""Answers a request whole on one thread. Django's own way through its async chain changes threads twice for each middleware, and makes
a thread and a connection to the database for each request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from io import BytesIO
from typing import Any

from django.core import signals
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from ...store.database.threads import in_page_thread
from .form_bodies import FormRequest

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Any], Awaitable[None]]
# What is still to be sent, by whoever has no page's place any more.
Rest = Coroutine[Any, Any, None]


class PageHandler(ASGIHandler):
    request_class = FormRequest

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> Rest | None:  # type: ignore[override]
        body = await _whole_body(receive)
        if body is None:
            return None
        response = await in_page_thread(self._answered)(scope, body)
        # Whoever reads slowly keeps nobody from a page.
        return self.send_response(response, send)

    def _answered(self, scope: Scope, body: BytesIO) -> HttpResponseBase:
        """Closed already: what is a stream needs nothing of the request any more."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=type(self), scope=scope)
        request, refused = self.create_request(scope, body)
        response = self.get_response(request) if request else refused
        assert response
        response.close()
        return response


async def _whole_body(receive: Receive) -> BytesIO | None:
    """None where whoever sent it has gone. It is short enough to be kept: longer ones are refused at the door."""
    body = BytesIO()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body.write(message.get("body", b""))
        more = message.get("more_body", False)
    body.seek(0)
    return body
