"""A page that somebody has open: it does what its socket tells, and holds each word against what may be said."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlencode

import aiohttp

from bench.faults.words import wrong_in
from tests.support.frames import Frames
from tests.support.screen import Element, Screen

TOKEN = "t" * 32
BODIES = ("text", "piece", "blocks")
OF_A_CALL = "Arguments"
LONGEST = 64 * 2**20
TOLD_SECONDS = 1.0
# The end of an answer as its version tells it.
_STATUS = re.compile(r"(complete|stopped|failed|interrupted)")

AWAY = (aiohttp.ClientError, OSError, TimeoutError, asyncio.TimeoutError)


class Thread(Screen):
    """The list beside the thread is not looked at. What was found once is found quickly again."""

    def __init__(self, html: str) -> None:
        super().__init__(html)
        self._found: dict[str, Element] = {}

    def find(self, name: str) -> Element | None:
        known = self._found.get(name)
        if known is None or not _is_below(known, self.root):
            known = super().find(name)
        if known is not None:
            self._found[name] = known
        return known

    def does(self, operations: list[list[object]]) -> Iterator[Element]:
        """Each body that these change."""
        self.do([each for each in operations if each[0] in self._do])
        for name in dict.fromkeys(str(each[1]) for each in operations if each[0] in BODIES):
            if body := self.find(name):
                yield body

    @property
    def is_answering(self) -> bool:
        """As long as it is being written it has no version."""
        return "data-answering" in self.thread.attributes or not self.version

    @property
    def leaf(self) -> str:
        return self.thread.attributes.get("data-leaf", "")

    @property
    def version(self) -> str:
        return self.thread.attributes.get("data-version", "")

    @property
    def status(self) -> str:
        found = _STATUS.search(self.version)
        return found[1] if found else ""

    def drawn(self) -> list[list[str]]:
        return [[*article.lines()] for article in self.articles]


def _is_below(element: Element, root: Element) -> bool:
    at: Element | None = element
    while at is not None and at is not root:
        at = at.parent
    return at is root


@dataclass
class Told:
    """What a page makes known. `words_at`: when it was told the last words, by the monotonic clock."""

    closed: Callable[[str, int | None], None]
    wrong: Callable[[str], None]
    words_at: float = 0.0
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class LivePage:
    """`slow`: seconds that it takes to read one message. `at`: the machine that it listens to."""

    def __init__(
        self, http: aiohttp.ClientSession, session: str, conversation: str, told: Told, slow: float
    ) -> None:
        self._http, self._conversation, self.told, self._slow = http, conversation, told, slow
        self.cookies = {"Cookie": f"sessionid={session}; csrftoken={TOKEN}"}
        self.screen: Thread | None = None
        self.at, self.is_listening, self.is_wrong = "", False, False

    async def load(self, url: str) -> Thread:
        async with self._http.get(f"{url}c/{self._conversation}/", headers=self.cookies) as response:
            html = await response.text()
            if response.status != 200:
                raise aiohttp.ClientError(f"a page: {response.status}")
            return Thread(html)

    async def listen(self, machine: str, url: str) -> None:
        """Until the socket is closed."""
        assert self.screen
        ends = urlencode({"leaf": self.screen.leaf, "version": self.screen.version})
        headers = self.cookies | {"Origin": url.rstrip("/")}
        address = f"{url}ws/c/{self._conversation}/?{ends}"
        async with self._http.ws_connect(address, headers=headers, max_msg_size=LONGEST) as socket:
            self.at, self.is_listening = machine, True
            frames = Frames()
            telling = asyncio.create_task(_tell(socket, frames))
            try:
                async for message in socket:
                    self._do(frames.read(message.data))
                    if self._slow:
                        await asyncio.sleep(self._slow)
            finally:
                self.is_listening = False
                telling.cancel()
            self.told.closed(machine, socket.close_code)

    def _do(self, operations: list[list[object]]) -> None:
        assert self.screen
        for body in self.screen.does(operations):
            self.told.words_at = time.monotonic()
            if body.text.startswith(OF_A_CALL):
                continue
            for why in wrong_in(body.text, grows=True):
                self.told.wrong(f"its page, in the middle of it: {why}")
        self.told.changed.set()


async def _tell(socket: aiohttp.ClientWebSocketResponse, frames: Frames) -> None:
    told = 0
    with contextlib.suppress(*AWAY):
        while True:
            await asyncio.sleep(TOLD_SECONDS)
            if frames.count > told:
                told = frames.count
                await socket.send_str(str(told))
