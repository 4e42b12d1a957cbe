"""Processes that this one starts. Each leads a group of its own, with which it ends, and gets no environment but what it is given."""

from __future__ import annotations

import atexit
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO

ROOT = Path(__file__).parents[2]
_LEADERS = set[int]()


class Overdue(Exception):
    """It took more than it may, or has ended."""


@atexit.register
def end_all() -> None:
    """Of a process that ends without ending its children first."""
    for pid in _LEADERS:
        tell_group(pid, signal.SIGTERM)


def module(name: str, arguments: Sequence[str] = ()) -> list[str]:
    return [sys.executable, "-m", name, *arguments]


class Helper:
    """One of our own modules, which answers by its pipes. It gets no environment, so no key either."""

    def __init__(self, name: str, *arguments: str) -> None:
        self.process = subprocess.Popen(
            module(name, arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
        note_leader(self.process.pid)

    def send(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self, size: int, *, until: float) -> bytes:
        """By the clock that counts on; else Overdue."""
        assert self.process.stdout
        source = self.process.stdout.fileno()
        ready, parts, left = select.poll(), list[bytes](), size
        ready.register(source, select.POLLIN | select.POLLHUP)
        while left:
            waiting = until - time.monotonic()
            part = os.read(source, min(left, 1 << 20)) if waiting > 0 and ready.poll(waiting * 1000) else b""
            if not part:
                raise Overdue
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def last_answer(self, question: bytes, *, within: float) -> bytes:
        """All that it says until it has ended well; else Overdue."""
        try:
            answer, _ = self.process.communicate(question, timeout=within)
        except subprocess.TimeoutExpired:
            raise Overdue from None
        if self.process.returncode:
            raise Overdue
        return answer

    def end(self) -> None:
        forget_leader(self.process.pid)
        tell_group(self.process.pid, signal.SIGKILL)
        # What it was not sent any more breaks its pipe.
        with suppress(BrokenPipeError), self.process:
            pass


def leave_running(command: Sequence[str], *handles: int, log: IO[bytes]) -> None:
    """It is one of ours, has our environment, and ends when it likes: perhaps after us."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=handles,
        start_new_session=True,
    )
    # Somebody has to take note of its end, or it stays in the table of processes.
    Thread(target=process.wait, daemon=True).start()


def note_leader(pid: int) -> None:
    """It is ended with this process."""
    _LEADERS.add(pid)


def forget_leader(pid: int) -> None:
    _LEADERS.discard(pid)


def tell_group(leader: int, way: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, way)
