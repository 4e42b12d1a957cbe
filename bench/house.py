"""A server as people use it, in a process of its own: who lives in it, what they have said, and what it takes of the machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.markdown import answer
from bench.memory import held
from bench.provider import Provider
from tests.browser.served import ROOT, Served

TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Place:
    """A conversation, and the session of its owner."""

    session: str
    conversation: str

    @property
    def path(self) -> str:
        return f"c/{self.conversation}/"


@dataclass(frozen=True)
class Use:
    """CPU seconds so far: of the server, and of the processes beside it that render."""

    server: float
    renderers: float

    def __sub__(self, before: Use) -> Use:
        return Use(self.server - before.server, self.renderers - before.renderers)


class House(Served):
    def place(self, turns: int = 1, *, beside: int = 0, **more: Any) -> Place:
        """Somebody new, with a conversation of so many questions, and short ones beside it."""
        name, session = self.person(default_model="openai:gpt-5")
        for _ in range(beside):
            self.clerk("conversation", owner=name, turns=1, title="Another one, with a title of usual length")
        return Place(session, self.clerk("conversation", owner=name, turns=turns, **more))

    def newcomer(self) -> Place:
        """Somebody who has asked nothing yet."""
        _, session = self.person(default_model="openai:gpt-5")
        return Place(session, "")

    def use(self) -> Use:
        return Use(cpu(self.pid), sum(cpu(child) for child in self._children()))

    def memory(self) -> float:
        """The server's own, in MB."""
        return held(self.pid)["RSS"]

    def most_memory(self) -> float:
        """Since `forget_most`."""
        return most_memory(self.pid)

    def forget_most(self) -> None:
        forget_most(self.pid)

    def beside(self) -> float:
        """What the processes hold that render, in MB."""
        return sum(resident(child) for child in self._children())

    def stop(self) -> None:
        """Also where it will not."""
        try:
            super().stop()
        except subprocess.TimeoutExpired:
            self.kill()
            super().stop()
            print("The server did not stop, and was killed.")

    def _children(self) -> list[int]:
        threads = Path(f"/proc/{self.pid}/task").iterdir()
        return [int(pid) for thread in threads for pid in _children_of(thread).split()]


def _children_of(thread: Path) -> str:
    try:
        return (thread / "children").read_text()
    except FileNotFoundError:
        # It has ended meanwhile.
        return ""


def forget_most(process: int) -> None:
    Path(f"/proc/{process}/clear_refs").write_text("5")


def most_memory(process: int) -> float:
    return _status(process, "VmHWM")


def resident(process: int) -> float:
    return _status(process, "VmRSS")


def _status(process: int, name: str) -> float:
    """In MB; 0 where it has ended meanwhile."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except FileNotFoundError:
        return 0.0
    return next((int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(name)), 0.0)


def cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def kilobytes() -> list[str]:
    """What answers say, a kilobyte of Markdown each."""
    text = answer()
    return ["\n\n" + text[at : at + 1000] for at in range(0, len(text), 1000)]


@contextmanager
def house(provider: Provider, checkout: Path = ROOT) -> Iterator[House]:
    """Its data is in a folder that goes away."""
    asks = {"OPENAI_BASE_URL": provider.url, "OPENAI_API_KEY": "sk-bench"}
    with TemporaryDirectory() as folder:
        served = House(Path(folder), checkout=checkout, **asks)
        try:
            served.start()
            yield served
        finally:
            served.stop()
