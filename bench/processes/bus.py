"""How long a letter takes from the bus to a page's socket: whoever listens to Redis beside all processes says when it was there."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import NamedTuple

import redis

from bench.crowd.ours import Ours
from bench.crowd.scene import Run, Scene
from bench.processes.deployment import Many
from bench.watcher import Watcher

ENOUGH = "enough"
Heard = list[tuple[int, str, str]]


class Late(NamedTuple):
    """Milliseconds of each letter that was said when everybody had their first. `speaking`: of those before the first answer ended."""

    all: list[float]
    speaking: list[float]


def played(many: Ours, scene: Scene) -> tuple[Run, Late]:
    assert isinstance(many.served, Many)
    watchers: list[Watcher] = []

    async def know(all_of_them: Sequence[Watcher]) -> None:
        watchers.extend(all_of_them)

    heard: Heard = []
    with _listening(many.served.redis.url, heard):
        run = many.play(scene, know)
    whole = [watcher for watcher in watchers if watcher.bodies]
    began = max(
        body.came[0][1] for watcher in whole for body in list(watcher.bodies.values())[:1] if body.came
    )
    on_bus = _by_answer(heard)
    late = [each for watcher in whole for each in _late(watcher, on_bus[watcher.answer], began)]
    ended = min(on_bus[watcher.answer][-1][0] for watcher in whole)
    return run, Late([ms for _, ms in late], [ms for at, ms in late if at < ended])


def _late(watcher: Watcher, heard: list[tuple[int, str]], began: int) -> Iterator[tuple[int, float]]:
    """Of what came as letters: those that came with blocks have no place to look for."""
    said: dict[str, str] = defaultdict(str)
    ends: list[tuple[int, str, int]] = []
    for at, key, letters in _deltas(heard):
        said[key] += letters
        ends.append((at, key, len(said[key])))
    bodies = dict(zip(said, watcher.bodies.values(), strict=False))
    for at, key, end in ends:
        body = bodies.get(key)
        if at > began and body and body.came_as_letters(said[key], end):
            yield at, (body.shown(said[key], end) - at) / 1e6


def _deltas(heard: list[tuple[int, str]]) -> Iterator[tuple[int, str, str]]:
    """When they were said, of which item, and the letters."""
    for at, text in heard:
        for _, _, _, name, *said in json.loads(text)[2]:
            if name == "item_delta":
                yield at, said[0], said[1]


def _by_answer(heard: Heard) -> dict[str, list[tuple[int, str]]]:
    told: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for at, name, text in heard:
        if text.startswith("["):
            told[name.split(":")[1]].append((at, text))
    return told


@contextmanager
def _listening(url: str, heard: Heard) -> Iterator[None]:
    """In a process of its own, which does nothing else."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_listen, args=(url, there), daemon=True)
    process.start()
    here.recv()
    try:
        yield
    finally:
        with redis.Redis.from_url(url) as line:
            line.publish(ENOUGH, "")
        heard += here.recv()
        process.join()


def _listen(url: str, there: Connection) -> None:
    heard: Heard = []
    with redis.Redis.from_url(url, decode_responses=True) as line, line.pubsub() as ear:
        ear.subscribe(ENOUGH)
        ear.psubscribe("turn:*")
        for told in ear.listen():
            match told["type"]:
                case "psubscribe":
                    there.send(None)
                case "pmessage":
                    heard.append((time.monotonic_ns(), told["channel"], told["data"]))
                case "message":
                    there.send(heard)
                    return
