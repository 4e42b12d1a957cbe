"""`/v1/`: an application beside the pages, without sessions, cookies and forms. What it refuses it refuses in the shape of the door."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote
from uuid import uuid4

from django.db import Error

from ..core import verbatim
from ..pages.door.reception import HEADER, SENTENCES, STATUS, Refusal
from .doors.door import INVALID, LIMITED, NOT_FOUND, OURS, OVERLOADED, TOO_LARGE, Door, Frame, Wrong, as_sse

log = logging.getLogger(__name__)

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
REFUSED = HEADER.lower()
NO_DATABASE = "The database cannot be asked at the moment. Try again in a moment."
_JSON = {"content-type": "application/json"}
_STREAM = {"content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no"}
_ALWAYS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    address: str
    id: str = field(default_factory=lambda: f"req_{uuid4().hex}")

    def json(self) -> Any:
        try:
            return verbatim.loads(self.body.decode())
        except (ValueError, RecursionError):
            raise Wrong(
                400, INVALID, "The body is not JSON, or is nested too deeply.", "invalid_json"
            ) from None

    @property
    def secret(self) -> str:
        return secret_in(self.headers)


def secret_in(headers: Mapping[str, str]) -> str:
    """Of the key that it brings."""
    kind, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if kind.lower() == "bearer" and secret else headers.get("x-api-key", "").strip()


class Connection:
    """The way back to whoever asked. Nothing is sent to somebody who has gone."""

    def __init__(self, request: Request, send: Send, door: Door) -> None:
        self.request, self._send, self.door = request, send, door
        self.has_begun = False

    async def answer(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] = {}) -> None:
        content = verbatim.encode(body)
        await self._start(status, {**_JSON, **headers, "content-length": str(len(content))})
        await self._send({"type": "http.response.body", "body": content})

    async def refuse(self, wrong: Wrong) -> None:
        wait = {"retry-after": str(wrong.wait)} if wrong.wait is not None else {}
        await self.answer(wrong.status, self.door.error(wrong, self.request.id), wait)

    async def begin_stream(self, headers: Mapping[str, str]) -> None:
        await self._start(200, {**_STREAM, **headers})

    async def stream(self, frames: list[Frame]) -> None:
        content = b"".join(map(as_sse, frames))
        await self._send({"type": "http.response.body", "body": content, "more_body": True})

    async def end_stream(self) -> None:
        await self._send({"type": "http.response.body", "body": b""})

    async def _start(self, status: int, headers: Mapping[str, str]) -> None:
        self.has_begun = True
        named = {**_ALWAYS, **headers, "x-request-id": self.request.id, "request-id": self.request.id}
        rows = [(name.encode(), value.encode("latin-1", "replace")) for name, value in named.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": rows})


Handler = Callable[[Request, Connection], Awaitable[None]]
# A path without its ids; what stands for one is given to the handler in `request.query["id"]`.
Routes = Mapping[str, Mapping[str, tuple[Door, Handler]]]


class GatewayApplication:
    def __init__(self, routes: Routes, elsewhere: Door) -> None:
        self._routes, self._elsewhere = routes, elsewhere

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused, body = await _body(scope, receive)
        request = _request(scope, body)
        door, handler, wrong = self._handler(request)
        connection = Connection(request, send, door)
        if why := refused or wrong:
            await connection.refuse(why)
            return
        await _while_connected(self._handled(handler, request, connection), receive)

    async def _handled(self, handler: Handler, request: Request, connection: Connection) -> None:
        try:
            await handler(request, connection)
        except Wrong as wrong:
            await connection.refuse(wrong)
        except Error as error:
            log.warning("a program could not be served: %s", type(error).__name__)
            await connection.refuse(Wrong(503, OVERLOADED, NO_DATABASE, "server_error", wait=2))
        except Exception as error:
            log.error(
                "a request of a program broke: %s",
                type(error).__name__,
                exc_info=log.isEnabledFor(logging.DEBUG),
            )
            if not connection.has_begun:
                await connection.refuse(
                    Wrong(500, OURS, "Something broke inside Thoughtline.", "server_error")
                )

    def _handler(self, request: Request) -> tuple[Door, Handler, Wrong | None]:
        ways, given = self._ways(request.path)
        if ways is None:
            sentence = f"There is no {request.method} {request.path[:200]} here."
            return self._elsewhere, _nowhere, Wrong(404, NOT_FOUND, sentence, "unknown_url")
        method = "GET" if request.method == "HEAD" else request.method
        if method not in ways:
            door = next(iter(ways.values()))[0]
            sentence = f"{request.path[:200]} takes {' and '.join(ways)}, not {request.method[:20]}."
            return door, _nowhere, Wrong(405, INVALID, sentence, "method_not_allowed")
        if given:
            object.__setattr__(request, "query", {**request.query, "id": given})
        return *ways[method], None

    def _ways(self, path: str) -> tuple[Mapping[str, tuple[Door, Handler]] | None, str]:
        path = path.rstrip("/")
        if path in self._routes:
            return self._routes[path], ""
        for known, ways in self._routes.items():
            before, marked, after = known.partition("{id}")
            if marked and path.startswith(before) and path.endswith(after):
                given = path[len(before) : len(path) - len(after)]
                if given and (after or "/" not in given or before == "/v1/models/"):
                    return ways, given
        return None, ""


async def _nowhere(request: Request, connection: Connection) -> None:
    pass


def _request(scope: Scope, body: bytes) -> Request:
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"), max_num_fields=50)
    client = scope.get("client") or ("", 0)
    return Request(
        method=scope["method"],
        path=unquote(scope["path"]),
        query={name: values[-1] for name, values in query.items()},
        headers=headers,
        body=body,
        address=client[0],
    )


async def _body(scope: Scope, receive: Receive) -> tuple[Wrong | None, bytes]:
    """Whole, since it was let in whole; what the door of the house refused is told in the shape of this one."""
    pieces, more = [], True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        pieces.append(message.get("body", b""))
        more = message.get("more_body", False)
    told = dict(scope["headers"]).get(REFUSED.encode(), b"").decode("latin-1")
    return (_refusal(told) if told else None), b"".join(pieces)


def _refusal(told: str) -> Wrong | None:
    with suppress(ValueError):
        refusal = Refusal(told)
        kind = {413: TOO_LARGE, 429: LIMITED, 503: OVERLOADED}.get(STATUS[refusal], INVALID)
        sentence = SENTENCES.get(refusal, "That is too much at once.")
        wait = None if STATUS[refusal] == 413 else 5
        return Wrong(STATUS[refusal], kind, sentence, "request_too_large" if wait is None else "", wait=wait)
    return None


async def _while_connected(work: Any, receive: Receive) -> None:
    """Ends the work as soon as whoever waits for it has gone."""
    working = asyncio.ensure_future(work)
    listening = asyncio.ensure_future(_hung_up(receive))
    try:
        await asyncio.wait({working, listening}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (working, listening):
            if not task.done():
                task.cancel()
        await asyncio.gather(working, listening, return_exceptions=True)


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
