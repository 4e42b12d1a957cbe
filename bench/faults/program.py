"""A program on one of the machines: it dies, freezes, is told to end, and comes back where it was."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from .network import Network

PATIENCE = 60.0


class NotThere(Exception):
    """It ended as it started."""


class Program:
    """`LISTENS`: how the line begins that it prints when it is there, where it prints one. `times`: how often it was started."""

    LISTENS = ""

    def __init__(
        self,
        machine: str,
        network: Network,
        command: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        cwd: Path | None = None,
    ) -> None:
        self.machine, self.address = machine, network.address(machine)
        self.folder, self.times, self.said = folder, 0, ""
        self._command, self._environment, self._cwd = network.command(machine, command), environment, cwd
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(exist_ok=True)

    @property
    def log(self) -> Path:
        return self.folder / "log.txt"

    def start(self) -> None:
        """Returns when it is there."""
        self.begin()
        self.await_start()

    def begin(self) -> None:
        self.times += 1
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._cwd,
                env=self.environment(),
                stdout=subprocess.PIPE if self.LISTENS else log,
                stderr=log,
            )

    def environment(self) -> dict[str, str]:
        return dict(self._environment)

    def await_start(self) -> None:
        if self.LISTENS:
            assert self._process
            assert self._process.stdout
            self.said = self._process.stdout.readline().decode()
            if not self.said.startswith(self.LISTENS):
                raise NotThere(f"{self.machine}: {self.said}{self.tail()}")

    def tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])

    @property
    def is_there(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def send(self, what: signal.Signals) -> None:
        if self.is_there:
            os.kill(self.pid, what)

    def freeze(self) -> None:
        self.send(signal.SIGSTOP)

    def thaw(self) -> None:
        self.send(signal.SIGCONT)

    def kill(self) -> None:
        self.thaw()
        self.send(signal.SIGKILL)
        self.gone()

    def tell_to_end(self) -> None:
        self.send(signal.SIGTERM)

    def gone(self, within: float = PATIENCE) -> int | None:
        """How it ended; None where it did not."""
        if self._process is None:
            return None
        try:
            code = self._process.wait(within)
        except subprocess.TimeoutExpired:
            return None
        if self._process.stdout:
            self._process.stdout.close()
        return code

    def end(self) -> None:
        """Also where it will not."""
        self.thaw()
        self.tell_to_end()
        if self.is_there and self.gone(within=5) is None:
            self.kill()


def until(look: object, within: float = PATIENCE) -> None:
    """Until it says yes."""
    assert callable(look)
    over = time.monotonic() + within
    while not look():
        assert time.monotonic() < over, "It never came."
        time.sleep(0.05)
