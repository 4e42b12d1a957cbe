"""So many processes that serve and so many that work, as one house for whoever knocks; and what each kind of them takes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.crowd.ours import Ours
from bench.house import House, Place, Use, cpu, forget_most, most_memory, resident
from bench.own_database import own_database
from bench.provider import Provider
from tests.browser.served import Served
from tests.turns.scale.own_redis import OwnRedis, own_redis


class Worker(Served):
    LISTENS = "Turns run here as "

    def command(self, port: int) -> list[str]:
        return [sys.executable, "manage.py", "work"]

    @property
    def name(self) -> str:
        """What it writes on its turns."""
        return self.url.partition(",")[0]


class Many:
    """As one house for whoever knocks: each comes to the next of its doors. `looks`: what each kind of process had taken of the
    machine whenever `use` was asked, in seconds of CPU."""

    def __init__(
        self, webs: Sequence[House], workers: Sequence[Worker], database: str, redis: OwnRedis
    ) -> None:
        self.webs, self.workers, self.database, self.redis = webs, workers, database, redis
        self._doors = cycle(webs)
        self.looks: list[dict[str, float]] = []

    @property
    def url(self) -> str:
        return next(self._doors).url

    @property
    def pid(self) -> int:
        return self.webs[0].pid

    def place(self, **more: Any) -> Place:
        return self.webs[0].place(**more)

    def newcomer(self) -> Place:
        return self.webs[0].newcomer()

    def clerk(self, what: str, **arguments: Any) -> Any:
        return self.webs[0].clerk(what, **arguments)

    def use(self) -> Use:
        """Without PostgreSQL's and Redis'."""
        uses = [web.use() for web in self.webs]
        look = {
            "at": time.monotonic(),
            "web": sum(use.server + use.renderers for use in uses),
            "work": sum(cpu(worker.pid) for worker in self.workers),
            "redis": cpu(self.redis.pid),
            "postgresql": sum(map(cpu, _backends(self.database))),
        }
        self.looks.append(look)
        return Use(look["web"] + look["work"], 0.0)

    def taken(self) -> dict[str, float]:
        """Between the last two looks."""
        before, after = self.looks[-2:]
        return {name: after[name] - before[name] for name in after if name != "at"}

    def seconds(self) -> float:
        """Between the same."""
        return self.looks[-1]["at"] - self.looks[-2]["at"]

    def held(self) -> dict[str, float]:
        """In MB, now."""
        return {
            "web": sum(web.memory() for web in self.webs),
            "work": sum(resident(worker.pid) for worker in self.workers),
            "redis": self.redis.told("memory")["used_memory"] / 1e6,
        }

    def memory(self) -> float:
        return sum(web.memory() for web in self.webs) + sum(resident(worker.pid) for worker in self.workers)

    def most_memory(self) -> float:
        return sum(map(most_memory, self._all()))

    def forget_most(self) -> None:
        for pid in self._all():
            forget_most(pid)

    def beside(self) -> float:
        return sum(web.beside() for web in self.webs)

    def _all(self) -> list[int]:
        return [each.pid for each in (*self.webs, *self.workers)]


def _backends(database: str) -> list[int]:
    """The server's processes that are at work for us; none where it runs on another machine."""
    name = database.rpartition("/")[2].encode()
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = line.read_bytes()
            if words.startswith(b"postgres:") and name in words:
                found.append(int(line.parent.name))
    return found


@contextmanager
def serving_many(server: str, provider: Provider, webs: int, workers: int) -> Iterator[Ours]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        redis = stack.enter_context(own_redis(folder))
        places = {
            "DATABASE_URL": stack.enter_context(own_database(server, "many")),
            "REDIS_URL": redis.url,
            "SECRET_KEY": "x" * 50,
            "OPENAI_BASE_URL": provider.url,
            "OPENAI_API_KEY": "sk-bench",
        }
        serve = [House(_folder(folder, f"serves-{number}"), **places) for number in range(webs)]
        work = [Worker(_folder(folder, f"works-{number}"), **places) for number in range(workers)]
        for each in [*serve, *work]:
            each.start()
            stack.callback(each.kill)
        yield Ours(f"{webs} + {workers}", Many(serve, work, places["DATABASE_URL"], redis), provider)


def _folder(above: Path, name: str) -> Path:
    folder = above / name
    folder.mkdir()
    return folder
