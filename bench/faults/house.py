"""The house on its machines: two processes that serve and two that work, what they stand on, and what is outside of it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from bench.faults.busy.sitecustomize import SECONDS as BUSY_SECONDS
from bench.faults.clocks import make_clocks, set_clock, with_clock
from bench.faults.databases import NOBODY, MachineRedis, OwnPostgres
from bench.faults.network import Network
from bench.faults.outside import LISTENS as OUTSIDE_LISTENS
from bench.faults.program import NotThere, Program
from tests.browser.served import LISTENS as WEB_LISTENS
from tests.browser.served import ROOT, _clean

WEBS, WORKERS = ("web-1", "web-2"), ("work-1", "work-2")
MACHINES = (*WEBS, *WORKERS, "postgres", "redis", "outside")
PORT = 8000
# So long one that is told to end lets turns end.
DRAIN_SECONDS = 3
# So often one that ends as it starts is started again.
TRIES = 10
# Machines' clocks, against this one's, in seconds.
HOUR = 3600
CLOCKS = {"web-1": 0, "web-2": HOUR, "work-1": HOUR, "work-2": -HOUR}

__all__ = ["BUSY_SECONDS", "House", "OurProcess", "housing"]


class OurProcess(Program):
    """`runner`: what it writes on its turns, where it says so."""

    def __init__(
        self,
        machine: str,
        network: Network,
        folder: Path,
        places: Mapping[str, str],
        checkout: Path,
        clocks: Path | None,
    ) -> None:
        self.is_web = machine in WEBS
        words = (
            ("serve", "--host", network.address(machine), "--port", str(PORT)) if self.is_web else ("work",)
        )
        self.LISTENS = WEB_LISTENS if self.is_web else "Turns run here as "
        self._clock = folder.with_suffix(".clock")
        more = {
            "DATA_DIR": str(folder),
            "PGAPPNAME": machine,
            "PYTHONPATH": str(ROOT / "bench/faults/busy"),
            "DRAIN_SECONDS": str(DRAIN_SECONDS),
        }
        super().__init__(
            machine,
            network,
            [sys.executable, "manage.py", *words],
            folder=folder,
            environment=_clean() | dict(places) | more | with_clock(clocks, self._clock),
            cwd=checkout,
        )
        self.url = f"http://{network.address(machine)}:{PORT}/"
        self.set_clock(CLOCKS[machine])

    def set_clock(self, ahead: int) -> None:
        """Of a machine that runs or does not."""
        set_clock(self._clock, ahead)

    @property
    def runner(self) -> str:
        return self.said.removeprefix(self.LISTENS).partition(",")[0]

    def be_busy(self) -> None:
        self.send(signal.SIGUSR2)


class House:
    def __init__(self, network: Network, folder: Path, checkout: Path) -> None:
        self.network, self.folder, self.effects = network, folder, folder / "effects.jsonl"
        self.postgres = OwnPostgres(network, folder / "postgres")
        self.redis = MachineRedis(network, folder / "redis")
        self.outside = self._outside()
        address = f"http://{network.address('outside')}:{PORT}"
        self.tools_url = f"{address}/tools"
        self.places = {
            "DATABASE_URL": self.postgres.url,
            "REDIS_URL": self.redis.url,
            "SECRET_KEY": "x" * 50,
            "OPENAI_BASE_URL": f"{address}/v1",
            "OPENAI_API_KEY": "sk-bench",
            "LOG_LEVEL": "info",
        }
        self.clocks = make_clocks(folder)
        self.webs, self.workers = (
            {
                name: OurProcess(name, network, folder / name, self.places, checkout, self.clocks)
                for name in names
            }
            for names in (WEBS, WORKERS)
        )
        # Which machine wrote which name on its turns.
        self.runners: dict[str, str] = {}

    def _outside(self) -> Program:
        class Outside(Program):
            LISTENS = OUTSIDE_LISTENS

        where = (self.network.address("outside"), str(PORT), str(self.effects))
        command = [sys.executable, "-m", "bench.faults.outside", *where]
        return Outside(
            "outside",
            self.network,
            command,
            folder=self.folder / "outside",
            environment=dict(os.environ),
            cwd=ROOT,
        )

    @property
    def processes(self) -> dict[str, OurProcess]:
        return self.webs | self.workers

    def begin(self) -> None:
        self.postgres.make()
        self.redis.start()
        self.outside.start()
        # The first one makes the tables.
        self.start(self.webs["web-1"])

    def start(self, process: OurProcess) -> None:
        """As a supervisor does, who tries again where it ends at once: its database may be away."""
        for _ in range(TRIES):
            with suppress(NotThere):
                process.start()
                break
            process.gone()
        else:
            raise NotThere(f"{process.machine}: {process.tail()}")
        if not process.is_web:
            self.runners[process.runner] = process.machine

    def heal(self) -> None:
        """All is as it should be."""
        self.network.join_all()
        self.postgres.heal()
        self.redis.thaw()
        if not self.redis.is_there:
            self.redis.start()
        for process in self.processes.values():
            process.thaw()
        gone = [process for process in self.processes.values() if not process.is_there]
        with ThreadPoolExecutor() as together:
            list(together.map(self.start, gone))

    def end(self) -> None:
        self.network.join_all()
        for process in self.processes.values():
            process.kill()
        for each in (self.outside, self.redis):
            each.end()
        self.postgres.empty()
        self.postgres.remove()


@contextmanager
def housing(network: Network, folder: Path, checkout: Path) -> Iterator[House]:
    made = House(network, folder, checkout)
    with ExitStack() as stack:
        stack.callback(made.end)
        os.environ |= {**made.places, "DATA_DIR": str(folder / "bench"), "PGAPPNAME": NOBODY}
        (folder / "bench").mkdir()
        made.begin()
        yield made
