"""A PostgreSQL and a Redis of a run's own, each on its machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import redis

from .network import Network
from .program import PATIENCE, Program, until

POSTGRES_PORT, REDIS_PORT = 5432, 6379
NAME = "faults"
# What a disk that can be filled holds.
MEGABYTES = 700
NOBODY = "nobody"
OPTIONS = {
    "listen_addresses": "*",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "max_wal_size": "64MB",
    "min_wal_size": "32MB",
    "log_min_messages": "fatal",
}


def find_postgres() -> Path | None:
    """The folder of its programs, the newest of several."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda file: int(file.parts[-3]))
    here = shutil.which("postgres")
    return found[-1].parent if found else Path(here).parent if here else None


class OwnPostgres(Program):
    """`can_be_full`: whether its disk is one of its own, so that it can be filled."""

    def __init__(self, network: Network, folder: Path) -> None:
        programs = find_postgres()
        assert programs, "PostgreSQL is not installed."
        self._programs, self._disk = programs, folder / "disk"
        self._data = self._disk / "data"
        options = [word for name, value in OPTIONS.items() for word in ("-c", f"{name}={value}")]
        command = [*_unprivileged(), str(programs / "postgres"), "-D", str(self._data), *options]
        super().__init__("postgres", network, command, folder=folder, environment=_plain(), cwd=Path("/"))
        self.url = f"postgres://postgres@{self.address}:{POSTGRES_PORT}/{NAME}"
        self.can_be_full = False

    def make(self) -> None:
        """With a database of no tables."""
        self._disk.mkdir()
        mounted = _try("mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "faults", str(self._disk))
        self.can_be_full = not mounted
        if mounted:
            print(
                f"SKIPPED LOUDLY: a disk that is full, since none can be mounted here: {mounted}", flush=True
            )
        if os.geteuid() == 0:
            shutil.chown(self._disk, "postgres")
            for above in (self.folder, self.folder.parent):
                above.chmod(0o755)
        initdb = str(self._programs / "initdb")
        words = ("-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        made = [*_unprivileged(), initdb, *words, "--wal-segsize=4"]
        subprocess.run(made, check=True, env=_plain(), cwd="/", stdout=subprocess.DEVNULL)
        with (self._data / "pg_hba.conf").open("a") as file:
            file.write("host all all 0.0.0.0/0 trust\n")
        self.start()
        with self.connect("postgres") as admin:
            admin.execute(f"CREATE DATABASE {NAME}")

    def await_start(self) -> None:
        until(self._answers)

    def _answers(self) -> bool:
        with contextlib.suppress(psycopg.Error), self.connect("postgres"):
            return True
        # A disk that was full a moment ago may have ended it once more.
        if not self.is_there:
            self.begin()
        return False

    def connect(self, database: str = NAME) -> psycopg.Connection[Any]:
        address = self.url.rpartition("/")[0] + f"/{database}"
        return psycopg.connect(address, autocommit=True, connect_timeout=3, application_name=NOBODY)

    def cut_connections(self, share: float) -> None:
        """Of those of the house, without a word."""
        whose = "application_name NOT IN ('nobody', '') AND pid <> pg_backend_pid() AND random() < %s"
        with self.connect() as admin:
            admin.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {whose}", [share])

    def fill(self) -> None:
        with contextlib.suppress(OSError), (self._disk / "ballast").open("wb") as file:
            while True:
                file.write(b"\0" * 2**20)

    def empty(self) -> None:
        (self._disk / "ballast").unlink(missing_ok=True)

    def heal(self) -> None:
        self.empty()
        if not self.is_there:
            self.begin()
        self.await_start()

    def remove(self) -> None:
        self.end()
        if self.can_be_full:
            _try("umount", str(self._disk))


class MachineRedis(Program):
    """Nothing is written to a disk, so what is killed has forgotten everything."""

    def __init__(self, network: Network, folder: Path) -> None:
        program = shutil.which("redis-server")
        assert program, "redis-server is not installed."
        words = ("--port", str(REDIS_PORT), "--save", "", "--appendonly", "no", "--protected-mode", "no")
        place = ("--bind", network.address("redis"), "--dir", str(folder))
        super().__init__("redis", network, [program, *place, *words], folder=folder, environment=_plain())
        self.url = f"redis://{self.address}:{REDIS_PORT}/0"

    def await_start(self) -> None:
        until(self._answers)

    def _answers(self) -> bool:
        with contextlib.suppress(redis.exceptions.RedisError), self._asked() as asked:
            return bool(asked.ping())
        return False

    def forget(self) -> None:
        with self._asked() as asked:
            asked.flushall()

    def _asked(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, socket_timeout=PATIENCE)


def _unprivileged() -> Sequence[str]:
    if os.geteuid() != 0:
        return ()
    return ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups")


def _plain() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "LC_ALL": "C"}


def _try(*command: str) -> str:
    """What kept it from being done."""
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return (getattr(error, "stderr", "") or str(error)).strip()
    return ""
