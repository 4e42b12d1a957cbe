"""What it takes to bring conversations in and to take them out: seconds, memory, and how long other people's pages take meanwhile.

Run it with `python -m bench.bringing`. The server is a process of its own on SQLite; with --server PostgreSQL it gets a database of its own
there. Other people's pages are asked for before each import too, with nothing beside them: that is their floor.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import random
import re
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from bench.backup import SENTENCE
from bench.house import House
from bench.own_database import own_database

MESSAGES, CHAIN, GIGABYTE = 10_000, 100_000, 1024**3
# How many conversations they are, by the name of the shape.
SHAPES = {"one long": 1, "of forty messages": 250, "of four messages": 2_500}
PARTS = ("import", "export", "chain", "gigabyte")
# Seconds: an import of 10,000, and another person's page meanwhile.
TARGET, PAGE = 20.0, 0.2
PAUSE, FLOOR = 0.05, 8.0
PIECE = 8 * 1024 * 1024
TOKEN = "t" * 32
HTMX = {"HX-Request": "true", "X-CSRFToken": TOKEN}


# Files


def conversation(messages: int, title: str, chance: random.Random) -> Iterator[str]:
    """In our own format, with thoughts, their seals and answers, of sizes that are usual."""
    yield json.dumps({"title": title})[:-1] + ',"messages":[\n'
    for number in range(1, messages + 1, 2):
        yield (",\n" if number > 1 else "") + json.dumps(_question(number, chance))
        yield ",\n" + json.dumps(_answer(number + 1, chance))
    yield "\n]}"


def _question(number: int, chance: random.Random) -> dict[str, Any]:
    items = [{"key": "part-0", "kind": "user_message", "text": words(chance, 25)}]
    return {"id": number, "parent": number - 1 or None, "role": "user", "items": items}


def _answer(number: int, chance: random.Random) -> dict[str, Any]:
    thought, said = words(chance, 80), words(chance, 200)
    sealed = base64.b64encode(chance.randbytes(1200)).decode()
    summary = [{"type": "summary_text", "text": thought}]
    wire = {"id": "rs_1", "type": "reasoning", "summary": summary, "encrypted_content": sealed}
    content = [{"type": "output_text", "text": said, "annotations": []}]
    told = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}
    by = {"provider": "openai", "dialect": "responses", "model": "gpt-5"}
    items = [
        {"key": "rs_1", "kind": "reasoning", "text": thought, "wire": wire} | by,
        {"key": "msg_1", "kind": "assistant_message", "text": said, "wire": told} | by,
    ]
    recorded = {"reasoning_durations_ms": {"rs_1": 1500}}
    return {
        "id": number,
        "parent": number - 1,
        "role": "assistant",
        "model": "openai:gpt-5",
        "items": items,
        "recorded": recorded,
    }


def words(chance: random.Random, many: int) -> str:
    return " ".join(chance.choices(SENTENCE.split(), k=many))


def write_file(path: Path, conversations: int, messages: int, seed: int) -> int:
    """So many conversations, of together so many messages; its size."""
    chance = random.Random(seed)
    with path.open("w") as file:
        file.write('{"format":"thoughtline","version":1,"conversations":[\n')
        for number in range(conversations):
            file.write(",\n" if number else "")
            size = max(2, messages // conversations)
            file.writelines(conversation(size, f"Conversation {seed}.{number}", chance))
        file.write("\n]}\n")
        return file.tell()


def write_gigabyte(path: Path) -> int:
    """Of ordinary messages, in as many conversations as it takes."""
    chance = random.Random(0)
    whole = "".join(conversation(1000, "Again", chance))
    with path.open("w") as file:
        file.write('{"format":"thoughtline","version":1,"conversations":[\n' + whole)
        while file.tell() < GIGABYTE:
            file.write(",\n" + whole)
        file.write("\n]}\n")
        return file.tell()


# People


@dataclass
class Waited:
    """Seconds, by what was asked for."""

    took: dict[str, list[float]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    @property
    def longest(self) -> float:
        return max((max(each) for each in self.took.values()), default=0.0)

    def __str__(self) -> str:
        told = [f"{name} {_of_hundred(each)}" for name, each in self.took.items()]
        return "; ".join([*told, *sorted(set(self.wrong))])


def _of_hundred(took: list[float]) -> str:
    """In ms: the middle, the 99th of 100, the longest."""
    some = sorted(took)
    places = some[len(some) // 2], some[min(len(some) - 1, len(some) * 99 // 100)], some[-1]
    return " / ".join(f"{1000 * place:.0f}" for place in places) + f" of {len(some)}"


class People:
    """Whoever brings, and somebody else who reads and asks meanwhile."""

    def __init__(self, served: House) -> None:
        self.served = served
        self.name, session = served.person("alice")
        other, theirs = served.person("bob")
        self.place = f"/c/{served.clerk('conversation', owner=other, turns=20)}/"
        self.alice, self.bob = self._browser(session), self._browser(theirs)

    def _browser(self, session: str) -> httpx.AsyncClient:
        cookies = {"sessionid": session, "csrftoken": TOKEN}
        return httpx.AsyncClient(
            base_url=self.served.url, cookies=cookies, headers=HTMX, timeout=600, trust_env=False
        )

    @asynccontextmanager
    async def waited(self) -> AsyncIterator[Waited]:
        """What the other one waited for while this was done."""
        seen, ended = Waited(), asyncio.Event()
        reading = asyncio.create_task(self._read(seen, ended))
        yield seen
        ended.set()
        await reading

    async def _read(self, seen: Waited, ended: asyncio.Event) -> None:
        while not ended.is_set():
            await self._one(seen, "a page", lambda: self.bob.get(self.place, headers={"HX-Request": ""}))
            await self._one(seen, "the list", lambda: self.bob.get("/", headers={"HX-Request": ""}))
            await self._one(
                seen, "a change", lambda: self.bob.post(f"{self.place}title/", data={"title": "Mine"})
            )

    async def _one(self, seen: Waited, what: str, ask: Callable[[], Awaitable[httpx.Response]]) -> None:
        began = time.monotonic()
        reply = await ask()
        seen.took.setdefault(what, []).append(time.monotonic() - began)
        if reply.status_code >= 400:
            seen.wrong.append(f"{what}: {reply.status_code}")
        await asyncio.sleep(PAUSE)

    # An import

    async def chosen(self, path: Path, size: int) -> str:
        """The import."""
        begun = await self.alice.post("/import/files/", data={"name": path.name, "size": size})
        place, at = f"/import/files/{begun.json()['file']}/", 0
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                sent = await self.alice.post(f"{place}?begins={at}", content=piece, headers=BYTES)
                assert sent.status_code == 200, sent.text
                at = sent.json()["received"]
        found = re.search(r"/import/([0-9a-f-]{36})/check/", (await self.alice.get("/import/")).text)
        assert found
        return found[1]

    async def command(self, brought: str, what: str) -> None:
        done = await self.alice.post(f"/import/{brought}/{what}/", data={"skip": "on"})
        assert done.status_code == 200, done.text

    async def until(self, step: str) -> str:
        while True:
            shown = (await self.alice.get("/import/")).text
            if f'data-step="{step}"' in shown:
                return shown
            await asyncio.sleep(PAUSE)

    async def until_zip(self) -> str:
        """Its address."""
        while True:
            shown = (await self.alice.get("/settings/export/")).text
            if found := re.search(r'href="(/settings/export/[^"]+)" download', shown):
                return found[1]
            await asyncio.sleep(PAUSE)


BYTES = {"Content-Type": "application/octet-stream"}


async def timed(doing: Awaitable[Any]) -> tuple[float, Any]:
    began = time.monotonic()
    given = await doing
    return time.monotonic() - began, given


class Bench:
    def __init__(self, served: House, folder: Path) -> None:
        self.people, self.served, self.folder = People(served), served, folder
        self.missed = False

    async def bring(self, path: Path, size: int) -> None:
        """Says what each step took."""
        self.served.forget_most()
        before = self.served.memory()
        async with self.people.waited() as floor:
            await asyncio.sleep(FLOOR)
        print(f"  others, with nothing beside them: {floor}", flush=True)
        async with self.people.waited() as seen:
            sent, brought = await timed(self.people.chosen(path, size))
            used = self.served.use()
            looked, _ = await timed(self._checked(brought))
            wrote, _ = await timed(self._written(brought))
            cpu = (self.served.use() - used).server
        most = self.served.most_memory()
        print(
            f"  {size / 1e6:.0f} MB: sent in {sent:.1f} s, looked through in {looked:.1f} s, written in {wrote:.1f} s"
        )
        print(f"  {cpu:.1f} s of CPU, with others' pages; memory {before:.0f} MB before, {most:.0f} at most")
        print(f"  others meanwhile: {seen}", flush=True)
        self.missed = self.missed or seen.longest > PAGE
        self.took = looked + wrote
        async with self.people.waited() as seen:
            undone, _ = await timed(self.people.command(brought, "end"))
        print(f"  undone in {undone:.2f} s; others meanwhile: {seen}", flush=True)

    async def _checked(self, brought: str) -> None:
        await self.people.command(brought, "check")
        await self.people.until("checked")

    async def _written(self, brought: str) -> None:
        await self.people.command(brought, "start")
        await self.people.until("choosing")

    async def imports(self, rounds: int) -> None:
        for number in range(rounds):
            for place, (shape, conversations) in enumerate(SHAPES.items()):
                print(f"import of {MESSAGES:,} messages, {shape}", flush=True)
                path = self.folder / f"{number}-{place}.json"
                await self.bring(path, write_file(path, conversations, MESSAGES, seed=10 * number + place))
                self.missed = self.missed or self.took > TARGET

    async def exports(self, messages: int) -> None:
        conversation = self.served.clerk("conversation", owner=self.people.name, turns=messages // 2)
        print(f"export of {messages:,} messages", flush=True)
        for format in ("json", "markdown", "assistant-ui"):
            await self._fetched(format, f"/c/{conversation}/export/?format={format}")
        await self._zipped()

    async def _fetched(self, name: str, address: str) -> None:
        self.served.forget_most()
        used = self.served.use()
        async with self.people.waited() as seen:
            took, size = await timed(self._size_of(address))
        most, cpu = self.served.most_memory(), (self.served.use() - used).server
        print(
            f"  {name}: {took:.1f} s, {cpu:.1f} s of CPU, {size / 1e6:.1f} MB; memory {most:.0f} MB at most; others: {seen}",
            flush=True,
        )
        self.missed = self.missed or seen.longest > PAGE

    async def _size_of(self, address: str) -> int:
        size = 0
        async with self.people.alice.stream("GET", address) as reply:
            assert reply.status_code == 200, await reply.aread()
            async for some in reply.aiter_raw():
                size += len(some)
        return size

    async def _zipped(self) -> None:
        self.served.forget_most()
        async with self.people.waited() as seen:
            began = time.monotonic()
            await self.people.alice.post("/settings/export/")
            address = await self.people.until_zip()
            took = time.monotonic() - began
        most = self.served.most_memory()
        print(
            f"  everything, as a zip: {took:.1f} s; memory {most:.0f} MB at most; others: {seen}", flush=True
        )
        self.missed = self.missed or seen.longest > PAGE
        await self._fetched("the zip, fetched", address)

    async def chain(self, messages: int) -> None:
        print(f"import of {messages:,} messages in a chain", flush=True)
        path = self.folder / "chain.json"
        await self.bring(path, write_file(path, 1, messages, seed=99))
        await self.exports(messages)

    async def gigabyte(self) -> None:
        print("1 GB of JSON, looked through and cancelled", flush=True)
        path = self.folder / "gigabyte.json"
        size = write_gigabyte(path)
        self.served.forget_most()
        async with self.people.waited() as seen:
            sent, brought = await timed(self.people.chosen(path, size))
            looked, _ = await timed(self._checked(brought))
        print(
            f"  sent in {sent:.0f} s, looked through in {looked:.0f} s; memory {self.served.most_memory():.0f} MB at most"
        )
        print(f"  others meanwhile: {seen}")
        async with self.people.waited() as seen:
            gone, _ = await timed(self.people.command(brought, "end"))
        print(f"  forgotten in {gone:.1f} s; others meanwhile: {seen}", flush=True)
        path.unlink()


async def measure(served: House, folder: Path, chosen: argparse.Namespace) -> bool:
    bench = Bench(served, folder)
    if "import" in chosen.parts:
        await bench.imports(chosen.rounds)
    if "export" in chosen.parts:
        await bench.exports(MESSAGES)
    if "chain" in chosen.parts:
        await bench.chain(chosen.chain)
    if "gigabyte" in chosen.parts:
        await bench.gigabyte()
    return bench.missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS[:2])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--chain", type=int, default=CHAIN, help="messages of the long chain")
    parser.add_argument("--server", default="", help="a PostgreSQL database on which databases may be made")
    chosen = parser.parse_args()
    with TemporaryDirectory() as folder, own_database(chosen.server, "bringing") as database:
        given = {"DATABASE_URL": database} if database else {}
        served = House(Path(folder), **given)
        try:
            served.start()
            print(f"load {os.getloadavg()[0]:.1f}")
            missed = asyncio.run(measure(served, Path(folder), chosen))
            print(f"load {os.getloadavg()[0]:.1f}")
        finally:
            served.stop()
    sys.exit(missed)


if __name__ == "__main__":
    main()
