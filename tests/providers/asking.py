"""Asks one question over a real socket and keeps everything that came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from chatapp.core.events import Event, ItemDelta, Retrying
from chatapp.core.items import KeyMaker
from chatapp.providers.base import Endpoint, ProviderError, Trouble
from chatapp.providers.client import close_connections
from chatapp.providers.http import HttpProvider
from chatapp.providers.reader import StreamLimits
from tests.support.serving import Script, Server, serving

from .fake_wire import FakeWire, question

KEY = "sk-canary-4711"
LIMITS = StreamLimits(connect=5, silence=5, total=20)


@dataclass
class Told:
    server: Server
    events: list[Event] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    error: ProviderError | None = None

    @property
    def trouble(self) -> Trouble | None:
        return self.error.trouble if self.error else None

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, ItemDelta))

    @property
    def announced(self) -> list[str]:
        return [event.sentence for event in self.events if isinstance(event, Retrying)]


def endpoint(url: str, key: str = KEY) -> Endpoint:
    return Endpoint(name="fake", dialect="chat", base_url=url, key=key, label="Fake")


def run(main: Callable[[], Awaitable[None]]) -> None:
    """A test's own loop, with its connections closed at the end."""

    async def whole() -> None:
        try:
            await main()
        finally:
            await close_connections()

    asyncio.run(whole())


def ask(
    *scripts: Script,
    limits: StreamLimits = LIMITS,
    url: str = "",
    key: str = KEY,
    keys: KeyMaker | None = None,
) -> Told:
    """What one question gives when these scripts answer, one for each attempt."""
    kept: list[Told] = []

    async def main() -> None:
        async with serving(*scripts) as server:
            told = Told(server)
            kept.append(told)
            await _ask(told, endpoint(url or server.url, key), limits, keys or KeyMaker())

    run(main)
    return kept[0]


async def _ask(told: Told, where: Endpoint, limits: StreamLimits, keys: KeyMaker) -> None:
    async def sleep(seconds: float) -> None:
        told.slept.append(seconds)

    provider = HttpProvider(where, FakeWire(), limits=limits, sleep=sleep)
    try:
        async for event in provider.stream(question("Réponds"), keys):
            told.events.append(event)
    except ProviderError as error:
        told.error = error
