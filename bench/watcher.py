"""Listens to a conversation as `static/js/live.js` does, without a page: does the operations on bodies, says how far it has read, and
keeps when which letters came."""

from __future__ import annotations

import asyncio
import re
import time
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import aiohttp

from bench.house import Place
from bench.provider import Plan
from tests.support.frames import Frames

READ_SECONDS, MUCH = 2.0, 32 * 1024
TOKEN = "t" * 32
LONGEST = 64 * 2**20


class Refused(Exception):
    """The server took no question, or gave no page."""


@dataclass
class Body:
    """`came`: how many letters there were, and when; `settled`: when blocks came first and last."""

    blocks: list[str] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)
    came: list[tuple[int, int]] = field(default_factory=list)
    settled: tuple[int, int] = (0, 0)

    @property
    def html(self) -> str:
        return "".join(self.blocks)

    @property
    def text(self) -> str:
        return "".join(self.letters)

    def add(self, letters: str, at: int) -> None:
        self.letters.append(letters)
        self.came.append(((self.came[-1][0] if self.came else 0) + len(letters), at))

    def show(self, changes: list[tuple[int, str]], total: int, at: int) -> None:
        for place, html in changes:
            self.blocks[place : place + 1] = [html]
        del self.blocks[total:]
        self.settled = (self.settled[0] or at, at)

    def shown(self, said: str, letters: int) -> int:
        """When so many letters of what was said were there. The last ones come with the blocks of the finished item, and, where much
        came at once, so do the first ones."""
        before = said.index(self.text)
        if letters <= before:
            return self.settled[0]
        place = bisect_left(self.came, (letters - before, 0))
        return self.came[place][1] if place < len(self.came) else self.settled[1]

    def came_as_letters(self, said: str, letters: int) -> bool:
        before = said.index(self.text)
        return before < letters <= before + len(self.text)

    def letters_at(self, at: int) -> int:
        return max((letters for letters, came in self.came if came <= at), default=0)


class Watcher:
    """`bodies` are in the order in which they began. `ended`: the status of the answer, when it has one that stays."""

    def __init__(self, http: aiohttp.ClientSession, url: str, place: Place) -> None:
        self.bodies: dict[str, Body] = {}
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.octets = 0
        self._http, self.url, self._place = http, url, place
        self._cookies = {"Cookie": f"sessionid={place.session}; csrftoken={TOKEN}"}
        self._read, self._untold, self._telling = Frames(), 0, False
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self.leaf = ""

    async def open(self) -> None:
        page = await self.page()
        self.leaf = _attribute(page, "data-leaf")
        ends = urlencode({"leaf": self.leaf, "version": _attribute(page, "data-version")})
        origin = {"Origin": self.url.rstrip("/")}
        address = f"{self.url}ws/{self._place.path}?{ends}"
        self._socket = await self._http.ws_connect(
            address, headers=self._cookies | origin, max_msg_size=LONGEST
        )
        self._listening = asyncio.create_task(self._listen())

    async def page(self) -> str:
        async with self._http.get(self.url + self._place.path, headers=self._cookies) as response:
            return await _taken(response)

    async def ask(self, plan: Plan) -> float:
        """As the composer sends it, and when that was."""
        at = time.monotonic()
        words = {"text": plan.question, "parent": self.leaf, "key": str(uuid4()), "model": "openai:gpt-5"}
        async with self._post(f"{self._place.path}ask/", words, Listening="1") as response:
            await _taken(response)
        return at

    async def begin(self, plan: Plan) -> float:
        """A first question from the start page, which leads to its conversation."""
        at = time.monotonic()
        words = {"text": plan.question, "key": str(uuid4()), "model": "openai:gpt-5"}
        async with self._post("ask/", words) as response:
            await _taken(response)
            place = response.headers["HX-Redirect"].removeprefix("/").split("/")[1]
        self._place = Place(self._place.session, place)
        await self.open()
        return at

    def at(self, url: str) -> Watcher:
        """The same page at another process, which hears nothing."""
        other = Watcher(self._http, url, self._place)
        other.bodies, other.leaf = self.bodies, self.leaf
        return other

    async def stop(self) -> None:
        """The answer that is being written."""
        async with self._post(f"m/{self.answer}/stop/", {}, Listening="1") as response:
            await _taken(response)

    def _post(self, path: str, words: dict[str, str], **more: str) -> Any:
        by_script = {"HX-Request": "true", "X-CSRFToken": TOKEN}
        return self._http.post(self.url + path, data=words, headers=self._cookies | by_script | more)

    @property
    def answer(self) -> str:
        """The id of the message whose bodies these are."""
        return next(iter(self.bodies))[2:38]

    def forget(self) -> None:
        """What it was told so far: another question follows."""
        self.bodies, self.ended = {}, asyncio.get_running_loop().create_future()

    @property
    def frames(self) -> int:
        """Messages that came."""
        return self._read.count

    def shown_at(self, at: int) -> int:
        """How many letters there were at that moment, of those that came as letters."""
        return sum(body.letters_at(at) for body in self.bodies.values())

    async def close(self) -> None:
        if self._socket:
            self._listening.cancel()
            await self._socket.close()

    async def _listen(self) -> None:
        assert self._socket
        async for message in self._socket:
            at = time.monotonic_ns()
            self.octets += len(message.data.encode())
            self._untold += len(message.data)
            for name, *said in self._read.read(message.data):
                self._do(name, said, at)
            await self._tell_sometimes()
        if not self.ended.done():
            self.ended.set_exception(
                ConnectionError(f"The socket was closed with {self._socket.close_code}.")
            )

    def _do(self, name: str, said: list[Any], at: int) -> None:
        match name, said:
            case "text", [body, letters]:
                self._body(body).add(letters, at)
            case "blocks", [body, changes, total, *_]:
                self._body(body).show(changes, total, at)
            case "state", ["leaf", leaf]:
                self.leaf = leaf
            # As long as it is being written it has none.
            case "state", ["version", version] if version and self.bodies and not self.ended.done():
                self.ended.set_result(version.split(".")[2])

    def _body(self, name: str) -> Body:
        return self.bodies.setdefault(name, Body())

    async def _tell_sometimes(self) -> None:
        if self._untold > MUCH:
            await self._tell()
        elif not self._telling:
            self._telling = True
            asyncio.get_running_loop().call_later(READ_SECONDS, self._tell_soon)

    def _tell_soon(self) -> None:
        self._telling = False
        self._told = asyncio.ensure_future(self._tell())

    async def _tell(self) -> None:
        self._untold = 0
        if self._socket and not self._socket.closed:
            await self._socket.send_str(str(self._read.count))


async def _taken(response: aiohttp.ClientResponse) -> str:
    text = await response.text()
    if response.status != 200:
        raise Refused(f"{response.status}: {text[:200]}")
    return text


def _attribute(page: str, name: str) -> str:
    found = re.search(f'{name}="([^"]*)"', page)
    assert found, f"The page has no {name}."
    return found[1]
