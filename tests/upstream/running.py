"""The fake inside a test process: `with running() as up: ... up.url, up.requests()`."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from urllib.request import Request, urlopen

from .scenario import Speed
from .server import SCENARIOS, Upstream, serve


class Running:
    """`url`: the base for OpenAI; `root`: that for Anthropic."""

    def __init__(self, port: int) -> None:
        self.root = f"http://127.0.0.1:{port}"
        self.url = f"{self.root}/v1"
        self._seen = 0

    def requests(self, scenario: str | None = None, *, since: int = 0) -> list[dict[str, Any]]:
        """What was sent so far, oldest first (body, headers, status, outcome, notes, error)."""
        query = f"?since={since}" + (f"&scenario={scenario}" if scenario else "")
        with urlopen(f"{self.root}/_requests{query}") as answer:
            return json.load(answer)["requests"]

    def new_requests(self) -> list[dict[str, Any]]:
        """Those since this was last asked."""
        requests = self.requests(since=self._seen)
        self._seen = max([self._seen, *(request["n"] for request in requests)])
        return requests

    def clear(self) -> None:
        """Forgets the requests, and how often each fault was played."""
        urlopen(Request(f"{self.root}/_requests", method="DELETE")).close()

    def add(self, name: str, scenario: dict[str, Any]) -> str:
        """The name of its model."""
        data = json.dumps(scenario).encode()
        urlopen(Request(f"{self.root}/_scenarios/{name}", data, method="PUT")).close()
        return f"scenario:{name}"


@contextmanager
def running(folders: Iterable[Path] = (SCENARIOS,), speed: Speed | None = None) -> Iterator[Running]:
    """Served by a thread with a loop of its own until the block ends."""
    upstream = Upstream(folders, speed)
    started: SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Event, int]] = SimpleQueue()

    async def serving() -> None:
        runner, port = await serve(upstream, "127.0.0.1", 0)
        over = asyncio.Event()
        started.put((asyncio.get_running_loop(), over, port))
        await over.wait()
        await runner.cleanup()

    thread = threading.Thread(target=asyncio.run, args=(serving(),), daemon=True)
    thread.start()
    loop, over, port = started.get(timeout=10)
    try:
        yield Running(port)
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
