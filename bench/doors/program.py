"""A program that asks over chat completions, as little as one can be: raw bytes on a socket, so that what is measured is the server."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

PATIENCE = 60.0


@dataclass
class Heard:
    """Milliseconds: from the question to the first delta, and from the provider to here of the others."""

    first: float = 0.0
    relay: list[float] = field(default_factory=list)
    lost: str = ""


@dataclass(frozen=True)
class Door:
    name: str
    url: str
    key: str
    model: str

    async def ask(self, question: str, *, stream: bool = True) -> Heard:
        heard = Heard()
        try:
            async with asyncio.timeout(PATIENCE):
                await self._ask(question, stream, heard)
        except (ConnectionError, TimeoutError, asyncio.IncompleteReadError) as error:
            heard.lost = type(error).__name__
        return heard

    async def _ask(self, question: str, stream: bool, heard: Heard) -> None:
        at = urlsplit(self.url)
        reader, writer = await asyncio.open_connection(at.hostname, at.port, limit=2**22)
        messages = [{"role": "user", "content": question}]
        body = json.dumps({"model": self.model, "messages": messages, "stream": stream}).encode()
        asked = time.monotonic_ns()
        writer.write(
            f"POST {at.path}/chat/completions HTTP/1.1\r\nHost: {at.netloc}\r\nAuthorization: Bearer {self.key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
            + body
        )
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            if b" 200 " not in head.split(b"\r\n")[0]:
                heard.lost = head.split(b"\r\n")[0].decode()
                return
            if not stream:
                await reader.read()
                heard.first = (time.monotonic_ns() - asked) / 1e6
                return
            await self._hear(reader, asked, heard)
        finally:
            writer.close()

    async def _hear(self, reader: asyncio.StreamReader, asked: int, heard: Heard) -> None:
        async for line in reader:
            now = time.monotonic_ns()
            if not line.startswith(b"data: {"):
                continue
            choices = json.loads(line[6:]).get("choices") or [{}]
            for sent in ((choices[0].get("delta") or {}).get("content") or "").split():
                if not heard.first:
                    heard.first = (now - asked) / 1e6
                else:
                    heard.relay.append((now - int(sent)) / 1e6)
