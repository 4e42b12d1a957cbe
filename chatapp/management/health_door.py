"""A small door for supervisors and Prometheus, at a process that serves no pages: it answers one question a connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress

from django.db import Error

from chatapp.operation.views.health import readiness
from chatapp.operation.views.metrics import CONTENT_TYPE, render_metrics
from chatapp.store import in_thread

# What is asked for is a line and a few headers; whoever says more, or says it slowly, is not listened to.
LONGEST, PATIENCE = 8192, 5.0
AT_ONCE = 20
_REASONS = {200: "OK", 404: "Not Found", 405: "Method Not Allowed", 503: "Service Unavailable"}
JSON = "application/json"
# A status, what kind of text it is, and the text.
Answer = tuple[int, str, str]


async def open_door(host: str, port: int) -> asyncio.Server:
    places = asyncio.Semaphore(AT_ONCE)

    async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with places, asyncio.timeout(PATIENCE):
                await _answer(reader, writer)
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            # They have gone, or say nothing that can be understood.
            pass
        finally:
            writer.close()

    return await asyncio.start_server(answered, host, port, limit=LONGEST)


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    method, _, rest = head.partition(b"\r\n")[0].decode("latin-1").partition(" ")
    status, kind, text = await _said(method, rest.partition(" ")[0].partition("?")[0])
    body = text.encode()
    lines = (
        f"HTTP/1.1 {status} {_REASONS[status]}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        "Cache-Control: no-store",
        "Connection: close",
    )
    writer.write("\r\n".join((*lines, "", "")).encode() + (b"" if method == "HEAD" else body))
    with suppress(ConnectionError):
        await writer.drain()


async def _said(method: str, path: str) -> Answer:
    tell = _ADDRESSES.get(path)
    if tell is None:
        return 404, JSON, json.dumps({"error": "There is nothing here."})
    if method not in ("GET", "HEAD"):
        return 405, JSON, json.dumps({"error": "This takes GET."})
    return await in_thread(tell)()


def _live() -> Answer:
    return 200, JSON, json.dumps({"live": True})


def _ready() -> Answer:
    try:
        facts = readiness()
    except Error:
        facts = {"ready": False}
    return 200 if facts["ready"] else 503, JSON, json.dumps(facts)


def _metrics() -> Answer:
    return 200, CONTENT_TYPE, render_metrics()


_ADDRESSES: dict[str, Callable[[], Answer]] = {
    "/health/live": _live,
    "/health/ready": _ready,
    "/metrics": _metrics,
}
