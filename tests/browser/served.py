"""A real server on a folder of its own: it can die and come back where it was."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support.patience import PATIENCE
from tests.support.readme import settings_in_readme

ROOT = Path(__file__).resolve().parents[2]
DATABASE = "thoughtline.sqlite3"
LISTENS = "Thoughtline is at "


class Served:
    """`url` ends with a slash. `checkout`: whose code is served."""

    LISTENS = LISTENS

    def __init__(self, folder: Path, *, checkout: Path = ROOT, **environment: str) -> None:
        self.url, self._checkout = "", checkout
        self._environment = _clean() | {"DATA_DIR": str(folder)} | environment
        self.port = _free_port()
        self._log = folder / "server.log"
        self._read = 0
        self._numbers = count(1)
        self._process: subprocess.Popen[str] | None = None
        self._clerk: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Returns when it listens, at the same address each time."""
        with self._log.open("a") as log:
            self._process = self._run(self.command(self.port), stdout=subprocess.PIPE, stderr=log)
        assert self._process.stdout
        first = self._process.stdout.readline()
        assert first.startswith(self.LISTENS), first + self._log.read_text()
        self.url = first.removeprefix(self.LISTENS).strip()

    def command(self, port: int) -> list[str]:
        return [sys.executable, "manage.py", "serve", "--port", str(port)]

    def manage(self, *words: str) -> None:
        command = [sys.executable, "manage.py", *words]
        subprocess.run(command, cwd=self._checkout, env=self._environment, check=True)

    def kill(self) -> None:
        """As the machine's owner would: it has no time to say goodbye."""
        assert self._process
        self._process.kill()
        _reap(self._process)

    def stop(self) -> None:
        for process in (self._process, self._clerk):
            if process:
                process.terminate()
                _reap(process)
        self._clerk = None

    def person(self, name: str = "", **chosen: Any) -> tuple[str, str]:
        """Somebody new, with a name that nobody has, and the key of their session. `chosen`: what they prefer."""
        name = f"{name or 'alice'}-{next(self._numbers)}"
        return name, self.clerk("person", name=name, **chosen)

    def clerk(self, what: str, **arguments: Any) -> Any:
        """What `clerk.py` can do."""
        if self._clerk is None:
            work = "from tests.browser.clerk import serve; serve()"
            command = [sys.executable, "manage.py", "shell", "--no-imports", "--command", work]
            self._clerk = self._run(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._clerk.stdin
        assert self._clerk.stdout
        self._clerk.stdin.write(json.dumps([what, arguments]) + "\n")
        self._clerk.stdin.flush()
        return json.loads(self._clerk.stdout.readline())

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def new_log(self) -> str:
        """What it wrote since this was last asked."""
        with self._log.open() as log:
            log.seek(self._read)
            text = log.read()
            self._read = log.tell()
        return text

    def _run(self, command: list[str], **more: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(command, cwd=self._checkout, env=self._environment, text=True, **more)


def _clean() -> dict[str, str]:
    """What this machine has set for the product must not change what is seen."""
    kept = {name: value for name, value in os.environ.items() if name not in settings_in_readme()}
    return kept | {
        "LOCAL_MODEL": "0",
        "MODEL_TITLES": "0",
        "DJANGO_SETTINGS_MODULE": "chatapp.settings",
    }


def _reap(process: subprocess.Popen[str]) -> None:
    process.wait(PATIENCE)
    for stream in (process.stdin, process.stdout):
        if stream:
            stream.close()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


def with_tables(folder: Path) -> Path:
    """As it is after the first start, which takes seconds."""
    (folder / DATABASE).write_bytes(_tables())
    return folder


@cache
def _tables() -> bytes:
    with TemporaryDirectory() as folder:
        command = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity=0"]
        subprocess.run(command, cwd=ROOT, env=_clean() | {"DATA_DIR": folder}, check=True)
        return (Path(folder) / DATABASE).read_bytes()


@contextmanager
def serving(folder: Path, environment: Mapping[str, str], *, checkout: Path = ROOT) -> Iterator[Served]:
    served = Served(folder, checkout=checkout, **environment)
    try:
        served.start()
        yield served
    finally:
        served.stop()
