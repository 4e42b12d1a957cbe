"""What one delta costs from the provider's socket to our event, when every delta arrives as its own read.

Run it with `python -m bench.relay`. A second process sends one delta for each write; the table shows this process's time per delta.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable
from operator import itemgetter
from statistics import quantiles

import httpx

from chatapp.core.events import ItemDelta
from chatapp.core.history import History, Question
from chatapp.core.items import KeyMaker
from chatapp.providers import WIRES
from chatapp.providers.base import Ask, Endpoint
from chatapp.providers.client import close_connections
from chatapp.providers.http import HttpProvider
from chatapp.providers.transport import Transport

WARM_UP = 500
Arrivals = AsyncIterator[object]


def frame(kind: str, **values: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **values})}\n\n".encode()


def delta(n: int) -> bytes:
    """As long as OpenAI's are. The words are the moment at which it was sent."""
    place = {"item_id": f"msg_{'0' * 48}", "output_index": 0, "content_index": 0}
    return frame(
        "response.output_text.delta", sequence_number=n, delta=str(time.monotonic_ns()), logprobs=[], **place
    )


def item(text: str) -> dict[str, object]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "id": f"msg_{'0' * 48}",
        "type": "message",
        "role": "assistant",
        "content": content if text else [],
    }


def serve(ready: multiprocessing.Queue[int], deltas: int, gap_us: int) -> None:
    """A provider that keeps its pace to the microsecond, which takes a whole core."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ready.put(server.getsockname()[1])
        while True:
            peer, _ = server.accept()
            with peer:
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                answer(peer, deltas, gap_us * 1000)


def answer(peer: socket.socket, deltas: int, gap_ns: int) -> None:
    read_question(peer)
    peer.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    send(peer, frame("response.output_item.added", output_index=0, item=item("")))
    due = time.monotonic_ns() + 20_000_000
    for n in range(deltas):
        while time.monotonic_ns() < due:
            pass
        send(peer, delta(n))
        due += gap_ns
    send(peer, frame("response.output_item.done", output_index=0, item=item("all of it")))
    send(peer, frame("response.completed", response={"status": "completed", "output": [item("all of it")]}))
    peer.sendall(b"0\r\n\r\n")


def read_question(peer: socket.socket) -> None:
    asked = b""
    while b"\r\n\r\n" not in asked:
        asked += peer.recv(65536)
    head, _, body = asked.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
    while len(body) < length:
        body += peer.recv(65536)


def send(peer: socket.socket, data: bytes) -> None:
    peer.sendall(b"%x\r\n%s\r\n" % (len(data), data))


async def bare_socket(port: int) -> Arrivals:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /responses HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n")
    while data := await reader.read(65536):
        yield data
    writer.close()


async def plain_httpx(port: int, transport: httpx.AsyncBaseTransport | None = None) -> Arrivals:
    url = f"http://127.0.0.1:{port}/responses"
    client = httpx.AsyncClient(trust_env=False, timeout=300, transport=transport)
    async with client, client.stream("POST", url, content=b"{}") as response:
        async for data in response.aiter_raw():
            yield data


def our_transport(port: int) -> Arrivals:
    return plain_httpx(port, Transport(ssl.create_default_context()))


async def our_events(port: int) -> Arrivals:
    endpoint = Endpoint(name="openai", dialect="responses", base_url=f"http://127.0.0.1:{port}")
    provider = HttpProvider(endpoint, WIRES["responses"])
    model = provider.model("gpt-5")
    ask = Ask(model=model, contract=provider.contract(model), history=History((Question("Hello"),)))
    async for event in provider.stream(ask, KeyMaker()):
        yield event
    await close_connections()


async def cost(arrivals: Arrivals) -> tuple[int, float]:
    """How many arrived, and microseconds of this process for each after the first few hundred."""
    count, start = 0, 0.0
    async for _ in arrivals:
        count += 1
        if count == WARM_UP:
            start = time.process_time()
    return count, (time.process_time() - start) * 1e6 / (count - WARM_UP)


async def delays(arrivals: Arrivals) -> list[float]:
    """Microseconds from each write of the provider to our event."""
    return [
        (time.monotonic_ns() - int(event.text)) / 1000
        async for event in arrivals
        if isinstance(event, ItemDelta)
    ]


ROWS: dict[str, Callable[[int], Arrivals]] = {
    "asyncio StreamReader": bare_socket,
    "httpx, its own transport": plain_httpx,
    "httpx, our transport": our_transport,
    "our stream, as events": our_events,
}


def measured(port: int, runs: int) -> dict[str, tuple[int, float]]:
    """The best of several runs for each row, since whatever else the machine does only adds. Rows take turns."""
    found: dict[str, list[tuple[int, float]]] = {name: [] for name in ROWS}
    for _ in range(runs):
        for name, arrivals in ROWS.items():
            found[name].append(asyncio.run(cost(arrivals(port))))
    return {name: min(costs, key=itemgetter(1)) for name, costs in found.items()}


def show(port: int, runs: int) -> None:
    rows = measured(port, runs)
    _, least = next(iter(rows.values()))
    print(f"{'':26} {'arrivals':>9} {'us each':>8} {'ratio':>6}")
    for name, (count, each) in rows.items():
        print(f"{name:26} {count:9} {each:8.1f} {each / least:6.2f}")
    late = quantiles(asyncio.run(delays(our_events(port))), n=100)
    print(f"from the provider's write to our event: median {late[49]:.0f} us, 99th of 100 {late[98]:.0f} us")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deltas", type=int, default=4000)
    parser.add_argument("--gap", type=int, default=300, help="microseconds between two deltas")
    parser.add_argument("--runs", type=int, default=5)
    chosen = parser.parse_args()
    ready: multiprocessing.Queue[int] = multiprocessing.Queue()
    provider = multiprocessing.Process(target=serve, args=(ready, chosen.deltas, chosen.gap), daemon=True)
    provider.start()
    show(ready.get(), chosen.runs)
    provider.terminate()


if __name__ == "__main__":
    main()
