"""A server that speaks chat completions, in a process of its own: each delta says when it was sent."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nConnection: close\r\n\r\n"
MODELS = {"object": "list", "data": [{"id": "bench", "object": "model"}]}


def asks(deltas: int, pace: float) -> str:
    """A question that is answered so."""
    return json.dumps({"deltas": deltas, "pace": pace})


@contextmanager
def speaking() -> Iterator[str]:
    """Its address, as a base URL."""
    ready: multiprocessing.Queue[int] = multiprocessing.Queue()
    process = multiprocessing.Process(target=lambda: asyncio.run(_run(ready)), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ready.get()}/v1"
    finally:
        process.terminate()
        process.join()


async def _run(ready: multiprocessing.Queue[int]) -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, backlog=1000)
    ready.put(server.sockets[0].getsockname()[1])
    await server.serve_forever()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError, asyncio.IncompleteReadError):
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]
        body = await reader.readexactly(int(length or 0))
        if b"/chat/completions" not in head.split(b"\r\n")[0]:
            writer.write(HEAD % b"application/json" + json.dumps(MODELS).encode())
        else:
            await _say(json.loads(body), writer)
        await writer.drain()
        writer.close()
        await writer.wait_closed()


async def _say(asked: dict[str, object], writer: asyncio.StreamWriter) -> None:
    messages = asked["messages"]
    assert isinstance(messages, list)
    plan = json.loads(messages[-1]["content"])
    if not asked.get("stream"):
        message = {"role": "assistant", "content": "Yes."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "bench", "choices": [choice]}
        writer.write(HEAD % b"application/json" + json.dumps(whole | {"usage": USAGE}).encode())
        return
    writer.write(HEAD % b"text/event-stream")
    gap = 1 / plan["pace"] if plan["pace"] else 0.0
    due = asyncio.get_running_loop().time()
    for place in range(plan["deltas"]):
        if gap and place:
            due += gap
            await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
        writer.write(_frame({"role": "assistant", "content": f"{time.monotonic_ns()} "}))
        await writer.drain()
    writer.write(_frame({}, "stop"))
    writer.write(b"data: " + json.dumps(CHUNK | {"choices": [], "usage": USAGE}).encode() + b"\n\n")
    writer.write(b"data: [DONE]\n\n")


USAGE = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "bench"}


def _frame(delta: dict[str, str], finish: str | None = None) -> bytes:
    chunk = CHUNK | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"
