"""Processes of the product on a PostgreSQL database and a Redis number of their own, each with a folder: as on several machines."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pytest

from tests.support.patience import PATIENCE
from tests.support.readme import settings_in_readme

ROOT = Path(__file__).resolve().parents[2]
SERVER = "postgresql://postgres@127.0.0.1:5432"
REDIS = ("127.0.0.1", 6379, 13)


class Machines:
    def __init__(self, folder: Path, database: str) -> None:
        self._folder = folder
        kept = {name: value for name, value in os.environ.items() if name not in settings_in_readme()}
        self._environment = kept | {
            "DATABASE_URL": f"{SERVER.replace('postgresql', 'postgres')}/{database}",
            "REDIS_URL": "redis://{}:{}/{}".format(*REDIS),
            "SECRET_KEY": "the same for all of them " * 3,
            "LOCAL_MODEL": "0",
            "MODEL_TITLES": "0",
            "DJANGO_SETTINGS_MODULE": "chatapp.settings",
        }
        self._all: list[Machine] = []

    def start(self, what: str, **environment: str) -> Machine:
        """Returns when it is ready."""
        made = Machine(what, self._environment | self._own_folder() | environment)
        self._all.append(made)
        made.until(lambda: made.ready()[0] == 200)
        return made

    def workers(self, number: int) -> list[Machine]:
        """All that are alive: at least so many."""
        while len(alive := [each for each in self._all if each.what == "work" and each.is_alive]) < number:
            self.start("work")
        return alive

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        environment = self._environment | self._own_folder() | environment
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
            check=False,
        )

    def begin(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "manage.py", *words]
        environment = self._environment | self._own_folder()
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)

    def end(self) -> None:
        for each in self._all:
            each.kill()

    def _own_folder(self) -> dict[str, str]:
        folder = self._folder / str(len(list(self._folder.iterdir())))
        folder.mkdir()
        return {"DATA_DIR": str(folder)}


class Machine:
    def __init__(self, what: str, environment: dict[str, str]) -> None:
        self.what, self.port = what, _free_port()
        self._log = Path(environment["DATA_DIR"]) / "log"
        command = [sys.executable, "manage.py", what, "--port", str(self.port)]
        with self._log.open("w") as log:
            self._process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def log(self) -> str:
        return self._log.read_text()

    def get(self, path: str) -> tuple[int, str]:
        """0 where nobody answers."""
        try:
            with urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()
        except (URLError, OSError):
            return 0, ""

    def ready(self) -> tuple[int, dict[str, bool]]:
        status, text = self.get("/health/ready")
        return status, json.loads(text) if text else {}

    def figures(self) -> dict[str, float]:
        lines = [line for line in self.get("/metrics")[1].splitlines() if not line.startswith("#")]
        pairs = (line.removeprefix("thoughtline_").rsplit(" ", 1) for line in lines)
        return {name: float(value) for name, value in pairs}

    @property
    def turns(self) -> float:
        return sum(value for name, value in self.figures().items() if name.startswith("turns_here"))

    def tell_to_end(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def ended(self) -> int:
        return self._process.wait(PATIENCE)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(PATIENCE)

    def until(self, look) -> None:
        until = time.monotonic() + 2 * PATIENCE
        while not look():
            assert self._process.poll() is None, self.log
            assert time.monotonic() < until, self.log
            time.sleep(0.05)


@contextmanager
def machines(folder: Path) -> Iterator[Machines]:
    psycopg, redis = pytest.importorskip("psycopg"), pytest.importorskip("redis")
    name = f"thoughtline_operation_{os.getpid()}"
    host, port, number = REDIS
    try:
        server = psycopg.connect(f"{SERVER}/postgres", connect_timeout=3, autocommit=True)
        cache = redis.Redis(host, port, db=number, socket_connect_timeout=3)
        cache.ping()
    except (psycopg.Error, redis.exceptions.RedisError) as error:
        pytest.skip(f"SKIPPED, since many processes need PostgreSQL and Redis: {str(error).splitlines()[0]}")
    with server:
        server.execute(f"CREATE DATABASE {name}")
        made = Machines(folder, name)
        try:
            yield made
        finally:
            made.end()
            cache.flushdb()
            cache.close()
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])
