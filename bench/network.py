"""What a read costs through the own transport and through that of httpx, on many streams at once, plain and encrypted.

Run it with `python -m bench.network`. A second process sends one delta on each stream in turn, so that each arrives as a read of
its own; the ways are measured one after the other, as often as there are pairs, and compared within each pair.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import cast

import httpx

from chatapp.core.events import ItemDelta
from chatapp.core.history import History, Question
from chatapp.core.items import KeyMaker
from chatapp.providers import WIRES, client
from chatapp.providers.base import Ask, Endpoint
from chatapp.providers.http import HttpProvider
from chatapp.providers.transport import Transport

from .relay import delta, frame, item, read_question, send

# So many streams get their delta together; more at once would arrive together too.
TOGETHER = 10
Read = AsyncIterator[object]


def serve(
    ready: multiprocessing.Queue[int], certificate: Path | None, streams: int, deltas: int, gap: float
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if certificate:
        context.load_cert_chain(certificate)

    def begin(peer: socket.socket) -> socket.socket:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer = context.wrap_socket(peer, server_side=True) if certificate else peer
        read_question(peer)
        peer.sendall(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        send(peer, frame("response.output_item.added", output_index=0, item=item("")))
        return peer

    with (
        socket.create_server(("127.0.0.1", 0), backlog=streams) as server,
        ThreadPoolExecutor(streams) as threads,
    ):
        ready.put(server.getsockname()[1])
        while True:
            peers = [
                each.result() for each in [threads.submit(begin, server.accept()[0]) for _ in range(streams)]
            ]
            due = time.monotonic() + 0.3
            for n in range(deltas * streams):
                if n % TOGETHER == 0:
                    due += gap * TOGETHER
                    time.sleep(max(0.0, due - time.monotonic()))
                send(peers[n % streams], delta(n))
            for peer in peers:
                send(
                    peer, frame("response.completed", response={"status": "completed", "output": [item("")]})
                )
                peer.sendall(b"0\r\n\r\n")
                peer.close()


def certified(folder: Path) -> Path:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    alternative = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(datetime.now(UTC) - timedelta(days=1))
    builder = builder.not_valid_after(datetime.now(UTC) + timedelta(days=1))
    made = builder.add_extension(alternative, critical=False).sign(key, hashes.SHA256())
    pem, path = serialization.Encoding.PEM, folder / "both.pem"
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(private + made.public_bytes(pem))
    return path


def own(trust: ssl.SSLContext) -> Transport:
    return Transport(trust)


def usual(trust: ssl.SSLContext) -> httpx.AsyncBaseTransport:
    unlimited = httpx.Limits(max_connections=None)
    return httpx.AsyncHTTPTransport(verify=trust, trust_env=False, limits=unlimited)


async def floor(url: str, trust: ssl.SSLContext) -> Read:
    where = httpx.URL(url)
    reader, writer = await asyncio.open_connection(
        where.host, where.port, ssl=trust if where.scheme == "https" else None
    )
    writer.write(b"POST /responses HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n")
    while data := await reader.read(65536):
        yield data
    writer.close()


async def raw(url: str, trust: ssl.SSLContext) -> Read:
    question = httpx.Request("POST", f"{url}/responses", content=b"{}")
    response = await client.transport().handle_async_request(question)
    async for data in response.aiter_raw():
        yield data
    await response.aclose()


async def events(url: str, trust: ssl.SSLContext) -> Read:
    provider = HttpProvider(Endpoint(name="openai", dialect="responses", base_url=url), WIRES["responses"])
    model = provider.model("gpt-5")
    ask = Ask(model=model, contract=provider.contract(model), history=History((Question("Hello"),)))
    async for event in provider.stream(ask, KeyMaker()):
        if isinstance(event, ItemDelta):
            yield event


Way = Callable[[str, ssl.SSLContext], Read]
Below = Callable[[ssl.SSLContext], httpx.AsyncBaseTransport]
USUAL, OWN = "raw, httpx's transport", "raw, own transport"
WAYS: dict[str, tuple[Way, Below]] = {
    "asyncio's reader": (floor, own),
    USUAL: (raw, usual),
    OWN: (raw, own),
    "events, own transport": (events, own),
}


async def cost(way: Way, below: Below, url: str, trust: ssl.SSLContext, streams: int) -> float:
    """Microseconds of this process for each read, from the first one on."""
    client._transports[asyncio.get_running_loop(), False] = cast(Transport, below(trust))
    count, start = 0, 0.0

    async def read() -> None:
        nonlocal count, start
        async for _ in way(url, trust):
            start = start or time.process_time()
            count += 1

    readers: list[Awaitable[None]] = [read() for _ in range(streams)]
    await asyncio.gather(*readers)
    took = time.process_time() - start
    await client.close_connections()
    return took * 1e6 / count


def measure(certificate: Path | None, options: argparse.Namespace) -> None:
    ready: multiprocessing.Queue[int] = multiprocessing.Queue()
    wanted = (ready, certificate, options.streams, options.deltas, options.gap_us / 1e6)
    server = multiprocessing.Process(target=serve, args=wanted, daemon=True)
    server.start()
    url = f"http{'s' if certificate else ''}://127.0.0.1:{ready.get()}"
    trust = ssl.create_default_context(cafile=certificate)
    took: dict[str, list[float]] = {name: [] for name in WAYS}
    for n in range(options.pairs):
        for name, (way, below) in list(WAYS.items())[:: 1 if n % 2 else -1]:
            took[name].append(asyncio.run(cost(way, below, url, trust, options.streams)))
    server.kill()
    print("encrypted" if certificate else "plain")
    for name, each in took.items():
        print(f"  {name:24} {median(each):6.1f} µs ({min(each):.1f} to {max(each):.1f})")
    gains = [1 - ours / theirs for ours, theirs in zip(took[OWN], took[USUAL], strict=True)]
    print(f"  own is below by {median(gains):.0%} ({', '.join(f'{gain:.0%}' for gain in gains)})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--deltas", type=int, default=60, help="on each stream")
    parser.add_argument("--gap-us", type=int, default=300, help="between two deltas")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        for certificate in (None, certified(Path(folder))):
            measure(certificate, options)


if __name__ == "__main__":
    main()
