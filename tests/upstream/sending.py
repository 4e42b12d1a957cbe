"""A stream as it goes out: paced, cut into writes, with the scenario's faults and forms of the wire."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable

from aiohttp import web

from .asked import Answering, Frame
from .scenario import Speed

Shape = Callable[[bytes, int], bytes]
HALF_A_LINE = 'data: {"type":"response.output_text.delta","delta":"unfin'
# Up to so many deltas a second each goes out in a write of its own.
ONE_BY_ONE = 500
# Less is not waited for.
SOON = 0.002


class Drop(Exception):
    """The connection was cut on purpose by a fault."""


class Ended(Exception):
    """A fault ended the stream in order, with this outcome."""


class Sending:
    """Unpaced frames are gathered into large writes."""

    def __init__(
        self,
        request: web.Request,
        response: web.StreamResponse,
        answering: Answering,
        *,
        wire: dict,
        row: dict,
    ) -> None:
        self._request, self._response, self._answering, self._row = request, response, answering, row
        self._shape, self._split = shape_of(wire), wire.get("split", 0)
        self._buffer: list[bytes] = [b"\xef\xbb\xbf"] if wire.get("bom") else []
        self._size = self._events = self._deltas = 0
        self._start = 0.0

    async def send(self, frames: Iterable[Frame], speed: Speed, faults: list[dict]) -> None:
        by_count = {fault["after"]: fault for fault in faults if "after" in fault}
        by_type = {fault["at"]: fault for fault in faults if "at" in fault}
        for kind, frame, name in frames:
            if kind == "z":
                await self._flush()
                await asyncio.sleep(frame * speed.delay)
                self._start += frame * speed.delay
                continue
            if kind == "d":
                await self._wait(speed)
            if fault := by_count.pop(self._events, None) or by_type.pop(name, None):
                await self._play(fault, frame)
            self._append(frame)
            if self._size >= speed.batch or (kind == "d" and 0 < speed.tps <= ONE_BY_ONE):
                await self._flush()
        await self._flush()

    async def _wait(self, speed: Speed) -> None:
        """Until the next delta is due."""
        if not self._deltas:
            if speed.ttft:
                await self._flush()
                await asyncio.sleep(speed.ttft)
            self._start = time.monotonic()
        elif speed.tps > 0:
            wait = self._start + self._deltas / speed.tps - time.monotonic()
            if wait > SOON:
                await self._flush()
                await asyncio.sleep(wait)
        self._deltas += 1

    def _append(self, frame: bytes) -> None:
        shaped = self._shape(frame, self._events)
        self._events += 1
        self._row["events"] = self._events
        self._buffer.append(shaped)
        self._size += len(shaped)

    async def _flush(self) -> None:
        data = b"".join(self._buffer)
        self._buffer, self._size = [], 0
        if self._split:
            for start in range(0, len(data), self._split):
                await self._response.write(data[start : start + self._split])
                await asyncio.sleep(0)
        elif data:
            await self._response.write(data)

    async def _play(self, fault: dict, frame: bytes) -> None:
        """The frame itself is sent after this, unless the stream ends here."""
        if extra := self._extra(fault, frame):
            self._buffer.append(self._shape(extra, self._events))
        await self._flush()
        match fault["kind"]:
            case "stall":
                await asyncio.sleep(fault.get("seconds", 30))
            case "drop":
                await asyncio.sleep(0.05)  # what was written reaches the client first
                self._request.transport.abort()
                raise Drop
            case "eof" | "error" as kind:
                raise Ended(kind)

    def _extra(self, fault: dict, frame: bytes) -> bytes:
        match fault["kind"]:
            case "malformed":
                return fault.get("text", HALF_A_LINE).encode() + b"\n\n"
            case "duplicate":
                return frame
            case "unknown":
                return self._answering.unknown_frame()
            case "raw":
                return fault["text"].encode()
            case "error":
                return self._answering.error_frame({**fault, "seq": self._events})
            case "stall" | "drop" | "eof":
                return b""
            case other:
                raise ValueError(f"unknown fault {other}")


def shape_of(wire: dict) -> Shape:
    """Rewrites the bytes of one event."""
    newline = {"crlf": b"\r\n", "cr": b"\r"}.get(wire.get("newline"), b"\n")
    every = wire.get("comment_every", 0)

    def shape(frame: bytes, place: int) -> bytes:
        if wire.get("multiline"):
            frame = in_lines(frame)
        if wire.get("no_space"):
            frame = frame.replace(b"data: ", b"data:", 1).replace(b"event: ", b"event:", 1)
        if wire.get("ids"):
            frame = b"id: %d\n" % place + frame
        if wire.get("retry") and place == 0:  # alone: a block without data, which must not become an event
            frame = b"retry: %d\n" % wire["retry"] + (b"\n" if wire.get("retry_alone") else b"") + frame
        if every and place % every == 0:
            frame = b": keep-alive\n\n" + frame
        return frame.replace(b"\n", newline)

    return shape if wire else lambda frame, place: frame


def in_lines(frame: bytes) -> bytes:
    """Its data on several lines."""
    head, _, data = frame.partition(b"data: ")
    if not frame.startswith((b"event:", b"data: {")) or not data.startswith(b"{"):
        return frame
    lines = json.dumps(json.loads(data), ensure_ascii=False, indent=1).split("\n")
    return head + "".join(f"data: {line}\n" for line in lines).encode() + b"\n"
