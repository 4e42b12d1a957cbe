"""A hundred people who ask and read, each at one of the two processes that serve: some read slowly, some leave and come back elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any
from uuid import uuid4

import aiohttp

from bench.faults.page import AWAY, TOKEN, LivePage, Thread, Told
from bench.faults.words import ACTING, PLAIN

# One of so many reads slowly; one of so many leaves.
SOME = 10
SLOW_SECONDS = 0.4
AGAIN_SECONDS = 0.4
# A page that shows no end by then shows none.
STUCK_SECONDS = 240.0
MODELS = {name: f"openai:scenario:{name}" for name in (PLAIN, ACTING)}


class Crowd:
    """`breaches` and `sights` are for whoever looks. `may_ask`: whether people begin anything new."""

    def __init__(self, webs: Mapping[str, str], random: Random) -> None:
        self.webs, self.random = webs, random
        self.breaches: list[str] = []
        self.sights: Counter[str] = Counter()
        # When a socket of which machine was closed, and how.
        self.closings: list[tuple[float, str, int | None]] = []
        # Questions whose answers a person told to go on: what was cut may be done once more.
        self.continued: set[str] = set()
        self.may_ask = asyncio.Event()
        self.reading: set[Person] = set()
        self.numbers = 0
        self._tasks: list[asyncio.Task[None]] = []

    async def come(self, sessions: Sequence[str], first: int) -> None:
        """`first`: of the numbers of their questions, which nobody asked before."""
        self.numbers = first
        timeout = aiohttp.ClientTimeout(total=None, connect=3, sock_read=None)
        self._http = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout)
        for place, session in enumerate(sessions):
            person = Person(self, self._http, session, place)
            self._tasks.append(asyncio.create_task(person.live()))

    @property
    def size(self) -> int:
        return len(self._tasks)

    async def go(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._http.close()

    async def is_quiet(self, within: float) -> bool:
        """Nobody reads what grows any more."""
        await self.until(lambda: not self.reading, within)
        return not self.reading

    async def until(self, look: Callable[[], bool], within: float) -> None:
        """Or not within that time."""
        over = time.monotonic() + within
        while not look() and time.monotonic() < over:  # noqa: ASYNC110
            await asyncio.sleep(0.2)

    def lost(self) -> list[str]:
        """Those of the crowd who ended otherwise than by going."""
        return [repr(task.exception()) for task in self._tasks if task.done() and not task.cancelled()]

    def breach(self, words: str) -> None:
        self.breaches.append(f"{time.strftime('%H:%M:%S')} {words}")


class Person:
    def __init__(self, crowd: Crowd, http: aiohttp.ClientSession, session: str, place: int) -> None:
        self._crowd, self._http, self._session = crowd, http, session
        self.leaves, self.is_slow = place % SOME == 0, place % SOME == 1
        self._web = sorted(crowd.webs)[place % len(crowd.webs)]
        self.page: LivePage | None = None
        self.model = PLAIN

    async def live(self) -> None:
        await asyncio.sleep(self._crowd.random.uniform(0, 5))
        while True:
            await self._crowd.may_ask.wait()
            self._crowd.reading.add(self)
            try:
                async with asyncio.timeout(STUCK_SECONDS):
                    await self._ask_and_read()
            except TimeoutError:
                self._give_up()
            finally:
                self.page = None
                self._crowd.reading.discard(self)

    def _give_up(self) -> None:
        screen = self.page and self.page.screen
        told = f"leaf {screen.leaf}, version {screen.version!r}" if screen else "no page"
        self._crowd.breach(f"no end after {STUCK_SECONDS:.0f} s: {self.model}, {told}")

    async def _ask_and_read(self) -> None:
        self._crowd.numbers += 1
        question = f"q-{self._crowd.numbers}"
        self.model = self._crowd.random.choice((PLAIN, PLAIN, ACTING))
        words = {"text": question, "key": str(uuid4()), "model": MODELS[self.model]}
        place = await self._post("ask/", words)
        conversation = place.removeprefix("/").split("/")[1]
        told = Told(self._closed, lambda why: self._wrong(question, why))
        slow = SLOW_SECONDS if self.is_slow else 0.0
        self.page = LivePage(self._http, self._session, conversation, told, slow)
        self.page.screen = await self._loaded()
        await self._read_to_the_end(question)
        self._crowd.sights["answers"] += 1
        await self._compare(question)

    async def _read_to_the_end(self, question: str) -> None:
        assert self.page
        assert self.page.screen
        while True:
            await self._watch()
            status = self.page.screen.status
            self._crowd.sights[f"ended {status}"] += 1
            if status == "complete":
                return
            await self._post(f"m/{self.page.screen.leaf}/continue/", {})
            self._crowd.sights["continued"] += 1
            self._crowd.continued.add(question)
            self.page.screen = await self._loaded()

    async def _watch(self) -> None:
        """Whatever becomes of the sockets."""
        assert self.page
        listening = asyncio.create_task(self._keep_listening())
        leaving = asyncio.create_task(self._leave(listening)) if self.leaves else None
        try:
            while self.page.screen is None or self.page.screen.is_answering:
                self.page.told.changed.clear()
                await self.page.told.changed.wait()
        finally:
            for task in (listening, leaving):
                if task:
                    task.cancel()
            await asyncio.gather(listening, *filter(None, [leaving]), return_exceptions=True)

    async def _keep_listening(self) -> None:
        assert self.page
        while True:
            with contextlib.suppress(*AWAY):
                await self.page.listen(self._web, self._crowd.webs[self._web])
            await asyncio.sleep(AGAIN_SECONDS)
            self._go_elsewhere()

    def _go_elsewhere(self) -> None:
        self._web = next(name for name in self._crowd.webs if name != self._web)

    async def _leave(self, listening: asyncio.Task[None]) -> None:
        """Somebody who closes the tab, and opens it again at the other process; some with a fresh page."""
        assert self.page
        await asyncio.sleep(self._crowd.random.uniform(1, 15))
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        await asyncio.sleep(self._crowd.random.uniform(0.2, 3))
        self._go_elsewhere()
        if self._crowd.random.random() < 0.5:
            self.page.screen = await self._loaded()
            self.page.told.changed.set()
        self._crowd.sights["left and came back"] += 1
        await self._keep_listening()

    def _wrong(self, question: str, why: str) -> None:
        """Once for each page: what is wrong stays so. What was cut and went on is one text of two requests."""
        if self.page and not self.page.is_wrong and question not in self._crowd.continued:
            self.page.is_wrong = True
            self._crowd.breach(f"{question} at {self.page.at}: {why}")

    def _closed(self, machine: str, code: int | None) -> None:
        self._crowd.closings.append((time.monotonic(), machine, code))

    async def _loaded(self) -> Thread:
        assert self.page
        while True:
            try:
                async with asyncio.timeout(8):
                    return await self.page.load(self._crowd.webs[self._web])
            except AWAY as error:
                self._crowd.sights[f"page again: {_named(error)}"] += 1
                await asyncio.sleep(AGAIN_SECONDS)
                self._go_elsewhere()

    async def _post(self, path: str, words: dict[str, str]) -> str:
        """Until somebody takes it; the same form twice is the same question. Where it led to."""
        headers = {
            "HX-Request": "true",
            "X-CSRFToken": TOKEN,
            "Cookie": f"sessionid={self._session}; csrftoken={TOKEN}",
        }
        while True:
            try:
                async with asyncio.timeout(15):
                    url = self._crowd.webs[self._web]
                    more: dict[str, Any] = {"data": words, "headers": headers, "allow_redirects": False}
                    async with self._http.post(url + path, **more) as response:
                        said = await response.text()
                        if response.status < 400:
                            return response.headers.get("HX-Redirect", "")
                        self._crowd.sights[f"{path[:2]} {response.status}"] += 1
                        if response.status == 500:
                            self._crowd.breach(f"{path} of {self._web} broke: {said[:200]}")
                        if response.status in (404, 409):
                            return ""
            except AWAY as error:
                self._crowd.sights[f"asked again: {_named(error)}"] += 1
            await asyncio.sleep(AGAIN_SECONDS)
            self._go_elsewhere()

    async def _compare(self, question: str) -> None:
        """What the sockets have made of the page, with the page as it is loaded from either process."""
        assert self.page
        assert self.page.screen
        seen = self.page.screen.drawn()
        self._go_elsewhere()
        loaded = (await self._loaded()).drawn()
        if seen != loaded:
            self._crowd.breach(
                f"{question}: its page is not what a reload shows: {_difference(seen, loaded)}"
            )


def _named(error: BaseException) -> str:
    return type(error).__name__


def _difference(seen: list[list[str]], loaded: list[list[str]]) -> str:
    here, there = ([line for article in each for line in article] for each in (seen, loaded))
    first = next(
        (n for n, (one, other) in enumerate(zip(here, there, strict=False)) if one != other),
        min(len(here), len(there)),
    )
    return f"line {first}: {here[first : first + 3]} and {there[first : first + 3]}"
