"""What it costs that many processes do what one can do: two that serve and two or more that work, beside one that does everything.

Run it with `python -m bench.many postgres://postgres@127.0.0.1/postgres`; it makes a database there that goes away, and starts a Redis
of its own. Half of the people listen at each process that serves. CPU is that of our own processes, without PostgreSQL's and Redis'.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.crowd.ours import Ours, serving
from bench.crowd.scene import Scene
from bench.crowd.told import Table
from bench.house import House, Place, Use, cpu, forget_most, most_memory, resident
from bench.live import play
from bench.own_database import own_database
from bench.provider import Provider, providing
from tests.browser.served import Served
from tests.turns.scale.own_redis import own_redis


class Worker(Served):
    LISTENS = "Turns run here as "

    def command(self, port: int) -> list[str]:
        return [sys.executable, "manage.py", "work"]


class Many:
    """As one house for whoever knocks: each comes to the next of its doors."""

    def __init__(self, webs: Sequence[House], workers: Sequence[Worker]) -> None:
        self._webs, self._workers = webs, workers
        self._doors = cycle(webs)

    @property
    def url(self) -> str:
        return next(self._doors).url

    @property
    def pid(self) -> int:
        return self._webs[0].pid

    def place(self, **more: Any) -> Place:
        return self._webs[0].place(**more)

    def newcomer(self) -> Place:
        return self._webs[0].newcomer()

    def clerk(self, what: str, **arguments: Any) -> Any:
        return self._webs[0].clerk(what, **arguments)

    def use(self) -> Use:
        uses = [web.use() for web in self._webs]
        work = sum(cpu(pid) for pid in self._working())
        return Use(sum(use.server for use in uses) + work, sum(use.renderers for use in uses))

    def memory(self) -> float:
        return sum(web.memory() for web in self._webs) + sum(map(resident, self._working()))

    def most_memory(self) -> float:
        return sum(map(most_memory, self._all()))

    def forget_most(self) -> None:
        for pid in self._all():
            forget_most(pid)

    def beside(self) -> float:
        return sum(web.beside() for web in self._webs)

    def _all(self) -> list[int]:
        return [*(web.pid for web in self._webs), *self._working()]

    def _working(self) -> list[int]:
        return [worker.pid for worker in self._workers]


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
        yield Ours(f"{webs} + {workers}", Many(serve, work), provider)


def _folder(above: Path, name: str) -> Path:
    folder = above / name
    folder.mkdir()
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--crowd", type=int, default=0, help="so many answers at once at two deltas a second, by many alone"
    )
    chosen = parser.parse_args()
    with providing() as provider, serving_many(chosen.server, provider, 2, chosen.workers) as many:
        if chosen.crowd:
            play([many], Scene(people=chosen.crowd, pace=2, plain=True, seconds=30), 1, Table([many.name]))
            return
        with serving("one", Path(__file__).parents[1], provider) as one:
            table = Table([one.name, many.name])
            play([one, many], Scene(people=1, plain=True, seconds=1), 15, table)
            play([one, many], Scene(people=100, plain=True), chosen.rounds, table)
            table.show()


if __name__ == "__main__":
    main()
