"""`/v1/`: an application beside the pages, without sessions, cookies and forms. What it refuses it refuses in the shape of the door."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qs
from uuid import uuid4

from django.db import Error

from ...core import verbatim
from ...pages.visitors import address_seen
from ...processes.counters import REQUESTS
from ..asking.troubles import BROKEN
from ..doors.body import json_in
from ..doors.door import INVALID, NOT_FOUND, Door, Frame, Wrong, as_sse
from .refused import NO_DATABASE, compressed, refused_at_the_door

log = logging.getLogger(__name__)
requests_log = logging.getLogger("chatapp.requests")

T = TypeVar("T")
# What is longer than this is read on a thread, beside everything else.
LONG = 128 * 1024
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
# More fields than this no query has that means something.
MOST_FIELDS = 50
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
_JSON = {"content-type": "application/json"}
_STREAM = {"content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no"}
_ALWAYS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


@dataclass(frozen=True, slots=True)
class DoorRequest:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    address: str
    id: str = field(default_factory=lambda: f"req_{uuid4().hex}")

    async def read(self, read: Callable[[Any, Mapping[str, str]], T]) -> T:
        """What a door makes of it."""
        if (coding := self.headers.get("content-encoding", "identity").lower()) != "identity":
            raise compressed(coding)
        return await apart(lambda: read(json_in(self.body), self.headers), len(self.body))

    @property
    def secret(self) -> str:
        return secret_in(self.headers)


def secret_in(headers: Mapping[str, str]) -> str:
    """Of the key that it brings."""
    kind, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if kind.lower() == "bearer" and secret else headers.get("x-api-key", "").strip()


class DoorConnection:
    """The way back to whoever asked. Nothing is sent to somebody who has gone."""

    def __init__(self, request: DoorRequest, send: Send, door: Door) -> None:
        self.request, self._send, self.door = request, send, door
        self.status: int | None = None

    @property
    def has_begun(self) -> bool:
        return self.status is not None

    async def answer(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] = {}) -> None:
        content = verbatim.encode(body)
        await self._start(status, {**_JSON, **headers, "content-length": str(len(content))})
        await self._send({"type": "http.response.body", "body": content})

    async def refuse(self, wrong: Wrong, headers: Mapping[str, str] = {}) -> None:
        """Where a stream has begun already, it ends without the frame that says that it is whole."""
        if self.has_begun:
            await self.end_stream()
            return
        wait = {"retry-after": str(wrong.wait)} if wrong.wait is not None else {}
        asked = {"www-authenticate": "Bearer"} if wrong.status == 401 else {}
        await self.answer(wrong.status, self.door.error(wrong, self.request.id), {**wait, **asked, **headers})

    async def begin_stream(self, headers: Mapping[str, str]) -> None:
        await self._start(200, {**_STREAM, **headers})

    async def stream(self, frames: list[Frame]) -> None:
        content = b"".join(map(as_sse, frames))
        await self._send({"type": "http.response.body", "body": content, "more_body": True})

    async def end_stream(self) -> None:
        await self._send({"type": "http.response.body", "body": b""})

    async def _start(self, status: int, headers: Mapping[str, str]) -> None:
        self.status = status
        REQUESTS[str(status)] += 1
        named = {**_ALWAYS, **headers, "x-request-id": self.request.id, "request-id": self.request.id}
        rows = [(name.encode(), value.encode("latin-1", "replace")) for name, value in named.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": rows})


Handler = Callable[[DoorRequest, DoorConnection], Awaitable[None]]
# A path without its ids; what stands for one is given to the handler in `request.query["id"]`.
Routes = Mapping[str, Mapping[str, tuple[Door, Handler]]]


class _Way(NamedTuple):
    """Where a request leads. `name`: its address without what stands for an id, which is `given`. `wrong`: why it leads nowhere."""

    door: Door
    name: str
    given: str
    ways: Mapping[str, tuple[Door, Handler]]
    wrong: Wrong | None = None

    def handler(self, method: str) -> tuple[Door, Handler]:
        return self.ways[_read(method)]


class GatewayApplication:
    def __init__(self, routes: Routes, elsewhere: Door) -> None:
        self._routes, self._elsewhere = routes, elsewhere

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _body(receive)
        if body is None:
            return
        request = _request(scope, body)
        way = self._way(request)
        connection = DoorConnection(request, send, way.door)
        began = time.monotonic()
        try:
            await self._answered(way, request, connection, receive)
        finally:
            _log(request, way, connection, (time.monotonic() - began) * 1000)

    async def _answered(
        self, way: _Way, request: DoorRequest, connection: DoorConnection, receive: Receive
    ) -> None:
        if why := refused_at_the_door(request.headers, has_key=bool(request.secret)) or way.wrong:
            allowed = {"allow": ", ".join(_allowed(way.ways))} if why.status == 405 else {}
            await connection.refuse(why, allowed)
            return
        if way.given:
            object.__setattr__(request, "query", {**request.query, "id": way.given})
        _, handler = way.handler(request.method)
        await _while_connected(self._handled(handler, request, connection), receive)

    async def _handled(self, handler: Handler, request: DoorRequest, connection: DoorConnection) -> None:
        try:
            await handler(request, connection)
        except Wrong as wrong:
            await connection.refuse(wrong)
        except Error as error:
            log.warning("a program could not be served: %s", type(error).__name__)
            await connection.refuse(NO_DATABASE)
        except Exception as error:
            log.error(
                "a request of a program broke: %s",
                type(error).__name__,
                exc_info=log.isEnabledFor(logging.DEBUG),
            )
            await connection.refuse(BROKEN)

    def _way(self, request: DoorRequest) -> _Way:
        path, method = request.path, request.method
        name, given = self._found(path)
        if not name:
            sentence = f"There is no {method[:20]} {path[:200]} here."
            return _Way(self._nearest(path), "", "", {}, Wrong(404, NOT_FOUND, sentence, "unknown_url"))
        ways = self._routes[name]
        if _read(method) in ways:
            return _Way(ways[_read(method)][0], name, given, ways)
        sentence = f"{path[:200]} takes {' and '.join(ways)}, not {method[:20]}."
        door = next(iter(ways.values()))[0]
        return _Way(door, name, given, ways, Wrong(405, INVALID, sentence, "method_not_allowed"))

    def _found(self, path: str) -> tuple[str, str]:
        """The address that this is, and what stands in the place of its id."""
        path = path.rstrip("/")
        if path in self._routes and "{" not in path:
            return path, ""
        for known in self._routes:
            before, marked, after = known.partition("{id}")
            if marked and path.startswith(before) and path.endswith(after):
                given = path[len(before) : len(path) - len(after)]
                if given and (after or "/" not in given or before == "/v1/models/"):
                    return known, given
        return "", ""

    def _nearest(self, path: str) -> Door:
        """Whose shape whoever comes there most likely reads."""
        near = [known for known in self._routes if "{" not in known and path.startswith(f"{known}/")]
        return next(iter(self._routes[max(near, key=len)].values()))[0] if near else self._elsewhere


def _read(method: str) -> str:
    return "GET" if method == "HEAD" else method


def _allowed(ways: Mapping[str, Any]) -> list[str]:
    return [*ways, *(["HEAD"] if "GET" in ways else [])]


def _log(request: DoorRequest, way: _Way, connection: DoorConnection, ms: float) -> None:
    """Nothing of what was sent: neither ids nor names of models."""
    method = request.method if request.method in _METHODS else "another"
    facts = {"method": method, "path": way.name or "/v1/…", "ms": round(ms, 1)}
    # Whoever has gone away before was told nothing.
    told = {} if connection.status is None else {"status": connection.status}
    requests_log.info("request", extra=facts | told)


def _request(scope: Scope, body: bytes) -> DoorRequest:
    headers = headers_of(scope)
    return DoorRequest(
        method=scope["method"],
        path=scope["path"],
        query=_query(scope.get("query_string", b"").decode("latin-1")),
        headers=headers,
        body=body,
        address=address_of(scope, headers),
    )


async def apart(read: Callable[[], T], length: int) -> T:
    return await asyncio.to_thread(read) if length > LONG else read()


def headers_of(scope: Scope) -> dict[str, str]:
    """By names in lower case. Of those that come twice, the last."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def address_of(scope: Scope, headers: Mapping[str, str]) -> str:
    peer, _ = scope.get("client") or ("", 0)
    return address_seen(peer, headers.get("x-forwarded-for", ""))


def _query(text: str) -> dict[str, str]:
    fields = "&".join(text.split("&", MOST_FIELDS)[:MOST_FIELDS])
    return {name: values[-1] for name, values in parse_qs(fields).items()}


async def _body(receive: Receive) -> bytes | None:
    """Whole, since it was let in whole; None where whoever sends it has gone before its end."""
    pieces, more = [], True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        pieces.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(pieces)


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
