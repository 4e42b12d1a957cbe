"""The Responses API by WebSocket: `response.create` in, the same events as JSON frames out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aiohttp import web

from .kept import Store
from .refusals import ApiError
from .responses import Responses
from .scenario import Speed
from .sealing import dumps

# A body and its record make the answer, and say how fast it goes.
Plan = Callable[[dict, dict], tuple[Responses, Speed]]


class Socket:
    """Keeps the last response, for this socket only."""

    def __init__(self, socket: web.WebSocketResponse, plan: Plan, *, store: Store, org: str) -> None:
        self._socket, self._plan, self._store, self._org = socket, plan, store, org
        self._last: dict[str, dict] = {}

    async def answer(self, body: dict, row: dict) -> None:
        body.pop("type", None)
        says, lane = body.pop("generate", True), body.pop("stream_id", None)
        more = {"stream_id": lane} if lane else {}
        try:
            with self._known(body.get("previous_response_id")):
                answering, speed = self._plan(body | {"stream": True}, row)
            if not says:
                answering.say_nothing()
            answering.keep()
            await self._stream(answering, speed, more, row)
        except ApiError as error:
            self._last = {}
            row.update(outcome="error", error=error.body)
            said = {"type": "error", "status": error.status, "error": error.body["error"]}
            await self._socket.send_str(dumps(said | more))

    @contextmanager
    def _known(self, previous: str | None) -> Iterator[None]:
        """Its own last response is known, as if it were stored."""
        own = {name: kept for name, kept in self._last.items() if name == previous}
        own = {name: kept for name, kept in own.items() if name not in self._store.responses}
        self._store.responses.update(own)
        try:
            yield
        finally:
            for name in own:
                del self._store.responses[name]

    async def _stream(self, answering: Responses, speed: Speed, more: dict, row: dict) -> None:
        for kind, frame, _ in answering.frames(speed):
            if kind == "z":
                await asyncio.sleep(frame * speed.delay)
                continue
            event = json.loads(frame.decode().split("data: ", 1)[1])
            row["events"] += 1
            await self._socket.send_str(dumps(event | more))
        self._last = {answering.id: {"org": self._org, "items": answering.context + answering.kept()}}
        row["outcome"] = "completed"
