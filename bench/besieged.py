"""What one visitor can take from another: while huge bodies are sent, and while one person opens sockets without end, a neighbour
opens pages and asks questions.

Run it with `python -m bench.besieged`. It reads /proc, so it needs Linux. Those who besiege are a process of their own on the same
machine, so the machine's floor is measured too: the same neighbour beside processes that only count. It ends with code 1 when a
target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from multiprocessing.synchronize import Event
from statistics import median
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

from bench.house import House, Place, house
from bench.provider import Plan, providing
from bench.unread import HANDSHAKE
from bench.watcher import TOKEN

MOST_MB, MOST_SECONDS = 2 * 1.048576, 0.2
PIECE = b"x" * 65536
PATIENCE = 120
FORM = "application/x-www-form-urlencoded"


@dataclass
class Felt:
    """Seconds that a neighbour waited."""

    pages: list[float] = field(default_factory=list)
    questions: list[float] = field(default_factory=list)

    def words(self) -> str:
        kinds = (("pages", self.pages), ("questions", self.questions))
        return "; ".join(
            f"{len(found)} {name}: {median(found) * 1000:.0f} ms, worst {max(found) * 1000:.0f}"
            for name, found in kinds
        )


class Neighbour:
    def __init__(self, served: House) -> None:
        self._place, self._at = served.place(), urlsplit(served.url)
        cookies = f"sessionid={self._place.session}; csrftoken={TOKEN}"
        self._headers = {"Cookie": cookies, "HX-Request": "true", "X-CSRFToken": TOKEN, "Content-Type": FORM}

    def lives(self, until: Callable[[], bool]) -> Felt:
        """Each look and each question on a connection of its own, as a browser's first one is."""
        felt = Felt()
        while not felt.questions or not until():
            felt.pages.append(self._took("GET", f"/{self._place.path}"))
            plan = Plan(name=str(uuid4()), text=3, pace=0)
            words = {"text": plan.question, "key": str(uuid4()), "model": "openai:gpt-5"}
            felt.questions.append(self._took("POST", "/ask/", urlencode(words)))
            time.sleep(0.1)
        return felt

    def _took(self, method: str, path: str, body: str = "") -> float:
        began = time.monotonic()
        line = HTTPConnection(self._at.hostname or "", self._at.port, timeout=PATIENCE)
        try:
            line.request(method, path, body or None, self._headers)
            answer = line.getresponse()
            answer.read()
            assert answer.status == 200, answer.status
        finally:
            line.close()
        return time.monotonic() - began


@contextmanager
def beside(work: Callable[..., None], *args: Any) -> Iterator[Callable[[], bool]]:
    """In a process of its own; gives what tells whether it has done its worst."""
    done = multiprocessing.get_context("spawn").Event()
    process = multiprocessing.get_context("spawn").Process(target=work, args=(done, *args))
    process.start()
    try:
        yield done.is_set
    finally:
        process.terminate()
        process.join()


def only_counts(done: Event, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass
    done.set()


def sends_bodies(done: Event, url: str, posts: int, megabytes: int, said: bool) -> None:
    async def all_at_once() -> None:
        answers = await asyncio.gather(*(_post(url, megabytes, said) for _ in range(posts)))
        print(f"   they were answered: {dict(Counter(answers))}", flush=True)

    asyncio.run(all_at_once())
    done.set()


async def _post(url: str, megabytes: int, said: bool) -> str:
    at = urlsplit(url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    length = f"Content-Length: {megabytes * 1_000_000}" if said else "Transfer-Encoding: chunked"
    head = f"POST /accounts/login/ HTTP/1.1\r\nHost: {at.netloc}\r\nContent-Type: {FORM}\r\n{length}\r\n\r\n"
    piece = PIECE if said else b"%x\r\n%s\r\n" % (len(PIECE), PIECE)
    # As a browser does, it stops sending when it is answered.
    answered = asyncio.ensure_future(reader.readline())
    try:
        writer.write(head.encode())
        for _ in range(megabytes * 1_000_000 // len(PIECE)):
            if answered.done():
                break
            writer.write(piece)
            await writer.drain()
        if said:
            writer.write(b"x" * (megabytes * 1_000_000 % len(PIECE)))
        return (await asyncio.wait_for(answered, None if said else 5)).decode().strip() or "closed"
    except OSError:
        return "closed"
    except TimeoutError:
        return "nothing, and all was taken"


def opens_sockets(done: Event, url: str, place: Place, sockets: int, stays: Event) -> None:
    async def all_at_once() -> None:
        began = time.monotonic()
        opened = await asyncio.gather(*(_listens(url, place) for _ in range(sockets)))
        told = Counter(code for code, _ in opened)
        print(f"   after {time.monotonic() - began:.1f} s their sockets are: {dict(told)}", flush=True)
        done.set()
        await asyncio.to_thread(stays.wait)

    asyncio.run(all_at_once())


async def _listens(url: str, place: Place) -> tuple[str, Any]:
    """How it stands a second after it was answered."""
    at = urlsplit(url)
    try:
        reader, writer = await asyncio.open_connection(at.hostname, at.port)
        asked = HANDSHAKE.format(path="", leaf="", host=at.netloc, session=place.session, key="A" * 22 + "==")
        writer.write(asked.encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in head:
            return head.split(b"\r\n")[0].decode(), writer
        with suppress(TimeoutError):
            frame = await asyncio.wait_for(reader.readexactly(4), 1)
            if frame[0] == 0x88:
                return f"closed with {int.from_bytes(frame[2:4])}", writer
    except (OSError, asyncio.IncompleteReadError):
        return "cut", None
    return "open", writer


def floor(served: House, seconds: float) -> None:
    with beside(only_counts, seconds) as is_done:
        print(f"beside a process that only counts: {Neighbour(served).lives(is_done).words()}", flush=True)


def bodies(served: House, posts: int, megabytes: int, said: bool) -> bool:
    print(
        f"{posts} bodies of {megabytes} MB, {'their length said' if said else 'without an end'}", flush=True
    )
    neighbour = Neighbour(served)
    neighbour.lives(lambda: True)
    # What the first refusal loads stays.
    asyncio.run(_post(served.url, 1, said))
    served.forget_most()
    before, used = served.memory(), served.use()
    with beside(sends_bodies, served.url, posts, megabytes, said) as is_done:
        felt = neighbour.lives(is_done)
    grown, cpu = served.most_memory() - before, (served.use() - used).server
    print(
        f"   the server grew by {grown:.1f} MB and used {cpu:.1f} s; a neighbour: {felt.words()}", flush=True
    )
    return grown <= MOST_MB and max(felt.pages) <= MOST_SECONDS


def crowd(served: House, sockets: int) -> bool:
    print(f"{sockets} sockets of one person", flush=True)
    neighbour, place = Neighbour(served), served.place()
    neighbour.lives(lambda: True)
    stays = multiprocessing.get_context("spawn").Event()
    before, used = served.memory(), served.use()
    with beside(opens_sockets, served.url, place, sockets, stays) as is_done:
        felt = neighbour.lives(is_done)
        print(f"   while they open, a neighbour: {felt.words()}", flush=True)
        loud = Neighbour(served)
        loud._headers["Cookie"] = f"sessionid={place.session}; csrftoken={TOKEN}"
        loud._place = place
        until = time.monotonic() + 3
        print(f"   whose they are: {loud.lives(lambda: time.monotonic() > until).words()}", flush=True)
        until = time.monotonic() + 3
        after = neighbour.lives(lambda: time.monotonic() > until)
        print(f"   then a neighbour: {after.words()}", flush=True)
        stays.set()
    cpu = (served.use() - used).server
    print(f"   the server grew by {served.memory() - before:.1f} MB and used {cpu:.1f} s", flush=True)
    return max(felt.pages) <= MOST_SECONDS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, default=20)
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--sockets", type=int, default=1500)
    chosen = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}")
    with providing() as provider, house(provider) as served:
        floor(served, 3)
        held = [bodies(served, chosen.posts, chosen.megabytes, said) for said in (True, False)]
        held.append(crowd(served, chosen.sockets))
        floor(served, 3)
    sys.exit(not all(held))


if __name__ == "__main__":
    main()
