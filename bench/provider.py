"""A provider for measurements, in a process of its own: a question says how it is to be answered. It keeps when each delta went out."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import re
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from itertools import cycle, islice
from typing import Any

from bench.markdown import answer
from bench.relay import frame, item

# As every provider says it in the end.
USAGE = {"input_tokens": 100, "output_tokens": 100}
HEAD = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: %s\r\n\r\n"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """An answer of two parts, a thought and a text, in deltas of `letters` signs, `pace` of them a second; 0 is as fast as it goes.
    `held`: it has begun, but says nothing before all that are held are let go. `plain`: words without signs of Markdown."""

    name: str
    thought: int = 0
    text: int = 400
    letters: int = 5
    pace: float = 50
    held: bool = False
    plain: bool = False

    @property
    def question(self) -> str:
        return json.dumps(asdict(self))

    def parts(self) -> tuple[list[str], list[str]]:
        """The same in every process; no two plans say the same."""
        whole, count = words() if self.plain else answer(), self.thought + self.text
        first = random.Random(self.name).randrange(len(whole))
        said = "".join(islice(cycle(whole), first, first + count * self.letters))
        deltas = [said[at : at + self.letters] for at in range(0, len(said), self.letters)]
        return deltas[: self.thought], deltas[self.thought :]


@cache
def words() -> str:
    return " ".join(re.findall(r"\w+", answer())) + " "


class Provider:
    """What other processes ask of it. `url` is for the server that is measured."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"

    def wait_for(self, held: int) -> None:
        """Until so many answers are held."""
        while self._get("held") != held:
            time.sleep(0.05)

    def let_go(self) -> None:
        self._get("let-go")

    def sent(self, name: str) -> list[int]:
        """When each delta of this plan went out, on the clock that all processes share."""
        return list(self._get(f"sent/{name}"))

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.url}/{path}") as response:
            return json.load(response)


@contextmanager
def providing() -> Iterator[Provider]:
    ready: multiprocessing.Queue[int] = multiprocessing.Queue()
    process = multiprocessing.Process(target=lambda: asyncio.run(_Server().run(ready)), daemon=True)
    process.start()
    try:
        yield Provider(ready.get())
    finally:
        process.terminate()
        process.join()


class _Server:
    def __init__(self) -> None:
        self._sent: dict[str, list[int]] = {}
        self._go, self._held = asyncio.Event(), 0

    async def run(self, ready: multiprocessing.Queue[int]) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1000)
        ready.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        path = head.split()[1].decode().removeprefix("/v1/")
        length = head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]
        body = await reader.readexactly(int(length or 0))
        try:
            await self._answer(path, body, writer)
            writer.close()
            await writer.wait_closed()
        except ConnectionError:
            pass

    async def _answer(self, path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        if path == "responses":
            writer.write(HEAD % b"text/event-stream")
            await self._say(_plan_in(body), writer)
            return
        writer.write(HEAD % b"application/json")
        found: object = None
        if path == "models":
            found = {"object": "list", "data": [{"id": "gpt-5"}]}
        elif path == "held":
            found = self._held
        elif path == "let-go":
            self._go.set()
            self._go, self._held = asyncio.Event(), 0
        else:
            found = self._sent.get(path.removeprefix("sent/"), [])
        writer.write(json.dumps(found).encode())

    async def _say(self, plan: Plan, writer: asyncio.StreamWriter) -> None:
        sent = self._sent[plan.name] = []
        writer.write(frame("response.created", response={}))
        if plan.held:
            self._held += 1
            await self._go.wait()
        pacing = _Pacing(plan.pace)
        done = []
        for place, (kind, deltas) in enumerate(zip(("reasoning", "message"), plan.parts(), strict=True)):
            if not deltas:
                continue
            writer.write(frame("response.output_item.added", output_index=place, item=_item(kind, "")))
            for delta in deltas:
                await pacing.wait()
                sent.append(time.monotonic_ns())
                writer.write(_delta(kind, place, delta))
                await writer.drain()
            done.append(_item(kind, "".join(deltas)))
            writer.write(frame("response.output_item.done", output_index=place, item=done[-1]))
        ended = {"status": "completed", "output": done, "usage": USAGE}
        writer.write(frame("response.completed", response=ended))
        await writer.drain()


class _Pacing:
    """The first delta goes out at once; the others by the clock, each answer by its own."""

    def __init__(self, pace: float) -> None:
        self._gap = 1 / pace if pace else 0.0
        self._due = 0.0

    async def wait(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._due == 0.0:
            self._due = now + self._gap * random.random()
            return
        await asyncio.sleep(max(0.0, self._due - now))
        self._due += self._gap


def _plan_in(body: bytes) -> Plan:
    return Plan(**json.loads(json.loads(body)["input"][-1]["content"]))


def _item(kind: str, text: str) -> dict[str, object]:
    if kind == "message":
        return item(text)
    summary = [{"type": "summary_text", "text": text}] if text else []
    return {"id": f"rs_{'0' * 48}", "type": "reasoning", "summary": summary}


def _delta(kind: str, place: int, words: str) -> bytes:
    name, id = ("reasoning_summary_text", "rs_") if kind == "reasoning" else ("output_text", "msg_")
    more = {"summary_index": 0} if kind == "reasoning" else {"content_index": 0, "logprobs": []}
    return frame(f"response.{name}.delta", item_id=f"{id}{'0' * 48}", output_index=place, delta=words, **more)
